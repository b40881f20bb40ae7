import type { Options } from './context.ts';
import type { RunToolOptions } from './ports.ts';
import type { RolloutProgress } from './rollout.ts';
import type { RecordNotes } from './run-record.ts';

/** Tells how far an action on many objects is. */
export type Report = (done: number, of: number, what: string, why?: string) => void;

/** Told each line that a program writes. */
export type OnLine = NonNullable<RunToolOptions['onLine']>;

/** What an effect has around it while it is performed: when to end, whom to tell, and what the run has continued without. */
export interface Around {
  /** Ends waits at the first Ctrl-C, or when the lock is lost. */
  readonly stop: AbortSignal;
  /** Ends programs: only when nothing more may be written. */
  readonly cut: AbortSignal;
  /** Throws when nothing may be written any more (lost lock). */
  mustHold(): void;
  readonly limits: Pick<Options, 'qps' | 'parallel'>;
  /** Workloads that earlier waits of the run left behind; those of this one are added. */
  readonly leftBehind: Set<string>;
  readonly report: Report;
  /** A line that the user should read while it continues. */
  readonly warn: (text: string) => void;
  readonly onProgress: (progress: readonly RolloutProgress[], elapsedMs: number) => void;
  readonly onLine: OnLine;
}

/** What came of an action. */
export interface Performed {
  /** A few words for the report. */
  readonly detail?: string | undefined;
  /** What it found out, for the line of its stage at the end of the run and in its record. */
  readonly told?: string;
  /** sha256 of what was fetched for it, by file name. */
  readonly digests?: Readonly<Record<string, string>>;
  /** For the run record. */
  readonly notes?: RecordNotes;
  /** What did not come to its end and is not changed, within what the user tolerates: object → why. */
  readonly left?: Readonly<Record<string, string>>;
}
