import type { Journal, JournalEntry, JournalNote } from '../../kernel/journal.ts';
import { groupOf, type Kind, type ObjectRef, type OwnerReference } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';

/** The very instance that a reference was removed from, with what a URL needs. */
export interface JournalObject extends ObjectRef {
  /** In the view of `apiVersion`: of an object of the v3 API the UID that this API shows, which an upgrade may change. */
  readonly uid: string;
  readonly plural: string;
  /** Of an object of the v3 API that is stored as a custom resource: that one's UID, which stays. */
  readonly backingUid?: string;
  /** Of such an object: when it was made. A policy's copy under a new name is known by it. */
  readonly madeAt?: string;
}

/** Whom a removed reference names. */
export interface JournalOwner {
  /** Index in the entry's `references`. */
  readonly place: number;
  readonly group: string;
  readonly kind: string;
  readonly namespace?: string;
  /** The name in the v3 API: a stored policy's without its tier prefix. */
  readonly name: string;
  /** UID of the custom resource behind it, before the upgrade. */
  readonly backingUid?: string;
  /** When a policy was made: what its copy under a new name is known by. */
  readonly madeAt?: string;
  /** The UID under which the reference is back; whoever removes it again manually means it. A strip records it again, without this. */
  readonly restoredUid?: string;
}

declare module '../../kernel/journal.ts' {
  /** What one object had before references were removed, and which. */
  interface JournalEntry {
    readonly object: JournalObject;
    /** The full list as it was, in order; after merging, with everything that was ever seen on it. */
    readonly references: readonly OwnerReference[];
    /** Places in `references` that are removed, ascending. */
    readonly removed: readonly number[];
    /** One for each removed place, in the same order. */
    readonly owners: readonly JournalOwner[];
  }
}

export function strippedIn({ entries, parts }: Pick<Journal, 'entries' | 'parts'>): JournalNote {
  return { objects: entries.length, references: entries.reduce((sum, { removed }) => sum + removed.length, 0), parts };
}

/** The live object, as far as references are concerned. */
export interface LiveReferences {
  readonly uid: string;
  readonly references: readonly OwnerReference[];
  /** UIDs of owners that the object's manifest names. */
  readonly appliedOwners?: readonly string[];
}

/** What a stage knows of an owner when it makes an entry. */
export type OwnerKnown = Omit<JournalOwner, 'place' | 'group' | 'kind'>;

/** The entry of an object whose references at `places` go. Throws RangeError for a place that is not in the list. */
export function entryOf(
  object: JournalObject,
  references: readonly OwnerReference[],
  places: ReadonlyMap<number, OwnerKnown>,
): JournalEntry {
  const removed = [...places.keys()].sort((a, b) => a - b);
  const owners = removed.map((place): JournalOwner => {
    const reference = references[place];
    const known = places.get(place);
    if (!reference || !known) throw new RangeError(`the object has no owner reference at place ${place}`);
    return { ...known, place, group: groupOf(reference.apiVersion), kind: reference.kind };
  });
  return { object, references, removed, owners };
}

/** The part of a profile that says whose resources an owner can be. */
type OwnGroups = Pick<Profile, 'apiGroup' | 'crdGroup'>;

/**
 * The first removed reference that does not match its recorded owner in kind, name or scope, or that names nothing of the service. Only the
 * owner is compared by UID, so it would be put back unchecked; no strip writes one (§4.8/3).
 */
export function strayReference(entries: readonly JournalEntry[], groups: OwnGroups) {
  for (const { object, references, owners } of entries)
    for (const owner of owners) {
      const reference = references[owner.place];
      if (reference && !namesOwner(object, reference, owner, groups)) return { object, reference, owner };
    }
  return undefined;
}

/** A namespaced owner is one of the object's own namespace. The name of a stored policy is read again, and may have a prefix here. */
function namesOwner(
  { namespace: home }: JournalObject,
  { apiVersion, kind, name }: OwnerReference,
  owner: JournalOwner,
  { apiGroup, crdGroup }: OwnGroups,
): boolean {
  const group = groupOf(apiVersion);
  if (group !== owner.group || kind !== owner.kind || (owner.namespace !== undefined && owner.namespace !== home)) return false;
  return group === crdGroup || (group === apiGroup && name === owner.name);
}

/** Identity of the instance, in its view: a new object under an old name is another. */
export function entryKey({ object }: Pick<JournalEntry, 'object'>): string {
  const { apiVersion, kind, namespace = '', name, uid, backingUid = uid } = object;
  return `${groupOf(apiVersion)}|${kind}|${namespace}|${name}|${backingUid}`;
}

/** The resource of an entry's object, at the version that it was listed in. */
export function kindOf({ object }: Pick<JournalEntry, 'object'>): Kind {
  const group = groupOf(object.apiVersion);
  const version = object.apiVersion.slice(object.apiVersion.indexOf('/') + 1);
  return { group, version, kind: object.kind, plural: object.plural, namespaced: object.namespace !== undefined };
}

/** The entry with the places that are back under these UIDs noted as such; undefined if that is noted already. */
export function notedBack(entry: JournalEntry, uids: ReadonlyMap<number, string>): JournalEntry | undefined {
  const isNews = ({ place, restoredUid }: JournalOwner) => uids.has(place) && uids.get(place) !== restoredUid;
  if (!entry.owners.some(isNews)) return undefined;
  const noted = (owner: JournalOwner): JournalOwner => ({ ...owner, restoredUid: uids.get(owner.place) ?? '' });
  return { ...entry, owners: entry.owners.map((owner) => (isNews(owner) ? noted(owner) : owner)) };
}

/** The owner of a reference that is off, whatever was noted before. */
export function withoutNote({ restoredUid: _, ...owner }: JournalOwner): JournalOwner {
  return owner;
}

/** True if both name the same owner under the same UID; flags may differ. */
export function sameOwner(a: OwnerReference, b: OwnerReference): boolean {
  return a.uid === b.uid && a.kind === b.kind && a.name === b.name && a.apiVersion === b.apiVersion;
}

/** True if both are the same in every field; an absent flag is not `false`. */
export function sameReference(a: OwnerReference, b: OwnerReference): boolean {
  return sameOwner(a, b) && a.controller === b.controller && a.blockOwnerDeletion === b.blockOwnerDeletion;
}
