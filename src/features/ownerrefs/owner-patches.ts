import type { JournalEntry } from '../../kernel/journal.ts';
import type { JsonPatchOp, OwnerReference } from '../../kernel/object.ts';
import { type JournalOwner, type LiveReferences, sameOwner, sameReference } from './journal-entries.ts';

export const REFERENCES = '/metadata/ownerReferences';

/** Why a recorded place is not changed. */
export type Changed =
  /** Another object has the name now. */
  | 'other-object'
  /** Strip: the reference is there with other flags than recorded; record it again first. */
  | 'other-flags'
  /** Restore: it is there under the new UID, but with other flags: somebody put it back in their own way. */
  | 'put-back-otherwise'
  /** Restore: the old reference is there (never removed, or put back by a controller). */
  | 'old-one-there'
  /** Restore: another reference is the controller now, and there can be only one. */
  | 'other-controller'
  /** Restore: there is no such owner any more. */
  | 'owner-gone'
  /** Restore: it was put back, and somebody removed it after that. */
  | 'taken-off-since'
  /** Restore: an earlier place names the same owner, under another UID: one of the two was dead before. */
  | 'same-owner-twice';

export interface PlaceReport {
  readonly place: number;
  readonly reference: OwnerReference;
  readonly changed: Changed;
}

/** What to send (nothing if `ops` is empty), and what is not changed. */
interface ReferencePatch {
  readonly ops: readonly JsonPatchOp[];
  readonly changed: readonly PlaceReport[];
}

/**
 * Removes the recorded references: found in the live list, each tested exactly, from the back so that places stay valid. Missing ones need
 * nothing; others than recorded are reported (§4.8/1).
 */
export function stripPatch(entry: JournalEntry, live: LiveReferences): ReferencePatch {
  if (live.uid !== entry.object.uid) return { ops: [], changed: allOf(entry, 'other-object') };
  const exact = assign(entry, live, sameReference);
  const taken = new Set(exact.values());
  const changed = reportsOf(entry, (place, reference) => {
    if (exact.has(place)) return undefined;
    return live.references.some((one, index) => !taken.has(index) && sameOwner(one, reference)) ? 'other-flags' : undefined;
  });
  const places = [...taken].sort((a, b) => b - a);
  if (places.length === 0) return { ops: [], changed };
  const removals = places.flatMap((index): readonly JsonPatchOp[] => [
    { op: 'test', path: `${REFERENCES}/${index}`, value: live.references[index] },
    { op: 'remove', path: `${REFERENCES}/${index}` },
  ]);
  return { ops: [testUid(entry), ...removals], changed };
}

/** Removed places and the live places that hold them: each live one is used once, so duplicates stay duplicates. */
function assign(entry: JournalEntry, live: LiveReferences, same: typeof sameOwner): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  const used = new Set<number>();
  for (const place of entry.removed) {
    const reference = referenceAt(entry, place);
    const index = live.references.findIndex((one, at) => !used.has(at) && same(one, reference));
    if (index < 0) continue;
    used.add(index);
    found.set(place, index);
  }
  return found;
}

/** The very instance is meant (§4.8). */
function testUid(entry: JournalEntry): JsonPatchOp {
  return { op: 'test', path: '/metadata/uid', value: entry.object.uid };
}

function referenceAt(entry: JournalEntry, place: number): OwnerReference {
  const reference = entry.references[place];
  if (!reference) throw new RangeError(`the entry of ${entry.object.kind}/${entry.object.name} has no reference at place ${place}`);
  return reference;
}

function allOf(entry: JournalEntry, changed: Changed): readonly PlaceReport[] {
  return reportsOf(entry, () => changed);
}

function reportsOf(entry: JournalEntry, judge: (place: number, reference: OwnerReference) => Changed | undefined): readonly PlaceReport[] {
  return entry.removed.flatMap((place) => {
    const reference = referenceAt(entry, place);
    const changed = judge(place, reference);
    return changed === undefined ? [] : [{ place, reference, changed }];
  });
}

/** An owner as it is now. */
export interface OwnerNow {
  readonly uid: string;
  /** The name for the reference, where it is not the old one (a stored policy that was renamed). */
  readonly name?: string;
}

/**
 * Puts each recorded reference back with its owner's present UID, after its former predecessor or before the next one still there; the
 * patch fails if the list has changed. References already there need nothing. What somebody changed, or removed after it was put back, is
 * only reported (§4.8/3).
 */
