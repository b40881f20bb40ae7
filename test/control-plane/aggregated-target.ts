import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { isPolicy, PREFIX, type ServerRule } from './service-objects.ts';

/** Asks the control plane that stores the objects. */
export type Ask = (method: string, path: string, signal?: AbortSignal, body?: object) => Promise<IncomingMessage>;

/**
 * What a path of the v3 API is about, and where that is stored: asked of a newer server, a policy with its old stored name. Undefined for a path that
 * is not of the group's objects.
 */
export function parseTarget(path: string, group: string, { prefixesPolicies }: ServerRule): Target | undefined {
  const parts = path.startsWith(`/apis/${group}/v3/`) ? path.slice(`/apis/${group}/v3/`.length).split('/') : [];
  const scope = parts[0] === 'namespaces' && parts.length > 2 ? `namespaces/${parts[1]}/` : '';
  const [plural, name, ...rest] = scope === '' ? parts : parts.slice(2);
  if (plural === undefined || rest.length > 0) return undefined;
  const stored = name !== undefined && isPolicy(plural) && prefixesPolicies ? `${PREFIX}${name}` : name;
  return { plural, stored: `/apis/crd.${group}/v1/${scope}${plural}${stored === undefined ? '' : `/${stored}`}` };
}

export interface Target {
  readonly plural: string;
  readonly stored: string;
}

interface Resource {
  readonly name: string;
  readonly kind: string;
}

/** Everything of the stored group that the service's own API has as well: not its address bookkeeping. */
export async function discovery({ group, ask }: { readonly group: string; readonly ask: Ask }): Promise<object> {
  const backing = await ask('GET', `/apis/crd.${group}/v1`);
  const list = JSON.parse(await text(backing)) as { readonly resources?: readonly Resource[] };
  // A server that knows its kinds by itself would not say that it has none.
  if (backing.statusCode !== 200 || !list.resources) throw new Error(`crd.${group} cannot be asked: ${backing.statusCode}`);
  const resources = list.resources.filter(({ name }) => !name.includes('/') && !name.startsWith('ipam'));
  const verbs = ['delete', 'get', 'list', 'watch', 'create', 'update', 'patch'];
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: `${group}/v3`,
    resources: resources.map((one) => ({ ...one, verbs, shortNames: undefined, categories: undefined, storageVersionHash: undefined })),
  };
}
