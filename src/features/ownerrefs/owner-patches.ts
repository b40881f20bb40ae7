import type { JsonPatchOp, OwnerReference } from '../../kernel/object.ts';
import { type JournalEntry, type LiveReferences, sameOwner, sameReference } from '../../kernel/owner-journal.ts';

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
export interface ReferencePatch {
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
export function testUid(entry: JournalEntry): JsonPatchOp {
  return { op: 'test', path: '/metadata/uid', value: entry.object.uid };
}

export function referenceAt(entry: JournalEntry, place: number): OwnerReference {
  const reference = entry.references[place];
  if (!reference) throw new RangeError(`the entry of ${entry.object.kind}/${entry.object.name} has no reference at place ${place}`);
  return reference;
}

export function allOf(entry: JournalEntry, changed: Changed): readonly PlaceReport[] {
  return reportsOf(entry, () => changed);
}

export function reportsOf(
  entry: JournalEntry,
  judge: (place: number, reference: OwnerReference) => Changed | undefined,
): readonly PlaceReport[] {
  return entry.removed.flatMap((place) => {
    const reference = referenceAt(entry, place);
    const changed = judge(place, reference);
    return changed === undefined ? [] : [{ place, reference, changed }];
  });
}
