/** Version of the journal's layout. A newer one than this program knows is refused, and nothing is written from it. */
export const JOURNAL_VERSION = 1;

/** What was removed from one object. What an entry holds is the feature's that removes it. */
// biome-ignore lint/suspicious/noEmptyInterface: the feature adds to it.
export interface JournalEntry {}

/** All that is asked of entries where nobody knows what they hold. */
export interface JournalForm {
  /** True if the value is an entry that things can be put back from. */
  isEntry(value: unknown): value is JournalEntry;
  /** One entry per object: a later one adds to an earlier one and loses nothing. */
  merged(entries: readonly JournalEntry[]): readonly JournalEntry[];
}

/** Everything that was removed and is not yet known to be back. */
export interface Journal {
  readonly version: typeof JOURNAL_VERSION;
  readonly clusterUid: string;
  readonly profile: string;
  /** Runs that wrote to it, oldest first. */
  readonly runIds: readonly string[];
  /** One per object, merged. */
  readonly entries: readonly JournalEntry[];
  /** Where it was read: `Secret/kube-system/…`. */
  readonly readFrom: string;
  /** sha256 of each part that holds entries, oldest first: parts are added, and never changed. */
  readonly parts: readonly string[];
}

/** The journal of what was removed and has to be put back (§4.8): written before it is removed. */
export interface JournalStore {
  /** Undefined if there is none. Throws Fault('failed') for one that is tampered with, cut short, of another cluster or of a newer layout. */
  load(): Promise<Journal | undefined>;
  /** Durable and read back when it resolves; only then may anything be removed. A failed append leaves nothing in the journal. */
  append(entries: readonly JournalEntry[]): Promise<void>;
  /** Writes all of it, what was never acknowledged too, to a new file (0600, durable), or one with a number. Returns the path. */
  archive(file: string): Promise<string>;
  /** True if parts of a journal lie there that is none any more: a `forget` that was interrupted. */
  leftOver(): Promise<boolean>;
  /** Deletes it, after reading all of it; what cannot be read stays. Archive first. */
  forget(): Promise<void>;
}

/** What a journal holds, noted in the run's record before anything is removed: a journal that holds less has lost something. */
export interface JournalNote {
  readonly objects: number;
  readonly references: number;
  /** `Journal.parts` at that time. */
  readonly parts: readonly string[];
}

/** What the record says of a journal, and how many of its parts are not there. */
export interface Lacking extends JournalNote {
  readonly missing: number;
}

/** Undefined if the journal holds every part that the record names. */
export function lackingIn(note: JournalNote | undefined, journal: Journal | undefined): Lacking | undefined {
  if (note === undefined || note.parts.length === 0) return undefined;
  const there = new Set(journal?.parts);
  const missing = note.parts.filter((part) => !there.has(part)).length;
  return missing === 0 ? undefined : { ...note, missing };
}
