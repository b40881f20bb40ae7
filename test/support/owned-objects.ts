import { setTimeout as wait } from 'node:timers/promises';
import type { OwnerReference } from '../../src/kernel/object.ts';
import { type Api, ApiError, type ApiObject, unlessGone } from '../control-plane/api.ts';
import { PREFIX } from '../control-plane/service-objects.ts';
import { until } from '../control-plane/until.ts';

/** Service's group, and the namespace and label of everything made here. */
export const GROUP = 'projectcalico.org';
export const V3 = `${GROUP}/v3`;
export const SPACE = 'shop';
export const OWNED_LABEL = 'netsvc-upgrade.test/owned';

/** A kind whose objects own others or are owned. */
interface OwnedKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Of its objects. */
  readonly fields?: object;
}

function ofService(kind: string, spec: object = {}, prefix = '') {
  return { apiVersion: `crd.${GROUP}/v1`, kind, namespaced: !/^Global|Pool$/.test(kind), fields: { spec }, prefix };
}
const POLICY = { selector: 'all()', types: ['Ingress'] };
/** The kinds of the service whose objects own others. */
export const OWNERS = {
  set: ofService('GlobalNetworkSet'),
  space: ofService('NetworkSet'),
  pool: ofService('IPPool', { cidr: '10.77.0.0/16' }),
  policy: ofService('GlobalNetworkPolicy', POLICY, PREFIX),
  rules: ofService('NetworkPolicy', POLICY, PREFIX),
};

/** ConfigMaps that own as well. */
const KEEPERS = ['keeper', 'other'];

const TRIED = 'try.netsvc-upgrade.test';
const RBAC = 'rbac.authorization.k8s.io/v1';
const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'x', image: 'example.test/x' }] } };
const deployed = { spec: { replicas: 0, selector: { matchLabels: { app: 'x' } }, template } };
const configMaps: OwnedKind = { apiVersion: 'v1', kind: 'ConfigMap', namespaced: true };
const secrets: OwnedKind = { apiVersion: 'v1', kind: 'Secret', namespaced: true };
const deployments: OwnedKind = { apiVersion: 'apps/v1', kind: 'Deployment', namespaced: true, fields: deployed };
const roles: OwnedKind = { apiVersion: RBAC, kind: 'ClusterRole', namespaced: false, fields: { rules: [] } };
const gadgets: OwnedKind = { apiVersion: `${TRIED}/v1`, kind: 'Gadget', namespaced: true };
const widgets: OwnedKind = { apiVersion: `${TRIED}/v1`, kind: 'Widget', namespaced: false };

/** Which reference of which owner; `stored`: to the object of the CRD group. `keeper`: a ConfigMap that is nobody's concern. */
type Wanted = readonly [owner: string, flags?: Partial<OwnerReference>, stored?: 'stored'];

/** Every sort of dependent: the shapes repeat until there are enough. */
const SHAPES: readonly (readonly [OwnedKind, ...Wanted[]])[] = [
  [configMaps, ['set']],
  [configMaps, ['policy', { blockOwnerDeletion: true }]],
  [secrets, ['space', { controller: true, blockOwnerDeletion: true }]],
  [deployments, ['pool', { controller: true, blockOwnerDeletion: false }]],
  [gadgets, ['rules', { controller: false }]],
  [widgets, ['policy']],
  [roles, ['set', { controller: true }]],
  [configMaps, ['keeper', { blockOwnerDeletion: true }], ['set'], ['other'], ['rules', { controller: true }]],
  [configMaps, ['rules'], ['space', { controller: true, blockOwnerDeletion: true }], ['policy', { blockOwnerDeletion: false }]],
  [configMaps, ['policy', { controller: true }, 'stored']],
];

/** Where objects of the kind are, in the group in which they are stored unless said. */
export function pathOf({ apiVersion, kind, namespaced }: OwnedKind, group = apiVersion): string {
  const plural = `${kind.toLowerCase()}s`.replace(/ys$/, 'ies');
  return `/${group === 'v1' ? 'api' : 'apis'}/${group}/${namespaced ? `namespaces/${SPACE}/` : ''}${plural}`;
}

export function referenceTo(owner: ApiObject, flags: Partial<OwnerReference> = {}): OwnerReference {
  const { apiVersion, kind, metadata } = owner as ApiObject & Pick<OwnerReference, 'apiVersion' | 'kind'>;
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, ...flags };
}

const make = (api: Api, one: OwnedKind, metadata: object): Promise<ApiObject> =>
  api.send('POST', pathOf(one), { apiVersion: one.apiVersion, kind: one.kind, ...one.fields, metadata });

