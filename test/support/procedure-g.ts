import type { OpenCluster } from '../../src/adapters/cluster.ts';
import { groupOf, type Kind, type KubeObject } from '../../src/core/object.ts';
import { entryOf, type JournalEntry, type JournalOwner, kindOf, type LiveReferences } from '../../src/core/owner-journal.ts';
import { stripPatch } from '../../src/core/owner-patches.ts';
import { type OwnerNow, restorePatch } from '../../src/core/owner-restore.ts';
import { ApiFailure, type OwnerJournalStore } from '../../src/core/ports.ts';
import type { Profile } from '../../src/core/profile.ts';
import { policyName } from '../../src/core/stored-metadata.ts';

/** Takes every reference to the service off with the program's own parts: search, journal, patches. Returns how many objects had one. */
export async function stripByParts(cluster: OpenCluster, journal: OwnerJournalStore, profile: Profile): Promise<number> {
  const { kinds } = await cluster.discover();
  const renamed = await pendingNames(cluster, kinds, profile);
  const entries: JournalEntry[] = [];
  for (const kind of kinds.filter(({ plural }) => !plural.includes('/') && plural !== 'events')) {
    const owned = await cluster.list(kind, { metadataOnly: true, ownedBy: [profile.apiGroup, profile.crdGroup] }).catch(noList);
    for (const object of owned) entries.push(...entriesOf(object, kind, profile, renamed));
  }
  await journal.append(entries);
  await eachEntry(cluster, entries, (entry, live) => stripPatch(entry, live).ops);
  return entries.length;
}

/** Puts back what the journal holds, with the owners' present UIDs. */
export async function restoreByParts(cluster: OpenCluster, journal: OwnerJournalStore, profile: Profile): Promise<number> {
  const { entries = [] } = (await journal.load()) ?? {};
  const { kinds } = await cluster.discover();
  const now = new Map<string, OwnerNow>();
  for (const owner of entries.flatMap(({ owners }) => owners)) {
    const kind = kinds.find((one) => one.group === owner.group && one.kind === owner.kind && !one.plural.includes('/'));
    // A stored policy keeps its old name where the migration is held, or never comes.
    const names = owner.group === profile.crdGroup ? [owner.name, `${profile.policyRenaming?.prefix ?? ''}${owner.name}`] : [owner.name];
    const found = kind && (await firstFound(names, (name) => cluster.get(kind, name, owner.namespace)));
    if (found) now.set(ownerKey(owner), { uid: found.metadata.uid ?? '', name: found.metadata.name });
  }
  await eachEntry(cluster, entries, (entry, live) => restorePatch(entry, live, (owner) => now.get(ownerKey(owner))).ops);
  return entries.length;
}

/** The server has the kind, but no list of it. */
function noList(thrown: unknown): readonly KubeObject[] {
  if (thrown instanceof ApiFailure && [404, 405, 406].includes(thrown.status)) return [];
  throw thrown;
}

async function firstFound(
  names: readonly string[],
  get: (name: string) => Promise<KubeObject | undefined>,
): Promise<KubeObject | undefined> {
  for (const name of names) {
    const found = await get(name);
    if (found) return found;
  }
  return undefined;
}

const ownerKey = ({ group, kind, namespace = '', name }: JournalOwner): string => `${group}|${kind}|${namespace}|${name}`;

/** Stored policies that will be stored under another name, by UID, with that name. */
async function pendingNames(cluster: OpenCluster, kinds: readonly Kind[], profile: Profile): Promise<ReadonlyMap<string, string>> {
  const policies = kinds.filter(({ group, kind }) => group === profile.crdGroup && kind.endsWith('NetworkPolicy'));
  const lists = await Promise.all(policies.filter(({ plural }) => !plural.includes('/')).map((kind) => cluster.list(kind)));
  const pairs = lists.flat().map((policy) => [policy, policyName(policy, profile)] as const);
  return new Map(pairs.filter(([{ metadata }, name]) => metadata.name !== name).map(([{ metadata }, name]) => [metadata.uid ?? '', name]));
}

function entriesOf(object: KubeObject, kind: Kind, { apiGroup, crdGroup }: Profile, renamed: ReadonlyMap<string, string>): JournalEntry[] {
  const { name, namespace, uid = '', ownerReferences = [] } = object.metadata;
  const places = ownerReferences.flatMap((one, place) => {
    const group = groupOf(one.apiVersion);
    const stored = group === crdGroup ? renamed.get(one.uid) : undefined;
    if (group !== apiGroup && stored === undefined) return [];
    const isSpaced = ['NetworkSet', 'NetworkPolicy'].includes(one.kind);
    return [[place, { name: stored ?? one.name, ...(isSpaced && namespace !== undefined ? { namespace } : {}) }] as const];
  });
  if (places.length === 0) return [];
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  const target = { apiVersion, kind: kind.kind, name, uid, plural: kind.plural, ...(namespace === undefined ? {} : { namespace }) };
  return [entryOf(target, ownerReferences, new Map(places))];
}

async function eachEntry(
  cluster: OpenCluster,
  entries: readonly JournalEntry[],
  patchOf: (entry: JournalEntry, live: LiveReferences) => ReturnType<typeof stripPatch>['ops'],
): Promise<void> {
  for (const entry of entries) {
    const kind = kindOf(entry);
    const live = await cluster.get(kind, entry.object.name, entry.object.namespace);
    if (!live) throw new Error(`${entry.object.kind}/${entry.object.name} is gone`);
    const { uid = '', resourceVersion = '', ownerReferences: references = [] } = live.metadata;
    const ops = patchOf(entry, { uid, resourceVersion, references });
    if (ops.length > 0) await cluster.patch(kind, entry.object, ops, 'kubectl');
  }
}
