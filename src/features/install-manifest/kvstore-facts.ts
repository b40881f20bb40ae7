import type { Evidence, Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { K } from '../../kernel/kinds.ts';
import { certificatesOf, endpointsOf, hostPathsOf, type StoreCertificates, type StoreHealth, storeSettings } from '../../kernel/kvstore.ts';
import { type KubeObject, type ObjectRef, refOf, refText } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { attempt } from '../survey/index.ts';
import type { StoreFacts } from './kvstore-checks.ts';
import type { PreviewedObject } from './outcome.ts';
import { targetDocuments } from './target.ts';
import type { Target } from './target-file.ts';

type Values = Readonly<Record<string, string>>;

/** How the agents of the target will reach their key-value store, and whether it answers (§4.5/1). */
export async function readStoreFacts(sources: Sources, { profile }: Context, target: Target): Promise<StoreFacts> {
  const { endpointsKey, tlsKeys, secret, placeholders } = profile.datastore;
  const documents = targetDocuments(target);
  const settings = storeSettings(documents, endpointsKey, tlsKeys);
  const values = secret === undefined ? undefined : await attempt(() => readSecret(sources, secret, settings?.ref.namespace));
  const held = placeholdersOf(documents, placeholders);
  const onHosts = settings === undefined || secret === undefined ? [] : hostPathsOf(settings.paths, documents, secret);
  const isUsable = settings !== undefined && held.length === 0 && onHosts.length === 0;
  const certificates = values && 'value' in values ? certificatesOf(settings?.paths ?? [], values.value) : {};
  return {
    settings,
    secretKeys: values && keysOf(values),
    placeholders: held,
    onHosts,
    health: isUsable ? await askAll(sources, settings.endpoints, certificates) : [],
  };
}

function askAll({ store }: Sources, endpoints: string, certificates: StoreCertificates): Promise<readonly StoreHealth[]> {
  return Promise.all(endpointsOf(endpoints).map((endpoint) => store.ask(endpoint, certificates)));
}

async function readSecret({ cluster }: Sources, name: string, namespace: string | undefined): Promise<Values> {
  const secret = await cluster.get(K.Secret, name, namespace);
  return (secret?.data as Values | undefined) ?? {};
}

function keysOf(values: Reading<Values>): Reading<readonly string[]> {
  if ('unread' in values) return values;
  return { value: Object.keys(values.value).filter((key) => (values.value[key] ?? '') !== '') };
}

function placeholdersOf(documents: readonly KubeObject[], placeholders: readonly string[]): readonly Evidence[] {
  return documents.flatMap((document) => {
    if (document.kind !== 'ConfigMap') return [];
    return Object.entries(document.data ?? {}).flatMap(([key, value]: [string, unknown]) => {
      const found = placeholders.find((one) => typeof value === 'string' && value.includes(one));
      return found === undefined ? [] : [{ text: `${refText(refOf(document))} data.${key}`, object: refOf(document), detail: found }];
    });
  });
}

/** Secrets whose document says less than the cluster has: applied by force, or after client-side apply, the rest would go. */
export function emptiedSecrets(previews: readonly PreviewedObject[]): readonly ObjectRef[] {
  return previews.flatMap(({ document, live }) => {
    if (document.kind !== 'Secret' || !live) return [];
    const wanted = { ...(document.data as Values | undefined), ...(document.stringData as Values | undefined) };
    const lost = Object.keys((live.data as Values | undefined) ?? {}).some((key) => (wanted[key] ?? '') === '');
    return lost ? [refOf(live)] : [];
  });
}
