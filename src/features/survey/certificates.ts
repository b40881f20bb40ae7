import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { jsonAt } from '../../kernel/json-map.ts';
import { K } from '../../kernel/kinds.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import { readCertificate } from '../../kube/certificate.ts';
import type { SecretCertificate } from './facts.ts';
import { crosses } from './source-release-checks.ts';

/** Certificates that the operator keeps. Of each Secret the certificate alone is decoded; nothing else of it is kept. */
export async function readCertificates(
  cluster: Pick<ClusterReader, 'get'>,
  { profile, options }: Context,
  { hasApiServer, release }: Installation,
): Promise<readonly SecretCertificate[]> {
  const names = profile.operator.crossings?.certificates;
  if (!names) return [];
  const { namespace, keys } = names;
  // Where the address of the API server stays, nothing depends on its certificate.
  const isMoved = hasApiServer && crosses(release, options.release, names.api.since);
  const secrets = [...names.secrets, ...(isMoved ? [names.api.secret] : [])];
  const found = await Promise.all(
    secrets.map(async (secret) => {
      const data = jsonAt(await cluster.get(K.Secret, secret, namespace), 'data');
      const encoded = keys.map((key) => jsonAt(data, key)).find((value) => typeof value === 'string');
      const certificate = typeof encoded === 'string' ? readCertificate(decoded(encoded)) : undefined;
      return certificate ? [{ namespace, secret, ...certificate }] : [];
    }),
  );
  return found.flat();
}

function decoded(encoded: string): string {
  try {
    return atob(encoded);
  } catch {
    return '';
  }
}
