import assert from 'node:assert/strict';
import { journalStore } from '../../src/adapters/journal/journal.ts';
import { openCluster } from '../../src/adapters/kube/cluster.ts';
import { readConnection } from '../../src/adapters/kubeconfig/kubeconfig.ts';
import { sameReference } from '../../src/features/ownerrefs/journal-entries.ts';
import { ownerEntries } from '../../src/features/ownerrefs/journal-form.ts';
import type { JournalStore } from '../../src/kernel/journal.ts';
import type { OwnerReference } from '../../src/kernel/object.ts';
import type { Api, ApiObject } from '../control-plane/api.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { isPolicy, NEW_SERVER, OLD_SERVER, type ServerRule, servedName, servedObject } from '../control-plane/service-objects.ts';
import { collectorStartsAnew } from './collector-settles.ts';
import { GROUP, makeOwnedObjects, OWNED_LABEL, patient } from './owned-objects.ts';
import { journalIn } from './state.ts';

/** Every owned object of a cluster by `path namespace/name uid`, with its references in order. */
export type OwnerGraph = Readonly<Record<string, readonly OwnerReference[]>>;

interface Discovery {
  readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[];
}
interface Groups {
  readonly groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[];
}

/** So many dependents of every sort on a cluster of an older release; resolves when the garbage collector has looked at everything. */
export async function ownedGraphs(plane: ControlPlane, count: number) {
  const { api } = plane;
  await makeOwnedObjects(api, count);
  await collectorStartsAnew(plane);
  const first = await readOwnerGraph(api);
  const owners = await readOwnerNames(api, OLD_SERVER);
  return {
    /** Every dependent with its references, before anything was done. */
    first,
    graph: () => readOwnerGraph(api),
    /** What `first` must have become, with the owners' present names and UIDs. */
    wanted: async () => graphAfter(first, owners, await readOwnerNames(api, NEW_SERVER)),
  };
}

/** The graph without references of some sort. */
export function graphWithout(graph: OwnerGraph, isGone: (one: OwnerReference) => boolean): OwnerGraph {
  return Object.fromEntries(Object.entries(graph).map(([key, references]) => [key, references.filter((one) => !isGone(one))]));
}

/** What the cluster has now, of every kind that can be listed: read without the program's own search. */
export async function readOwnerGraph(api: Api): Promise<OwnerGraph> {
  const { groups } = await api.get<Groups>('/apis');
  const versions = ['/api/v1', ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)];
  const kinds = await Promise.all(versions.map((path) => kindsOf(api, path)));
  return readKinds(api, kinds.flat());
}

/** The same of the kinds alone that had owned objects: nobody gives the tests' label to another, and a sweep reads this thousands of times. */
export async function readOwnerGraphAsOf(api: Api, earlier: OwnerGraph): Promise<OwnerGraph> {
  return readKinds(api, [...new Set(Object.keys(earlier).map((key) => key.split(' ')[0] ?? ''))]);
}

