import type { JournalEntry, JournalForm } from '../../kernel/journal.ts';
import { isListOf, isRecord, isText, isTextOrAbsent, type JsonMap } from '../../kernel/json.ts';
import type { OwnerReference } from '../../kernel/object.ts';
import { convertUid } from '../../kube/converted-uid.ts';
import { entryKey, type JournalOwner, sameOwner, sameReference, withoutNote } from './journal-entries.ts';

interface Row {
  readonly reference: OwnerReference;
  /** Set if this place is removed. */
  readonly owner: JournalOwner | undefined;
}

/** One entry per object, in the order of their first appearance: a later strip adds to an earlier one and loses nothing. */
export function mergeEntries(entries: readonly JournalEntry[]): readonly JournalEntry[] {
  const merged = new Map<string, JournalEntry>();
  for (const entry of entries) {
    const key = entryKey(entry);
    const earlier = merged.get(key);
    merged.set(key, earlier ? mergeTwo(earlier, entry) : entry);
  }
  return [...merged.values()];
}

/**
 * The earlier list, then what only the later one has. A removed reference that the later entry repeats, with other flags or its owner's new
 * UID, counts once, in its later form.
 */
function mergeTwo(earlier: JournalEntry, later: JournalEntry): JournalEntry {
  const rows = [...rowsOf(earlier)];
  const added = rowsOf(later);
  const known = knownOf(rows, added);
  let after = -1;
  for (const row of added) {
    const found = known.get(row);
    const place = found ? rows.indexOf(found) : after + 1;
    rows.splice(place, found ? 1 : 0, found ? { reference: row.reference, owner: ownerOf(found, row) } : row);
    after = place;
  }
  return entryFrom(later, rows);
}

/** Ways to be the same reference, the surest first: what is surely one of two is not taken for the other. */
const ALIKE: readonly ((a: Row, b: Row) => boolean)[] = [
  (a, b) => sameReference(a.reference, b.reference),
  (a, b) => sameOwner(a.reference, b.reference),
  hasNewUid,
];

/** The earlier row of each later one that has one. */
function knownOf(rows: readonly Row[], added: readonly Row[]): ReadonlyMap<Row, Row> {
  const known = new Map<Row, Row>();
  const taken = new Set<Row>();
  for (const alike of ALIKE)
    for (const row of added) {
      const found = known.has(row) ? undefined : rows.find((one) => !taken.has(one) && alike(one, row));
      if (!found) continue;
      known.set(row, found);
      taken.add(found);
    }
  return known;
}

/**
 * Both were removed, and are one owner before and after an upgrade by their UIDs. A name is no proof: a policy stored twice shares it (host
 * endpoint notes 0.6), and so may one that somebody created.
 */
function hasNewUid({ reference: a, owner: one }: Row, { reference: b, owner: other }: Row): boolean {
  if (!one || !other || a.apiVersion !== b.apiVersion || one.kind !== other.kind || one.name !== other.name) return false;
  return a.uid === convertUid(b.uid) || isBoth(one.backingUid, other.backingUid) || isBoth(one.madeAt, other.madeAt);
}

function isBoth(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && a === b;
}

/**
 * A removed reference stays removed, and its owner is the one found while the UID was alive: later that name may be another object's.
 * Whether it was put back is the later entry's word.
 */
function ownerOf(earlier: Row, later: Row): JournalOwner | undefined {
  if (!earlier.owner || !later.owner) return later.owner ?? earlier.owner;
  const isKnown = earlier.owner.backingUid !== undefined && earlier.reference.uid === later.reference.uid;
  const owner = withoutNote(isKnown ? earlier.owner : later.owner);
  const { restoredUid } = later.owner;
  return restoredUid === undefined ? owner : { ...owner, restoredUid };
}

function rowsOf(entry: JournalEntry): readonly Row[] {
  const owners = new Map(entry.owners.map((owner) => [owner.place, owner]));
  return entry.references.map((reference, place) => ({ reference, owner: owners.get(place) }));
}

function entryFrom({ object }: JournalEntry, rows: readonly Row[]): JournalEntry {
  const owners = rows.flatMap(({ owner }, place) => (owner ? [{ ...owner, place }] : []));
  return { object, references: rows.map(({ reference }) => reference), removed: owners.map(({ place }) => place), owners };
}

/** True if the value is an entry from which a patch can be made: every place names a reference, every reference is whole. */
export function isEntry(value: unknown): value is JournalEntry {
  if (!isRecord(value) || !isRecord(value.object)) return false;
  const { object, references, removed, owners } = value;
  if (
    !hasTexts(object, ['apiVersion', 'kind', 'name', 'uid', 'plural']) ||
    ![object.namespace, object.backingUid, object.madeAt].every(isTextOrAbsent)
  )
    return false;
  if (!isListOf(references, isReference) || !isListOf(owners, isRecord) || !areIntegers(removed)) return false;
  return (
    owners.length === removed.length &&
    removed.every((place, index) => isPlace(place, index, removed, references) && fits(owners[index], place))
  );
}

function isPlace(place: number, index: number, removed: readonly number[], references: readonly unknown[]): boolean {
  return place >= 0 && place < references.length && (index === 0 || place > (removed[index - 1] ?? -1));
}

function fits(owner: JsonMap | undefined, place: number): boolean {
  if (!owner || owner.place !== place) return false;
  return (
    hasTexts(owner, ['group', 'kind', 'name']) && [owner.namespace, owner.backingUid, owner.madeAt, owner.restoredUid].every(isTextOrAbsent)
  );
}

function isReference(value: JsonMap): boolean {
  if (!hasTexts(value, ['apiVersion', 'kind', 'name', 'uid'])) return false;
  return [value.controller, value.blockOwnerDeletion].every((flag) => flag === undefined || typeof flag === 'boolean');
}

function areIntegers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every(Number.isInteger);
}

function hasTexts(value: JsonMap, names: readonly string[]): boolean {
  return names.every((name) => isText(value[name]));
}

/** The journal's entries, as its adapters ask for them. */
export const ownerEntries: JournalForm = { isEntry, merged: mergeEntries };