/** Makes owners and so many dependents of them, with references as the API serves the owners now. */
export async function makeOwnedObjects(api: Api, count: number): Promise<void> {
  await api.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SPACE } });
  await Promise.all([makeCrd(api, 'Gadget', 'Namespaced'), makeCrd(api, 'Widget', 'Cluster')]);
  await fillOwnedObjects(api, count);
}

/** Makes owners and dependents where the namespace and the kinds are there. */
export async function fillOwnedObjects(api: Api, count: number): Promise<void> {
  const owners = await makeOwners(api);
  const made = Array.from({ length: count }, (_, index) => index);
  await each(made, async (index) => {
    const [kind, ...wanted] = SHAPES[index % SHAPES.length] ?? [configMaps];
    const ownerReferences = wanted.map(([id, flags, stored]) => {
      const owner = owners.get(id)?.[stored ?? 'served'];
      if (!owner) throw new Error(`no owner ${id}`);
      return referenceTo(owner, flags);
    });
    const name = `owned-${String(index).padStart(5, '0')}`;
    await make(api, kind, { name, labels: { [OWNED_LABEL]: 'yes' }, ownerReferences });
  });
}

/** Takes the dependents away, then their owners, under whichever name these are stored: nothing is left to the garbage collector. */
export async function removeOwnedObjects(api: Api): Promise<void> {
  const paths = new Set(SHAPES.map(([kind]) => pathOf(kind)));
  await Promise.all([...paths].map((path) => api.send('DELETE', `${path}?labelSelector=${OWNED_LABEL}`)));
  const owners = Object.entries(OWNERS).flatMap(([id, kind]) => ['', kind.prefix].map((before) => `${pathOf(kind)}/${before}owner-${id}`));
  const keepers = KEEPERS.map((name) => `${pathOf(configMaps)}/${name}`);
  await Promise.all([...owners, ...keepers].map((path) => api.send('DELETE', path).catch(unlessGone)));
}

/** Resolves once so many of the owned ConfigMaps have changed since it was asked, or with the signal. */
export async function patchesStored(api: Api, count: number, signal: AbortSignal): Promise<void> {
  const first = new Map<string, string>();
  const changed = new Set<string>();
  const end = new AbortController();
  const seen = ({ metadata: { name, resourceVersion } }: ApiObject) => {
    if (first.has(name) && first.get(name) !== resourceVersion) changed.add(name);
    else first.set(name, resourceVersion);
    if (changed.size >= count) end.abort();
  };
  await api.follow(`${pathOf(configMaps)}?labelSelector=${OWNED_LABEL}`, seen, AbortSignal.any([signal, end.signal]));
}

type Owner = Readonly<Record<'served' | 'stored', ApiObject>>;

async function makeOwners(api: Api): Promise<ReadonlyMap<string, Owner>> {
  const pairs = Object.entries(OWNERS).map(async ([id, kind]) => {
    const annotations = { [`${GROUP}/metadata`]: '{}' };
    const stored = await make(api, kind, { name: `${kind.prefix}owner-${id}`, annotations });
    return [id, { stored, served: await patient<ApiObject>(api, `${pathOf(kind, V3)}/owner-${id}`) }] as const;
  });
  const keepers = KEEPERS.map(async (name) => {
    const made = await make(api, configMaps, { name });
    return [name, { stored: made, served: made }] as const;
  });
  return new Map(await Promise.all([...pairs, ...keepers]));
}

async function makeCrd(api: Api, kind: string, scope: 'Namespaced' | 'Cluster'): Promise<void> {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  await api.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${TRIED}` },
    spec: { group: TRIED, scope, names: { kind, plural }, versions: [{ name: 'v1', served: true, storage: true, schema }] },
  });
  const path = `/apis/${TRIED}/v1/${plural}`;
  await until(`${path} is served`, async () => (await api.get(path)) !== undefined);
}

const WIDTH = 20;

async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: WIDTH }, worker));
}

/**
 * What an API server behind the first one answers, which a busy machine may keep waiting longer than the first one does (503), and kinds
 * whose definition has just been changed (429, "storage is (re)initializing").
 */
export async function patient<T>(api: Api, path: string): Promise<T> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await api.get<T>(path);
    } catch (thrown) {
      if (!(thrown instanceof ApiError) || (thrown.status !== 503 && thrown.status !== 429) || attempt === PATIENCE) throw thrown;
      await wait(1_000);
    }
}
/** The first server looks every half minute whether the one behind it answers again. */
const PATIENCE = 40;
