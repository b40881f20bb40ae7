import { isDeepStrictEqual } from 'node:util';
import { textAt } from '../../src/kernel/json.ts';
import type { ManagedFieldsEntry } from '../../src/kernel/object.ts';
import { type Api, type ApiObject, find } from '../control-plane/api.ts';
import { until } from '../control-plane/until.ts';

/** What two runs must agree on: objects by `kind.group namespace/name`, without what no two clusters share. */
export type EndState = Readonly<Record<string, unknown>>;

/** Made by controllers, or by time: they say nothing about the run. */
const FLEETING = new Set([
  ...['events', 'endpoints', 'endpointslices', 'controllerrevisions', 'replicasets', 'nodes', 'componentstatuses', 'ipaddresses'],
  ...['leases', 'pods', 'apiservices', 'flowschemas', 'prioritylevelconfigurations'],
]);
const RECORD = 'netsvc-upgrade-run';
/** What actions and stages keep beside the record: of each run its own. */
const KEPT = /^netsvc-upgrade-run-(kept|log)-\d+$/;
/** They hold the control plane's own certificates and port, and the day on which it started. */
const OF_THE_GROUND = new Set([
  ...['kube-root-ca.crt', 'extension-apiserver-authentication', 'kubernetes'],
  'kube-apiserver-legacy-service-account-token-tracking',
]);

/** Everything of the cluster that a run is answerable for. */
export async function readEndState(api: Api): Promise<EndState> {
  const { groups } = await api.get<{ readonly groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[] }>(
    '/apis',
  );
  const versions = ['/api/v1', ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)];
  const parts = await Promise.all(versions.map((path) => readVersion(api, path)));
  return Object.fromEntries(parts.flat().toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

async function readVersion(api: Api, path: string): Promise<readonly (readonly [string, unknown])[]> {
  const resources = await readResources(api, path);
  const listed = resources.filter(({ name, verbs }) => verbs.includes('list') && !name.includes('/') && !FLEETING.has(name));
  const lists = await Promise.all(
    listed.map(async ({ name }) => {
      const { items } = await api.get<{ items: readonly ApiObject[] }>(`${path}/${name}`);
      return items
        .filter(({ metadata }) => !OF_THE_GROUND.has(metadata.name) && !KEPT.test(metadata.name))
        .map((item) => [`${path}/${name} ${item.metadata.namespace ?? ''}/${item.metadata.name}`, normalised(name, item)] as const);
    }),
  );
  return lists.flat();
}

interface Resource {
  readonly name: string;
  readonly verbs: readonly string[];
}

/** The group of a CRD is listed a moment before the kinds of it are. */
async function readResources(api: Api, path: string): Promise<readonly Resource[]> {
  let found: { readonly resources: readonly Resource[] } | undefined;
  await until(`${path} is served`, async () => {
    found = await find(api, path);
    return found !== undefined;
  });
  return found?.resources ?? [];
}

/** An object without what the server, the clock and other controllers put into it; workloads keep how often they were changed. */
export function normalised(resource: string, object: ApiObject): unknown {
  const { metadata, status: _status, ...rest } = object;
  if (resource === 'secrets' && metadata.name === RECORD) return recordOf(rest.data);
  const { uid: _uid, resourceVersion: _version, creationTimestamp: _created, generation, managedFields, ...told } = metadata;
  const isWorkload = resource === 'daemonsets' || resource === 'deployments';
  return withoutUids({ ...rest, metadata: { ...told, ...(isWorkload ? { generation } : {}), owners: ownersOf(managedFields) } });
}

const CONTROLLERS = /^(kube-|kwok|clusterrole-)/;

function ownersOf(managedFields: unknown): readonly unknown[] {
  return ((managedFields ?? []) as readonly ManagedFieldsEntry[])
    .filter(({ manager = '', subresource }) => subresource === undefined && !CONTROLLERS.test(manager))
    .map(({ manager = '', operation = '', fieldsV1 }) => ({ manager, operation, fieldsV1 }))
    .toSorted((one, other) => (one.manager + one.operation < other.manager + other.operation ? -1 : 1));
}

/** The record's promise: what was there before, where it went, that it has ended. When, how often and through which stages is each run's own. */
function recordOf(data: unknown): unknown {
  const text = Buffer.from(textAt(data, 'record.json') ?? '', 'base64').toString();
  const { profile, target, source, path, variant, digests, outcome, finishedAt } = JSON.parse(text || '{}');
  return { profile, target, source, path, variant, digests, outcome, finished: finishedAt !== undefined };
}

function withoutUids(object: object): unknown {
  return JSON.parse(JSON.stringify(object, (key, value) => (/^(uid|clusterIPs?)$/.test(key) ? undefined : value)));
}

/** What differs, one line each; empty when two end states agree. */
export function differences(wanted: unknown, found: unknown, at = ''): readonly string[] {
  if (isDeepStrictEqual(wanted, found)) return [];
  if (!isTree(wanted) || !isTree(found)) return [`${at}: ${brief(wanted)} in the clean run, ${brief(found)} in this one`];
  const keys = [...new Set([...Object.keys(wanted), ...Object.keys(found)])].toSorted();
  return keys.flatMap((key) => differences(wanted[key], found[key], `${at}/${key}`));
}

const isTree = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null;
const brief = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 300);
