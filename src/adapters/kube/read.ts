import type { JsonPatchOp, Kind, KubeObject, ObjectRef } from '../../kernel/object.ts';
import { ApiFailure, type ClusterReader, type ServerVersion } from '../../kernel/ports.ts';
import { uptimeMs } from '../clock.ts';
import { reviewAccess } from './access.ts';
import { discoverAll, resolverOf } from './discovery.ts';
import { collectionPath, listAll, objectPath, withQuery } from './items.ts';
import { listOwned } from './owned.ts';
import type { Transport } from './transport.ts';
import { watchAll } from './watch.ts';

export interface ReaderSettings {
  /** Objects per page of a list. */
  readonly limit: number;
  /** Namespace of documents that name none. */
  readonly namespace: string;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

const APPLY = 'application/apply-patch+yaml';
export const JSON_PATCH = 'application/json-patch+json';
const STRICT = { fieldValidation: 'Strict' };

/** The reading half of a cluster. Its dry runs carry `dryRun=All`, so every request may be repeated. */
export function readerOf(transport: Transport, settings: ReaderSettings): ClusterReader {
  const pathOf = (kind: Kind, name: string, namespace: string | undefined) =>
    objectPath(kind, name, kind.namespaced ? (namespace ?? settings.namespace) : undefined);
  return {
    version: () => transport.json<ServerVersion>({ path: '/version' }),
    clockSkewMs: () => skewOf(transport),
    discover: () => discoverAll(transport),
    resolve: resolverOf(transport),
    get: (kind, name, namespace) => getObject(transport, pathOf(kind, name, namespace)),
    list: async (kind, options = {}) => {
      const { ownedBy } = options;
      if (ownedBy) return listOwned(transport, kind, { ...options, ownedBy }, { limit: settings.limit, now: uptimeMs });
      return (await listAll(transport, kind, options, settings.limit)).items;
    },
    watch: (kind, options) => watchAll(transport, kind, options, settings),
    dryRunApply: (kind, document, fieldManager) =>
      transport.json<KubeObject>({
        method: 'PATCH',
        path: withQuery(pathOf(kind, document.metadata.name, document.metadata.namespace), {
          dryRun: 'All',
          fieldManager,
          force: true,
          ...STRICT,
        }),
        body: document,
        contentType: APPLY,
        repeatable: true,
      }),
    dryRunPatch: (kind: Kind, ref: ObjectRef, patch: readonly JsonPatchOp[], fieldManager: string) =>
      transport.json<KubeObject>({
        method: 'PATCH',
        path: withQuery(pathOf(kind, ref.name, ref.namespace), { dryRun: 'All', fieldManager, ...STRICT }),
        body: patch,
        contentType: JSON_PATCH,
        repeatable: true,
      }),
    dryRunCreate: (kind, document) =>
      transport.json<KubeObject>({
        method: 'POST',
        path: withQuery(collectionPath(kind, document.metadata.namespace ?? settings.namespace), { dryRun: 'All', ...STRICT }),
        body: document,
        repeatable: true,
      }),
    reviewAccess: (requests) => reviewAccess(transport, requests),
    raw: (path) => transport.text({ path, accept: '*/*' }),
  };
}

async function getObject(transport: Transport, path: string): Promise<KubeObject | undefined> {
  try {
    return await transport.json<KubeObject>({ path });
  } catch (thrown) {
    if (thrown instanceof ApiFailure && thrown.status === 404) return undefined;
    throw thrown;
  }
}

/** An answer this recent and this quick shows the time as well as a new one. */
const FRESH_MS = 5000;
const QUICK_MS = 500;

async function skewOf(transport: Transport): Promise<number> {
  const known = transport.skew;
  if (known && uptimeMs() - known.at < FRESH_MS && known.tookMs < QUICK_MS) return known.ms;
  await transport.text({ path: '/version' });
  if (transport.skew === undefined) throw new ApiFailure(200, 'NoDate', 'the server sends no Date header');
  return transport.skew.ms;
}
