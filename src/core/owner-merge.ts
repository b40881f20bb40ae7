import type { OwnerReference } from './object.ts';
import { entryKey, type JournalEntry, type JournalOwner, sameOwner } from './owner-journal.ts';

interface Row {
  readonly reference: OwnerReference;
  /** Set if this place is taken off. */
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
 * The earlier list, with what the later one has besides it in its order. A removed reference that the later entry has
 * again, with other flags or under another UID, is the same place: its later form counts, so it comes back once.
 */
function mergeTwo(earlier: JournalEntry, later: JournalEntry): JournalEntry {
  const rows = [...rowsOf(earlier)];
  const used = new Set<Row>();
  let after = -1;
  for (const row of rowsOf(later)) {
    const at = rows.findIndex((one) => !used.has(one) && same(one, row));
    const found = rows[at];
    // Removed once is removed for good: a later entry that keeps it would lose it.
    const joined: Row = found ? { reference: row.reference, owner: row.owner ?? found.owner } : row;
    const place = found ? at : after + 1;
    rows.splice(place, found ? 1 : 0, joined);
    used.add(joined);
    after = place;
  }
  return entryFrom(later, rows);
}

function same(a: Row, b: Row): boolean {
  if (sameOwner(a.reference, b.reference)) return true;
  if (!a.owner || !b.owner) return false;
  return a.reference.apiVersion === b.reference.apiVersion && a.owner.kind === b.owner.kind && a.owner.name === b.owner.name;
}

function rowsOf(entry: JournalEntry): readonly Row[] {
  const owners = new Map(entry.owners.map((owner) => [owner.place, owner]));
  return entry.references.map((reference, place) => ({ reference, owner: owners.get(place) }));
}

function entryFrom({ object }: JournalEntry, rows: readonly Row[]): JournalEntry {
  const owners = rows.flatMap(({ owner }, place) => (owner ? [{ ...owner, place }] : []));
  return { object, references: rows.map(({ reference }) => reference), removed: owners.map(({ place }) => place), owners };
}
