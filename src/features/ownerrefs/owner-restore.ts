import type { JsonPatchOp, OwnerReference } from '../../kernel/object.ts';
import { type JournalEntry, type JournalOwner, type LiveReferences, sameOwner, sameReference } from '../../kernel/owner-journal.ts';
import { allOf, type Changed, REFERENCES, type ReferencePatch, referenceAt, reportsOf, testUid } from './owner-patches.ts';

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