export function restorePatch(
  entry: JournalEntry,
  live: LiveReferences,
  ownerNow: (owner: JournalOwner) => OwnerNow | undefined,
): ReferencePatch {
  if (live.uid !== entry.object.uid) return { ops: [], changed: allOf(entry, 'other-object') };
  const wanted = new Map(
    entry.owners.map((owner) => {
      const now = ownerNow(owner);
      return [owner.place, now && renewed(referenceAt(entry, owner.place), owner, now)];
    }),
  );
  const board = boardOf(entry, live, wanted);
  const since = takenOffSince(entry, wanted, board);
  const ops: JsonPatchOp[] = [];
  const changed = reportsOf(entry, (place) => {
    const reference = wanted.get(place);
    if (!reference) return 'owner-gone';
    if (board.some((slot) => slot.place === place)) return undefined;
    const why =
      obstacle(entry, place, reference, board, new Map([...wanted].filter(([other]) => !since.has(other)))) ??
      (since.has(place) ? 'taken-off-since' : undefined);
    if (why) return why;
    const index = placeFor(place, board);
    board.splice(index, 0, { reference, place });
    ops.push({ op: 'add', path: `${REFERENCES}/${index}`, value: reference });
    return undefined;
  });
  return { ops: ops.length === 0 ? [] : [...preconditions(entry, live), ...ops], changed };
}

/** A live reference, and the recorded place that it stands for. */
interface Slot {
  readonly reference: OwnerReference;
  readonly place: number | undefined;
}

/** The live list with the recorded places in it: removed ones as they are to be, the others as they were. */
function boardOf(entry: JournalEntry, live: LiveReferences, wanted: ReadonlyMap<number, OwnerReference | undefined>): Slot[] {
  const board: Slot[] = live.references.map((reference) => ({ reference, place: undefined }));
  const same = (place: number) => (wanted.has(place) ? sameReference : sameOwner);
  entry.references.forEach((original, place) => {
    const reference = wanted.has(place) ? wanted.get(place) : original;
    if (!reference) return;
    const index = board.findIndex((slot) => slot.place === undefined && same(place)(slot.reference, reference));
    if (index >= 0) board[index] = { reference: board[index]?.reference ?? reference, place };
  });
  return board;
}

/** Places that were back with their owners' UIDs and no longer are, without a strip since: somebody removed them. */
function takenOffSince(
  { owners }: JournalEntry,
  wanted: ReadonlyMap<number, OwnerReference | undefined>,
  board: readonly Slot[],
): ReadonlySet<number> {
  const there = new Set(board.map(({ place }) => place));
  const off = owners.filter(
    ({ place, restoredUid }) => !there.has(place) && restoredUid !== undefined && restoredUid === wanted.get(place)?.uid,
  );
  return new Set(off.map(({ place }) => place));
}

function obstacle(
  entry: JournalEntry,
  place: number,
  reference: OwnerReference,
  board: readonly Slot[],
  wanted: ReadonlyMap<number, OwnerReference | undefined>,
): Changed | undefined {
  const old = referenceAt(entry, place);
  const free = board.filter((slot) => slot.place === undefined).map((slot) => slot.reference);
  if (free.some((one) => sameOwner(one, reference))) return 'put-back-otherwise';
  if (free.some((one) => sameOwner(one, old))) return 'old-one-there';
  const twin = [...wanted].some(
    ([other, one]) => other < place && one !== undefined && sameOwner(one, reference) && referenceAt(entry, other).uid !== old.uid,
  );
  if (twin) return 'same-owner-twice';
  if (reference.controller === true && board.some((slot) => slot.reference.controller === true)) return 'other-controller';
  return undefined;
}

/** Places are filled in order, so the one before is there unless somebody removed it. */
function placeFor(place: number, board: readonly Slot[]): number {
  let before = -1;
  let after = -1;
  board.forEach((slot, index) => {
    if (slot.place === undefined) return;
    if (slot.place < place && (before < 0 || slot.place > (board[before]?.place ?? -1))) before = index;
    if (slot.place > place && (after < 0 || slot.place < (board[after]?.place ?? Number.POSITIVE_INFINITY))) after = index;
  });
  if (before >= 0) return before + 1;
  return after >= 0 ? after : Math.min(place, board.length);
}

/** The list must be unchanged (empty is absent, which equals null). The version is no substitute: it may change all the time. */
function preconditions(entry: JournalEntry, live: LiveReferences): readonly JsonPatchOp[] {
  if (live.references.length > 0) return [testUid(entry), { op: 'test', path: REFERENCES, value: live.references }];
  return [testUid(entry), { op: 'test', path: REFERENCES, value: null }, { op: 'add', path: REFERENCES, value: [] }];
}

/** Of the recorded reference only the flags count: its owner is the one that was found. */
function renewed({ apiVersion, controller, blockOwnerDeletion }: OwnerReference, owner: JournalOwner, now: OwnerNow): OwnerReference {
  return {
    ...{ apiVersion, kind: owner.kind, name: now.name ?? owner.name, uid: now.uid },
    ...(controller === undefined ? {} : { controller }),
    ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
  };
}
