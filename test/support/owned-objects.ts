import { setTimeout as wait } from 'node:timers/promises';
import { type Api, ApiError, type ApiObject, unlessGone } from '../control-plane/api.ts';
import { PREFIX } from '../control-plane/service-objects.ts';
import { until } from '../control-plane/until.ts';

/** Service's group, and the namespace and label of everything made here. */
export const GROUP = 'projectcalico.org';
export const SPACE = 'shop';
export const OWNED_LABEL = 'netsvc-upgrade.test/owned';

export interface Reference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** A kind of the service whose objects own others, and how many there are. */
interface OwnerKind {
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly prefix?: string;
  readonly spec?: object;
}

const POLICY = { selector: 'all()', types: ['Ingress'] };
const OWNERS: Readonly<Record<string, OwnerKind>> = {
  set: { kind: 'GlobalNetworkSet', plural: 'globalnetworksets', namespaced: false },
  space: { kind: 'NetworkSet', plural: 'networksets', namespaced: true },
  pool: { kind: 'IPPool', plural: 'ippools', namespaced: false, spec: { cidr: '10.77.0.0/16' } },
  policy: { kind: 'GlobalNetworkPolicy', plural: 'globalnetworkpolicies', namespaced: false, prefix: PREFIX, spec: POLICY },
  rules: { kind: 'NetworkPolicy', plural: 'networkpolicies', namespaced: true, prefix: PREFIX, spec: POLICY },
};

/** ConfigMaps that own as well. */
const KEEPERS = ['keeper', 'other'];

/** Which reference of which owner; `stored`: to the object of the CRD group. `keeper`: a ConfigMap that is nobody's concern. */
type Wanted = readonly [owner: string, flags?: Partial<Reference>, stored?: 'stored'];

interface Shape {
  readonly path: string;
  readonly object: object;
  readonly owners: readonly Wanted[];
}

const spaced = (version: string, plural: string) => `${version}/namespaces/${SPACE}/${plural}`;
const pods = { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'x', image: 'example.test/x' }] } };
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  spec: { replicas: 0, selector: { matchLabels: { app: 'x' } }, template: pods },
};
const configMap = { path: spaced('/api/v1', 'configmaps'), object: { apiVersion: 'v1', kind: 'ConfigMap' } };
const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const TRIED = 'try.netsvc-upgrade.test';

/** Every sort of dependent: the shapes repeat until there are enough. */
const SHAPES: readonly Shape[] = [
  { ...configMap, owners: [['set']] },
  { ...configMap, owners: [['policy', { blockOwnerDeletion: true }]] },
  {
    path: spaced('/api/v1', 'secrets'),
    object: { apiVersion: 'v1', kind: 'Secret' },
    owners: [['space', { controller: true, blockOwnerDeletion: true }]],
  },
  { path: spaced('/apis/apps/v1', 'deployments'), object: deployment, owners: [['pool', { controller: true, blockOwnerDeletion: false }]] },
  {
    path: spaced(`/apis/${TRIED}/v1`, 'gadgets'),
    object: { apiVersion: `${TRIED}/v1`, kind: 'Gadget' },
    owners: [['rules', { controller: false }]],
  },
  { path: `/apis/${TRIED}/v1/widgets`, object: { apiVersion: `${TRIED}/v1`, kind: 'Widget' }, owners: [['policy']] },
  {
    path: ROLES,
    object: { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', rules: [] },
    owners: [['set', { controller: true }]],
  },
  { ...configMap, owners: [['keeper', { blockOwnerDeletion: true }], ['set'], ['other'], ['rules', { controller: true }]] },
  {
    ...configMap,
    owners: [['rules'], ['space', { controller: true, blockOwnerDeletion: true }], ['policy', { blockOwnerDeletion: false }]],
  },
  { ...configMap, owners: [['policy', { controller: true }, 'stored']] },
];

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
    const shape = SHAPES[index % SHAPES.length];
    if (!shape) return;
    const ownerReferences = shape.owners.map((wanted) => referenceTo(owners, wanted));
    const metadata = { name: `owned-${String(index).padStart(5, '0')}`, labels: { [OWNED_LABEL]: 'yes' }, ownerReferences };
    await api.send('POST', shape.path, { ...shape.object, metadata });
  });
}

/** Takes the dependents away, then their owners, under whichever name these are stored: nothing is left to the garbage collector. */
export async function removeOwnedObjects(api: Api): Promise<void> {
  const paths = new Set(SHAPES.map(({ path }) => path));
  await Promise.all([...paths].map((path) => api.send('DELETE', `${path}?labelSelector=${OWNED_LABEL}`)));
  const owners = Object.entries(OWNERS).flatMap(([id, { plural, namespaced, prefix = '' }]) => {
    const place = `/apis/crd.${GROUP}/v1/${namespaced ? `namespaces/${SPACE}/` : ''}${plural}`;
    return [...new Set([prefix, ''])].map((before) => `${place}/${before}owner-${id}`);
  });
  const keepers = KEEPERS.map((name) => `${configMap.path}/${name}`);
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
  await api.follow(`${configMap.path}?labelSelector=${OWNED_LABEL}`, seen, AbortSignal.any([signal, end.signal]));
}

interface Owner {
  readonly served: ApiObject;
  readonly stored: ApiObject;
}

async function makeOwners(api: Api): Promise<ReadonlyMap<string, Owner>> {
  const pairs = Object.entries(OWNERS).map(async ([id, { kind, plural, namespaced, prefix = '', spec = {} }]) => {
    const scope = namespaced ? `namespaces/${SPACE}/` : '';
    const metadata = { name: `${prefix}owner-${id}`, annotations: { [`${GROUP}/metadata`]: '{}' } };
    const stored = await api.send('POST', `/apis/crd.${GROUP}/v1/${scope}${plural}`, {
      apiVersion: `crd.${GROUP}/v1`,
      kind,
      metadata,
      spec,
    });
    return [id, { stored, served: await patient<ApiObject>(api, `/apis/${GROUP}/v3/${scope}${plural}/owner-${id}`) }] as const;
  });
  const keepers = KEEPERS.map(async (name) => {
    const made = await api.send('POST', configMap.path, { ...configMap.object, metadata: { name } });
    return [name, { stored: made, served: made }] as const;
  });
  return new Map(await Promise.all([...pairs, ...keepers]));
}

function referenceTo(owners: ReadonlyMap<string, Owner>, [id, flags = {}, stored]: Wanted): Reference {
  const owner = owners.get(id)?.[stored === undefined ? 'served' : 'stored'];
  if (!owner) throw new Error(`no owner ${id}`);
  const { apiVersion, kind, metadata } = owner as ApiObject & { readonly apiVersion: string; readonly kind: string };
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, ...flags };
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
