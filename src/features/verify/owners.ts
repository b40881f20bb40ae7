import type { Context } from '../../kernel/context.ts';
import { eachOf } from '../../kernel/each-of.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import { groupOf, type Kind } from '../../kernel/object.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import { policyName } from '../../kube/stored-metadata.ts';
import { upgradeWaits } from '../install/index.ts';
import { foundByName, lackingOf, ownerKey as nameKey, type OwnerName, readOwners, readRestoreFacts } from '../ownerrefs/index.ts';
import { asksStoredNames, leanPolicy, POLICY_KINDS } from '../policies/index.ts';
import { attempt, type Dependent, resourcesOf } from '../survey/index.ts';
import { type OwnerFacts, type OwnerObjects, ownerKey, type StillOff } from './survey.ts';

/**
 * Owner references to the service's resources, and the present UIDs of those (domain §7.3/5). Only kinds that own something are listed, as
 * metadata; references to an unlisted kind are not evaluated, and it is named.
 */
export async function readOwnerFacts(
  cluster: ClusterReader,
  { profile, options }: Pick<Context, 'profile' | 'options'>,
  datastore: Installation['datastore'] = 'api',
): Promise<OwnerFacts> {
  const { dependents, unread } = await readOwners(cluster, profile);
  if (dependents.length === 0) return { dependents, unread, owners: {} };
  const { kinds } = await cluster.discover();
  const asks = asksStoredNames({ profile, options });
  const keys = [...new Set(dependents.map(({ owner }) => `${groupOf(owner.apiVersion)}/${owner.kind}`))];
  const lists = await eachOf(keys, 4, async (key) => {
    const named = dependents.filter(({ owner }) => `${groupOf(owner.apiVersion)}/${owner.kind}` === key);
    return { key, objects: await attempt(() => readWhole(cluster, { kinds, key, named, profile, datastore, asks })) };
  });
  return {
    dependents,
    owners: Object.fromEntries(lists.flatMap(({ key, objects }) => ('value' in objects && objects.value ? [[key, objects.value]] : []))),
    unread: [
      ...unread,
      ...lists.flatMap(({ key, objects }) => {
        if ('unread' in objects) return [{ kind: key, because: objects.unread }];
        return objects.value ? [] : [{ kind: key, because: 'the server does not serve it' }];
      }),
    ],
  };
}

interface Asked {
  readonly kinds: readonly Kind[];
  /** `GROUP/KIND` of the owners. */
  readonly key: string;
  readonly named: readonly Dependent[];
  readonly profile: Context['profile'];
  readonly datastore: Installation['datastore'];
  /** The API server of this release finds a policy only under the name that it is stored under. */
  readonly asks: boolean;
}

/** Throws where the API omits a stored owner, as its list shows nobody's absence. Key-value leftovers are not read. */
async function readWhole(
  cluster: ClusterReader,
  { kinds, key, named, profile, datastore, asks }: Asked,
): Promise<OwnerObjects | undefined> {
  const objects = await readObjects(cluster, kinds, key);
  const [group, kind = ''] = key.split('/');
  if (!objects || group !== profile.apiGroup || datastore === 'kvstore') return objects;
  const placeOf = ({ object, owner }: Dependent) => ownerKey(objects.namespaced ? object.namespace : undefined, owner.name);
  const places = new Set(named.map(placeOf));
  const missing = [...places].filter((place) => !objects.uids.has(place));
  const isPolicy = POLICY_KINDS.has(kind);
  const [behind] = resourcesOf(kinds, profile.crdGroup, kind);
  if (!behind || (missing.length === 0 && !(isPolicy && asks))) return objects;
  const stored = (await cluster.list(behind, isPolicy ? { keep: leanPolicy } : { metadataOnly: true })).map((one) => ({
    storedName: one.metadata.name,
    namespace: one.metadata.namespace,
    name: isPolicy ? policyName(one, profile) : one.metadata.name,
  }));
  const unshown = stored.find(({ namespace, name }) => missing.includes(ownerKey(namespace, name)));
  if (unshown) throw new Fault('blocked', `it does not show ${unshown.name}, which is stored`, []);
  const doubtful = stored.filter((one) => one.name !== one.storedName && places.has(ownerKey(one.namespace, one.name)));
  if (!asks || doubtful.length === 0) return objects;
  const names = doubtful.map(({ namespace, name }) => ({ group, kind, name, ...(namespace ? { namespace } : {}) }));
  return asFoundByName(cluster, objects, names);
}

/** How the garbage collector finds owners that a list shows under names other than the stored ones (host endpoint notes 0.5). */
async function asFoundByName(cluster: ClusterReader, objects: OwnerObjects, doubtful: readonly OwnerName[]): Promise<OwnerObjects> {
  const found = await foundByName(cluster, doubtful);
  const uids = new Map(objects.uids);
  const mute = new Set<string>();
  for (const one of doubtful) {
    const place = ownerKey(one.namespace, one.name);
    const reading = found.get(nameKey(one));
    if (reading && 'unread' in reading) throw new Fault('blocked', reading.unread, []);
    uids.delete(place);
    if (reading?.value === undefined) mute.add(place);
    else uids.set(place, reading.value);
  }
  return { ...objects, uids, mute };
}

async function readObjects(cluster: ClusterReader, kinds: readonly Kind[], key: string): Promise<OwnerObjects | undefined> {
  const kind = kinds.find((one) => `${one.group}/${one.kind}` === key && !one.plural.includes('/'));
  if (!kind) return undefined;
  const objects = await cluster.list(kind, { metadataOnly: true });
  const uids = new Map(objects.map(({ metadata: { namespace, name, uid = '' } }) => [ownerKey(namespace, name), uid]));
  return { namespaced: kind.namespaced, uids };
}

/** States of a stage that came to its end. */
const ENDED: readonly string[] = ['done', 'skipped'];

/**
 * Objects whose references are recorded as removed and not yet put back (§4.8/3), also in other places. They are looked at even without a
 * record, as a restore with nothing to do writes none.
 */
export async function readStillOff(sources: Sources, context: Context): Promise<StillOff> {
  const { journal: store, records } = sources;
  const [journal, record] = await Promise.all([store.load(), records.load()]);
  const lacking = lackingOf(record, journal, context);
  if (!journal) return { objects: 0, elsewhere: (await store.elsewhere()) ?? null, ...lacking };
  const [strip, restore] = ['ownerrefs-strip', 'ownerrefs-restore'].map((id) => record?.stages.find((one) => one.id === id));
  const isBack = restore?.endedAt !== undefined && ENDED.includes(restore.state) && restore.endedAt >= (strip?.endedAt ?? '');
  if (isBack) return { objects: 0, elsewhere: [], ...lacking };
  const facts = await attempt(() => readRestoreFacts(sources, context, upgradeWaits));
  // What cannot be looked at counts as off.
  if ('unread' in facts) return { objects: journal.entries.length, elsewhere: [], ...lacking };
  const { isLater, waits, outstanding } = facts.value;
  return { objects: isLater || waits.length > 0 ? journal.entries.length : outstanding, elsewhere: [], ...lacking };
}
