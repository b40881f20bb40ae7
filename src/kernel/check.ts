import type { Command, RepairCommand } from './command.ts';
import type { Context } from './context.ts';
import type { Severity } from './defect.ts';
import type { ExitName } from './fault.ts';
import type { ObjectRef } from './object.ts';
import type { Said, Step } from './step.ts';

/** Each has a page `docs/reference/checks/<id>.md`. */
export type CheckId = `NS-${number}`;

/** What a check looks at; groups the list on the screen. */
export type Category =
  | 'kubernetes'
  | 'access'
  | 'installation'
  | 'workloads'
  | 'nodes'
  | 'resources'
  | 'manifest'
  | 'tools'
  | 'follow-up'
  | 'result';

/** One thing that a finding is about; `text` is what `--accept ID=SUBJECT` names. */
export interface Evidence {
  readonly text: string;
  readonly object?: ObjectRef;
  readonly detail?: string;
  /** What a list on a screen shows of a long detail; only where it is shorter. */
  readonly brief?: string;
  /** The values of a field that is to be decided, as text; never those of a Secret. */
  readonly sides?: { readonly base: string; readonly mine: string; readonly theirs: string; readonly because: string };
}

export type Verdict =
  /** `isAdvice`: it recommends something all the same. */
  | { readonly status: 'ok'; readonly detail?: string; readonly isAdvice?: true }
  /** The check does not apply here; said once with the reason. */
  | { readonly status: 'not-applicable'; readonly because: string; readonly aside?: 'left-out' }
  | {
      readonly status: 'failed';
      /** The fact. */
      readonly because: string;
      /** What it means and how to fix it, imperative. */
      readonly hint: Said | readonly Said[];
      /** The command of others that repairs it at once: a row of its own. */
      readonly fix?: RepairCommand;
      /** The exact next command, if there is one: it shows more, or is of this program. */
      readonly next?: Command;
      /** As a warning its next command is that of the whole command, too: before an upgrade (preflight, plan), or after it (run). */
      readonly leads?: 'before' | 'after';
      readonly evidence?: readonly Evidence[];
      /** Replaces the check's severity for this finding. */
      readonly severity?: Severity;
      /** Exit code when this finding blocks; `blocked` unless said. */
      readonly exit?: ExitName;
      /** The user on a terminal may accept it by typing each subject; elsewhere `--accept` does. */
      readonly byName?: boolean;
      /** Only subject by subject: `--accept` of the whole check is not enough. */
      readonly eachByName?: boolean;
      /** Nobody can accept it: what follows cannot be undone, or never ends. */
      readonly final?: boolean;
      /** What the user accepted by name is not among the evidence any more. */
      readonly leavesOutAccepted?: boolean;
      /** A continued run's own record explains the finding: shown, never blocking. */
      readonly expected?: boolean;
    };

/** A pure evaluation over what a stage surveyed. Facts that could not be read make it fail, never pass. */
export interface Check<Facts> {
  readonly id: CheckId;
  readonly title: string;
  readonly category: Category;
  readonly severity: Severity;
  /** Sentence of the procedure, or field note, that asks for it. */
  readonly ref: string;
  /** Its subjects are fields: the user decides on each (`--resolve`). */
  readonly byField?: true;
  /** Wherever it is found nobody should accept it: its page says so, and no screen offers it. */
  readonly isNeverWaived?: true;
  /** Its subjects are nodes. */
  readonly ofNodes?: true;
  /** Whoever accepts it leaves an unfinished run behind. */
  readonly leavesRun?: true;
  judge(facts: Facts, context: Context): Verdict;
}

/** An evaluated check, after `--accept`. */
export interface Finding extends Pick<Check<never>, 'title' | 'category' | 'ref'> {
  readonly id: string;
  /** `cured`: was open when it was evaluated, and the run has fixed it since. */
  readonly outcome: 'ok' | 'not-applicable' | 'warning' | 'error' | 'accepted' | 'expected' | 'cured';
  readonly message: string;
  readonly hint?: string;
  readonly next?: Command;
  /** Hint and next command, as data. */
  readonly steps?: readonly Step[];
  /** Why it is told, or not: it passed and recommends something, was left out by `--read-only`, or could not be evaluated because of another. */
  readonly aside?: 'advice' | 'left-out' | 'not-evaluated';
  /** A warning whose next command is that of the whole command, before an upgrade or after it. */
  readonly leads?: 'before' | 'after';
  readonly evidence: readonly Evidence[];
  /** What it would have been without `--accept`. */
  readonly was?: Severity;
  /** Exit code when it blocks, if not `blocked`. */
  readonly exit?: ExitName;
  /** The user on a terminal may accept it by typing each subject. */
  readonly byName?: boolean;
  /** Checks that could not be evaluated because of this one. */
  readonly neededBy?: readonly string[];
}

/** Something that was read from the cluster, or the reason why it could not be. */
export type Reading<T> = { readonly value: T } | NotRead;

export interface NotRead {
  /** Why. */
  readonly unread: string;
  /** What helps, if more is known than that. */
  readonly hint?: Said | readonly Said[];
  /** The command that helps, where one does. */
  readonly next?: Command;
  /** The server passed the question on, and who answers it is away (502, 503, 504). */
  readonly isAway?: true;
  /** It was not asked for, on purpose. */
  readonly leftOut?: boolean;
  /** The check that says what helps: NS-009 where the account may not read it. While that one is an open error, this one is folded under it. */
  readonly needs?: string;
}

/** Thrown by `read`: the check that needed the value fails with the reason. */
export class Unread extends Error {
  readonly reading: NotRead;

  constructor(reading: NotRead) {
    super(reading.unread);
    this.reading = reading;
  }
}

/** The value of a reading; a check that touches what could not be read fails by this. */
export function read<T>(reading: Reading<T>): T {
  if ('unread' in reading) throw new Unread(reading);
  return reading.value;
}

export const ok = (detail?: string): Verdict => (detail === undefined ? { status: 'ok' } : { status: 'ok', detail });
/** Told, never counted against anything. */
export const advice = (detail: string): Verdict => ({ status: 'ok', detail: `advice: ${detail}`, isAdvice: true });
export const notApplicable = (because: string): Verdict => ({ status: 'not-applicable', because });