async function readKinds(api: Api, paths: readonly string[]): Promise<OwnerGraph> {
  const lists = await Promise.all(
    paths.map(async (path) => {
      const { items } = await patient<{ items: readonly ApiObject[] }>(api, `${path}?labelSelector=${OWNED_LABEL}`);
      return items.map(({ metadata }) => [keyOf(path, metadata), (metadata.ownerReferences ?? []) as readonly OwnerReference[]] as const);
    }),
  );
  return Object.fromEntries(lists.flat().toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

async function kindsOf(api: Api, path: string): Promise<readonly string[]> {
  const { resources } = await patient<Discovery>(api, path);
  return resources.flatMap(({ name, verbs }) => (verbs.includes('list') && !name.includes('/') ? [`${path}/${name}`] : []));
}

const keyOf = (path: string, { namespace, name, uid }: ApiObject['metadata']) => `${path} ${namespace ?? ''}/${name} ${uid}`;

/** Whom a UID names, before an upgrade and after it. */
export type OwnerNames = ReadonlyMap<string, { readonly owner: string; readonly name: string }>;

/** The service's objects as both of its groups name them: the stored ones, and those that its API server shows by this rule. */
export async function readOwnerNames(api: Api, rule: ServerRule): Promise<OwnerNames> {
  const { resources } = await api.get<Discovery>(`/apis/crd.${GROUP}/v1`);
  const plurals = resources.map(({ name }) => name).filter((name) => !name.includes('/'));
  const lists = await Promise.all(
    plurals.map(async (plural) => {
      const { items } = await api.get<{ items: readonly ApiObject[] }>(`/apis/crd.${GROUP}/v1/${plural}`);
      return items.flatMap((stored) => namesOf(stored, plural, rule));
    }),
  );
  return new Map(lists.flat());
}

/** Under the older releases an object has one UID in both groups: the group is part of the key. */
function namesOf(stored: ApiObject, plural: string, rule: ServerRule): readonly [string, { owner: string; name: string }][] {
  const served = servedObject(stored, GROUP, plural, rule);
  const owner = `${plural} ${stored.metadata.namespace ?? ''}/${isPolicy(plural) ? servedName(stored, GROUP, plural) : stored.metadata.name}`;
  return [
    [`crd.${GROUP} ${stored.metadata.uid}`, { owner, name: stored.metadata.name }],
    [`${GROUP} ${served.metadata.uid}`, { owner, name: served.metadata.name }],
  ];
}

/** The graph as it must be after an upgrade: every object still the same one, every reference at its place, with flags, and with the owner's new UID and name. */
export function graphAfter(graph: OwnerGraph, before: OwnerNames, after: OwnerNames): OwnerGraph {
  const now = new Map(
    [...after].map(([key, { owner, name }]) => [`${key.split(' ')[0]} ${owner}`, { uid: key.split(' ')[1] ?? '', name }]),
  );
  const renewed = (reference: OwnerReference): OwnerReference => {
    const group = reference.apiVersion.split('/')[0] ?? '';
    if (group !== GROUP && group !== `crd.${GROUP}`) return reference;
    const known = before.get(`${group} ${reference.uid}`);
    const next = known && now.get(`${group} ${known.owner}`);
    if (!next) throw new Error(`nobody has ${group} ${reference.uid}, the UID of ${reference.name}`);
    return { ...reference, ...next };
  };
  return Object.fromEntries(Object.entries(graph).map(([key, references]) => [key, references.map(renewed)]));
}

/** The journal in a cluster, read and written past the program, as somebody else where that is said. */
export async function withJournal<T>(
  { api, kubeconfigPath: kubeconfig }: ControlPlane,
  act: (journal: JournalStore) => Promise<T>,
  flags: { readonly as?: string } = {},
): Promise<T> {
  const cluster = openCluster(await readConnection({ kubeconfig, ...flags }, process.env), { version: 'test' });
  try {
    const clusterUid = (await api.get<ApiObject>('/api/v1/namespaces/kube-system')).metadata.uid;
    const place = journalIn(cluster);
    return await act(journalStore({ place, form: async () => ownerEntries, clusterUid, profile: 'calico', runId: 'past-the-program' }));
  } finally {
    await cluster.close();
  }
}

/**
 * At no moment does an object lack a reference that no stored record holds. The record is read before the objects: what is stored later
 * does not count for what was gone already. A reference is there as it was in `first`, or as it goes back: at the same place of `anew`.
 * Resolves to how many objects lack some.
 */
export async function assertRecorded(plane: ControlPlane, first: OwnerGraph, where: string, anew: OwnerGraph = first): Promise<number> {
  const { entries = [] } = (await withJournal(plane, (journal) => journal.load())) ?? {};
  const recorded = new Map<string, readonly OwnerReference[]>(entries.map(({ object, references }) => [object.uid, references]));
  const present = await readOwnerGraphAsOf(plane.api, first);
  let lacking = 0;
  for (const [key, references] of Object.entries(first)) {
    const kept = present[key];
    assert.ok(kept, `${where}: ${key} is gone`);
    const isThere = (one: OwnerReference | undefined) => one !== undefined && kept.some((other) => sameReference(one, other));
    const missing = references.filter((one, index) => !isThere(one) && !isThere(anew[key]?.[index]));
    const held = recorded.get(key.split(' ').at(-1) ?? '') ?? [];
    for (const one of missing)
      assert.ok(
        held.some((other) => sameReference(one, other)),
        `${where}: no record of ${one.name} of ${key}`,
      );
    if (missing.length > 0) lacking += 1;
  }
  return lacking;
}
