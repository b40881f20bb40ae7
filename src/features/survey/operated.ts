import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { allOf } from '../../kernel/each-of.ts';
import { type Detection, type Installation, isOperated } from '../../kernel/installation.ts';
import { jsonAt, textAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import { apiVersionOf, type KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import { crosses } from '../../kernel/release.ts';
import { readCertificate } from '../../kube/certificate.ts';
import type { ApiEndpoint, OperatedFacts, SecretCertificate } from './facts.ts';
import { valuesAt } from './field-test.ts';
import { attempt, attemptWith, listServed } from './reading.ts';
import { settingsRead } from './refusals.ts';
import { installationIn } from './verdicts.ts';

const POLICIES = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy' } as const;

/** What the crossings of an operator's installation are evaluated by; undefined on other paths, and where no names are known. */
export async function readOperated(
  cluster: Pick<ClusterReader, 'list' | 'get' | 'resolve'>,
  context: Context,
  detection: Reading<Detection>,
): Promise<OperatedFacts | undefined> {
  const { profile } = context;
  const { crossings, end, installationKind } = profile.operator;
  const found = installationIn(detection);
  if (!crossings || !found || !isOperated(found)) return undefined;
  const all = (kind: string) => listServed(cluster, `${profile.operatorGroup}/v1`, kind);
  const wanted = [...new Set((end?.statuses ?? []).flatMap(({ kind, needs }) => [kind, needs?.kind].filter((one) => one !== undefined)))];
  const [installations, gateways] = await Promise.all([
    attempt(() => all(installationKind.kind)),
    attempt(() => all(crossings.gateway.kind)),
  ]);
  return allOf({
    installation: attemptWith(installations, async (some) => settingsRead(some, crossings.pools.field)),
    dataPlane: attemptWith(installations, async (some) => settingsRead(some, crossings.dataPlane.field)),
    imageSets: attempt(() => all(crossings.imageSet.kind)),
    reaching: attempt(() => readReaching(cluster, context, found)),
    apiEndpoints: attempt(() => readApiEndpoints(cluster, context, found)),
    certificates: attempt(() => readCertificates(cluster, context, found)),
    podSubnets: attemptWith(installations, async (some) =>
      some.some((one) => jsonAt(one.spec, ...crossings.pools.field) !== undefined) ? readPodSubnets(cluster) : undefined,
    ),
    gateways,
    gatewayPolicy: attemptWith(gateways, async ({ length }) => (length > 0 ? policyNamed(cluster, crossings.gateway.policy) : undefined)),
    gatewayDefinitions: attemptWith(gateways, async ({ length }) =>
      length > 0 ? definitionsOf(cluster, crossings.gateway.definitions.group) : [],
    ),
    components: attempt(async () => {
      const found = await Promise.all(wanted.map(async (kind) => (await all(kind)).map((one) => ({ ...one, kind }))));
      return found.flat();
    }),
    statuses: attempt(() => all(end?.statusKind ?? '')),
  });
}

/** `podSubnet` in the configuration of kubeadm; undefined where it created no cluster. */
async function readPodSubnets(cluster: Pick<ClusterReader, 'get'>): Promise<readonly string[] | undefined> {
  const config = await cluster.get(K.ConfigMap, 'kubeadm-config', 'kube-system');
  return config && podSubnetsIn(textAt(config, 'data', 'ClusterConfiguration') ?? '');
}

/** As the operator reads it: without YAML, so that quotes are part of it (`extractKubeadmCIDRs`). */
export function podSubnetsIn(text: string): readonly string[] {
  return /podSubnet: (.*)/.exec(text)?.[1]?.split(',') ?? [];
}

async function definitionsOf(cluster: Pick<ClusterReader, 'list'>, group: string): Promise<readonly KubeObject[]> {
  const all = await cluster.list(K.CustomResourceDefinition, { metadataOnly: true });
  return all
    .filter(({ metadata }) => metadata.name.endsWith(`.${group}`))
    .map((one) => ({ ...one, apiVersion: apiVersionOf(K.CustomResourceDefinition), kind: K.CustomResourceDefinition.kind }));
}

async function policyNamed(cluster: Pick<ClusterReader, 'get' | 'resolve'>, name: string): Promise<KubeObject | undefined> {
  const kind = await cluster.resolve(POLICIES.apiVersion, POLICIES.kind);
  const found = kind && (await cluster.get(kind, name));
  return found && { ...found, ...POLICIES };
}

/** Objects that lead to pods in the operator's pod namespace; read only if the target begins to guard it, served kinds only. */
export async function readReaching(
  cluster: Pick<ClusterReader, 'list' | 'resolve'>,
  { profile, goal }: Context,
  { release }: Installation,
): Promise<readonly KubeObject[]> {
  const guarded = profile.operator.crossings?.guarded;
  if (!guarded || !crosses(release, goal.release, guarded.since)) return [];
  const found = await Promise.all(
    guarded.reachedBy.map(async ({ apiVersion, kind }) => {
      const served = await cluster.resolve(apiVersion, kind);
      const all = served ? await cluster.list(served) : [];
      return all.map((one) => ({ ...one, apiVersion, kind })).filter((one) => reaches(one, guarded.namespace));
    }),
  );
  return found.flat();
}

/** Where a connection to Service default/kubernetes ends; empty if the target does not begin to guard the pods that ask it. */
async function readApiEndpoints(
  cluster: Pick<ClusterReader, 'get'>,
  { profile, goal }: Context,
  { hasApiServer, release }: Installation,
): Promise<readonly ApiEndpoint[]> {
  const guarded = profile.operator.crossings?.guarded;
  // Without the v3 API the operator makes no policies.
  if (!guarded || !hasApiServer || !crosses(release, goal.release, guarded.since)) return [];
  const slice = await cluster.get(K.EndpointSlice, 'kubernetes', 'default');
  const hosts = valuesAt(slice, ['endpoints', 'addresses']).map(String);
  const ports = valuesAt(slice, ['ports', 'port']).map(Number);
  return hosts.flatMap((host) => ports.map((port) => ({ host, port })));
}

function reaches(object: KubeObject, namespace: string): boolean {
  if (object.kind === 'Service')
    return object.metadata.namespace === namespace && ['LoadBalancer', 'NodePort'].includes(String(jsonAt(object.spec, 'type')));
  const selected = jsonAt(object.spec, 'namespaceSelector', 'matchNames');
  return object.metadata.namespace === namespace || (Array.isArray(selected) && selected.includes(namespace));
}

/** Certificates that the operator keeps. Of each Secret the certificate alone is decoded; nothing else of it is kept. */
export async function readCertificates(
  cluster: Pick<ClusterReader, 'get'>,
  { profile, goal }: Context,
  { hasApiServer, release }: Installation,
): Promise<readonly SecretCertificate[]> {
  const names = profile.operator.crossings?.certificates;
  if (!names) return [];
  const { namespace, keys } = names;
  // Where the address of the API server stays, nothing depends on its certificate.
  const isMoved = hasApiServer && crosses(release, goal.release, names.api.since);
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
