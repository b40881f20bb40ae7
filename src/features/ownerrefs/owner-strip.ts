import type { GuardedPatch } from '../../kernel/action.ts';
import type { JournalEntry } from '../../kernel/journal.ts';
import type { OwnerReference } from '../../kernel/object.ts';
import { entryKey, entryOf, type JournalOwner, type OwnerKnown, sameOwner, sameReference, withoutNote } from './journal-entries.ts';
import type { OwnedFate, OwnedObject, ReferenceFate } from './owner-fate.ts';
import { REFERENCES, stripPatch } from './owner-patches.ts';

/** Entries that have to be stored before the patches may be sent. */
export interface StripPlan {
  readonly entries: readonly JournalEntry[];
  readonly patches: readonly GuardedPatch[];
}

/** Which references of an object go. */
export type Chosen = (fate: ReferenceFate, owned: OwnedObject) => boolean;

/** What to record and what to send; entries that the journal has already are not recorded twice (§4.8/1). */
export function stripPlan(objects: readonly OwnedFate[], chosen: Chosen, recorded: readonly JournalEntry[]): StripPlan {
  const known = byKey(recorded);
  const plans = objects.flatMap(({ owned, fates }) => {
    const stored = known.get(entryKey(owned));
    const places = new Map(fates.filter((fate) => chosen(fate, owned)).map((fate) => [fate.place, ownerOf(fate, stored)]));
    if (places.size === 0) return [];
    const entry = entryOf(owned.object, owned.references, places);
    const { uid } = owned.object;
    const { ops } = stripPatch(entry, { uid, references: owned.references });
    return [{ entry, patch: { target: owned.object, patch: ops, uid } }];
  });
  return {
    entries: plans.map(({ entry }) => entry).filter((entry) => !isRecorded(entry, known.get(entryKey(entry)))),
    patches: plans.map(({ patch }) => patch),
  };
}

/**
 * If a dangling reference came back, its owner's name may be another object's now, so what was recorded while it lived is kept. The note
 * that it was put back is dropped, as it is removed again.
 */
function ownerOf({ owner, reference, removal }: ReferenceFate, stored: JournalEntry | undefined): OwnerKnown {
  const recorded = removal ? undefined : recordedOwner(stored, reference);
  return recorded ? withoutNote(recorded) : owner;
}

/** True for a removed reference that somebody put back, whatever its flags: a controller sets its own, with the recorded UID (§4.8/1). */
export function cameBack({ object }: OwnedObject, reference: OwnerReference, recorded: ReadonlyMap<string, JournalEntry>): boolean {
  return recordedOwner(recorded.get(entryKey({ object })), reference) !== undefined;
}

/** It names an owner under a UID that this one does not have now; where the owner could not be read, nobody knows. */
export function isDead({ isUnread, reference, servedUid }: ReferenceFate): boolean {
  return !isUnread && reference.uid !== servedUid;
}

/** What the rule says, and what came back with a dangling UID. Other dangling ones stay: nothing could replace them. */
export function comesOff(fate: ReferenceFate, owned: OwnedObject, recorded: ReadonlyMap<string, JournalEntry>): boolean {
  return fate.removal !== undefined || (isDead(fate) && cameBack(owned, fate.reference, recorded));
}

/** Whom a recorded reference named when it was removed; undefined if this one was not. */
function recordedOwner(entry: JournalEntry | undefined, reference: OwnerReference): JournalOwner | undefined {
  return entry?.owners.find(({ place }) => {
    const one = entry.references[place];
    return one !== undefined && sameOwner(one, reference);
  });
}

/**
 * True if the other entry removes every reference of this one in the same form. One noted as put back does not count: removed again without
 * a record, it would look like the user's removal.
 */
export function isRecorded(entry: JournalEntry, stored: JournalEntry | undefined): boolean {
  if (!stored || stored.object.uid !== entry.object.uid) return false;
  return entry.removed.every((place, index) => {
    const reference = entry.references[place];
    const restoredUid = entry.owners[index]?.restoredUid;
    return reference !== undefined && holds(stored, reference, (owner) => owner?.restoredUid === restoredUid);
  });
}

type IsMeant = (owner: JournalOwner | undefined) => boolean;

function holds({ references, removed, owners }: JournalEntry, reference: OwnerReference, isMeant: IsMeant): boolean {
  return removed.some((place, index) => {
    const one = references[place];
    return one !== undefined && sameReference(one, reference) && isMeant(owners[index]);
  });
}

export function byKey(entries: readonly JournalEntry[]): ReadonlyMap<string, JournalEntry> {
  return new Map(entries.map((entry) => [entryKey(entry), entry]));
}

/**
 * Patches that do more than remove recorded references from this object and must not be sent, checked on the patches themselves. Each
 * removal must directly follow its test, as it moves the places behind it.
 */
export function unrecorded(patches: readonly GuardedPatch[], stored: readonly JournalEntry[]): readonly GuardedPatch[] {
  const byUid = Map.groupBy(stored, ({ object }) => object.uid);
  return patches.filter(({ patch, uid }) =>
    patch.some(({ op, path }, index) => {
      if (op === 'test') return false;
      const before = patch[index - 1];
      const tested = before?.op === 'test' && before.path === path ? before.value : undefined;
      if (op !== 'remove' || tested === undefined || !path.startsWith(`${REFERENCES}/`)) return true;
      return !(byUid.get(uid) ?? []).some((entry) => holds(entry, tested as OwnerReference, (owner) => owner?.restoredUid === undefined));
    }),
  );
}
