import type { Stripped } from './owner-journal.ts';

/** Tells how far an action on many objects is. */
export type Report = (done: number, of: number, what: string, why?: string) => void;

/** What came of an action. */
export interface Performed {
  /** A few words for the report. */
  readonly detail?: string | undefined;
  /** sha256 of what was fetched for it, by file name. */
  readonly digests?: Readonly<Record<string, string>>;
  /** What the journal of owner references holds now. */
  readonly stripped?: Stripped;
  /** What did not come to its end and is left as it is, within what the person tolerates: object → why. */
  readonly left?: Readonly<Record<string, string>>;
}
