import type { Reading } from '../../kernel/check.ts';
import { groupOf } from '../../kernel/object.ts';
import type { JournalEntry, JournalOwner } from '../../kernel/owner-journal.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { attempt, eachOf } from '../survey/index.ts';
import type { OwnerReferences } from './owner-facts.ts';
import { type OwnerWorld, ownerPlace, type ReferenceFate } from './owner-fate.ts';
import type { UnreadKind } from './undiscovered.ts';

type Asked = Pick<ClusterReader, 'discover' | 'get'>;
export type OwnerName = Pick<JournalOwner, 'group' | 'kind' | 'namespace' | 'name'>;

export function ownerKey({ group, kind, namespace = '', name }: OwnerName): string {
  return `${group}|${kind}|${namespace}|${name}`;
}

/**
 * Owners that a list shows and that no question by their name finds: policies that are stored under their old names while the
 * new API server serves. The garbage collector asks by name, so it would take them for gone (§4.8/3; host endpoint notes 0.5). After the
 * upgrade (`isAfter`) also stored policies that are found now, and whose renaming is held: a reference to one waits for the new name.
 */
export async function muteOwners(
  cluster: Asked,
  entries: readonly JournalEntry[],
  world: OwnerWorld,
  isAfter = false,
): Promise<ReadonlySet<string>> {
  const doubtful = entries.flatMap(({ owners }) => owners.filter((owner) => isDoubtful(owner, world)));
  const found = await foundByName(cluster, doubtful);
  const mute = doubtful.filter((owner) => {
    const reading = found.get(ownerKey(owner));
    const served = world.kinds[owner.kind]?.served?.get(ownerPlace(owner.namespace, owner.name));
    return !reading || 'unread' in reading || reading.value !== served;
  });
  const held = isAfter ? entries.flatMap(({ owners }) => owners.filter((owner) => isHeld(owner, world))) : [];
  return new Set([...mute, ...held].map(ownerKey));
}

/** A stored policy that waits for its new name: whoever names it dies within milliseconds of getting that (domain §7.2b). */
function isHeld({ group, kind, namespace, name }: JournalOwner, { crdGroup, kinds }: OwnerWorld): boolean {
  return group === crdGroup && kinds[kind]?.stored?.get(ownerPlace(namespace, name))?.renamePending === true;
}

function isDoubtful({ group, kind, namespace, name }: JournalOwner, { apiGroup, kinds }: OwnerWorld): boolean {
  const stored = kinds[kind]?.stored?.get(ownerPlace(namespace, name));
  return group === apiGroup && stored !== undefined && stored.storedName !== name;
}

/** The same of what objects name now, outside the journal; a kind whose owners do not answer counts as unread. */
export async function withMute(
  cluster: Asked,
  references: OwnerReferences,
  { apiGroup }: Pick<Profile, 'apiGroup'>,
): Promise<OwnerReferences> {
  const nameOf = ({ reference: { apiVersion, kind }, owner }: ReferenceFate): OwnerName => ({ group: groupOf(apiVersion), kind, ...owner });
  const isAsked = (one: ReferenceFate) => mayBeMute(one) && groupOf(one.reference.apiVersion) === apiGroup;
  const asked = references.objects.flatMap(({ fates }) => fates.filter(isAsked).map(nameOf));
  if (asked.length === 0) return references;
  const found = await foundByName(cluster, asked);
  const judged = (one: ReferenceFate): ReferenceFate => {
    const reading = isAsked(one) ? found.get(ownerKey(nameOf(one))) : undefined;
    return reading && 'value' in reading && reading.value !== one.reference.uid ? { ...one, isMute: true } : one;
  };
  const unread = asked.flatMap((one): readonly UnreadKind[] => {
    const reading = found.get(ownerKey(one));
    return reading && 'unread' in reading ? [{ kind: `${one.kind}.${one.group}`, because: reading.unread }] : [];
  });
  const objects = references.objects.map(({ owned, fates }) => ({ owned, fates: fates.map(judged) }));
  return { ...references, objects, unread: [...references.unread, ...unread] };
}

/** Lives by the list, and is stored under another name, which it may keep for a while or for good. */
function mayBeMute({ fate, reference, servedUid }: ReferenceFate): boolean {
  return (fate === 'unaddressed' || fate === 're-created') && reference.uid === servedUid;
}

/** The UID under which the API finds each owner by its name, as the garbage collector asks, by `ownerKey`; undefined where it finds none. */
export async function foundByName(cluster: Asked, owners: readonly OwnerName[]): Promise<ReadonlyMap<string, Reading<string | undefined>>> {
  const asked = new Map(owners.map((one) => [ownerKey(one), one]));
  if (asked.size === 0) return new Map();
  const { kinds } = await cluster.discover();
  return new Map(
    await eachOf([...asked], 8, async ([key, { group, kind, namespace, name }]) => {
      const resource = kinds.find((one) => one.group === group && one.kind === kind && !one.plural.includes('/'));
      const reading: Reading<string | undefined> = resource
        ? await attempt(async () => (await cluster.get(resource, name, namespace))?.metadata.uid)
        : { unread: 'the server does not serve it' };
      return [key, reading] as const;
    }),
  );
}
