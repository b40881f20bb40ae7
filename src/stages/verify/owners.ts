import type { Dependent } from '../../checks/facts.ts';
import { type OwnerFacts, type OwnerObjects, ownerKey, type StillOff } from '../../checks/verify-facts.ts';
import type { Context } from '../../core/context.ts';
import { Fault } from '../../core/fault.ts';
import type { Installation } from '../../core/installation.ts';
import { groupOf, type Kind } from '../../core/object.ts';
import type { ClusterReader, Sources } from '../../core/ports.ts';
import { policyName } from '../../core/stored-metadata.ts';
import { readOwners } from '../owners/survey.ts';
import { leanPolicy, POLICY_KINDS } from '../owners/world.ts';
import { attempt, eachOf } from '../reading.ts';

/**
 * Owner references to the service's resources, and the UIDs that those have now (domain §7.3/5). Only kinds that own
 * something are listed, metadata alone; a kind that cannot be listed leaves its references unjudged, and is named.
 */
export async function readOwnerFacts(
  cluster: ClusterReader,
  { profile }: Context,
  datastore: Installation['datastore'] = 'api',
): Promise<OwnerFacts> {
  const { dependents, unread } = await readOwners(cluster, profile);
  if (dependents.length === 0) return { dependents, unread, owners: {} };
  const { kinds } = await cluster.discover();
  const keys = [...new Set(dependents.map(({ owner }) => `${groupOf(owner.apiVersion)}/${owner.kind}`))];
  const lists = await eachOf(keys, 4, async (key) => {
    const named = dependents.filter(({ owner }) => `${groupOf(owner.apiVersion)}/${owner.kind}` === key);
    return { key, objects: await attempt(() => readWhole(cluster, { kinds, key, named, profile, datastore })) };
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
}

/**
 * Throws where the API leaves out an owner that is stored: its list tells nothing of who is gone then. With a key-value store what
 * Kubernetes stores of these kinds is left from another time.
 */
async function readWhole(cluster: ClusterReader, { kinds, key, named, profile, datastore }: Asked): Promise<OwnerObjects | undefined> {
  const objects = await readObjects(cluster, kinds, key);
  const [group, kind = ''] = key.split('/');
  if (!objects || group !== profile.apiGroup || datastore === 'kvstore') return objects;
  const placeOf = ({ object, owner }: Dependent) => ownerKey(objects.namespaced ? object.namespace : undefined, owner.name);
  const missing = new Set(named.map(placeOf).filter((place) => !objects.uids.has(place)));
  const behind = kinds.find((one) => one.group === profile.crdGroup && one.kind === kind && !one.plural.includes('/'));
  if (missing.size === 0 || !behind) return objects;
  for (const stored of await cluster.list(behind, { keep: leanPolicy })) {
    const name = POLICY_KINDS.has(kind) ? policyName(stored, profile) : stored.metadata.name;
    if (missing.has(ownerKey(stored.metadata.namespace, name))) throw new Fault('blocked', `it does not show ${name}, which is stored`, []);
  }
  return objects;
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

/** Objects whose references were taken off, unless putting them back has ended since, and where else some are recorded (§4.8/3). */
export async function readStillOff({ ownerJournal, records }: Sources): Promise<StillOff> {
  const [journal, record] = await Promise.all([ownerJournal.load(), records.load()]);
  if (!journal) return { objects: 0, elsewhere: (await ownerJournal.elsewhere()) ?? null };
  const [strip, restore] = ['ownerrefs-strip', 'ownerrefs-restore'].map((id) => record?.stages.find((one) => one.id === id));
  const isBack = restore?.endedAt !== undefined && ENDED.includes(restore.state) && restore.endedAt >= (strip?.endedAt ?? '');
  return { objects: isBack ? 0 : journal.entries.length, elsewhere: [] };
}
