import { type AnyCommand, type Command, command, repairCommand } from './command.ts';
import { ApiFailure } from './ports.ts';
import type { KeptOutcome, PodName } from './run-record.ts';
import { AGAIN, look, type Step, type Suggestion, stepOf, type Text, THEN_AGAIN, text } from './step.ts';

/** Exit codes, printed in `--help` and documented in docs/reference/exit-codes.md. The code never depends on `-o`. */
export const EXIT = {
  done: 0,
  failed: 1,
  pending: 2,
  blocked: 3,
  warned: 4,
  stopped: 5,
  locked: 6,
  stale: 7,
  conflicts: 8,
  usage: 64,
  timeout: 124,
  interrupted: 130,
} as const;

export type ExitName = keyof typeof EXIT;

/** What each exit code means, in the words of `--help`. */
export const EXIT_MEANING: Readonly<Record<ExitName, string>> = {
  done: 'done, or nothing to do',
  failed: 'unexpected error, or a tool failed',
  pending: 'only with --detailed-exitcode: changes pending',
  blocked: 'preflight or verify found blockers',
  warned: 'only warnings, with --fail-on=warning',
  stopped: 'stopped: declined, failure budget used up, or a manual step; can be resumed',
  locked: 'another run holds the lock',
  stale: 'saved plan is stale: cluster or artifact changed',
  conflicts: 'merge conflicts need your decision',
  usage: 'usage',
  timeout: 'timed out waiting; can be resumed',
  interrupted: 'interrupted; can be resumed',
};

const UNLOCK_WHEN = 'unlock only when that process has ended (of two runs at once, one stops halfway with exit 7)';

/** Every offer of `unlock`. */
export const unlockOnce = (by: AnyCommand = repairCommand`kubectl netsvc-upgrade unlock`): Text => text`${UNLOCK_WHEN}: ${by}`;

/** What the end of a command says besides the error. */
export interface FaultEnd {
  /** Which cluster it was about, in pieces, where that is known and not said yet. */
  readonly header?: readonly string[];
  /** What the command changed. */
  readonly closing?: string;
  readonly next: Command;
}

/** The one error of this program: a fact, and what to do next. Anything else thrown is a defect and ends with exit code 1. */
export class Fault extends Error {
  readonly code: ExitName;
  /** What to do, each an imperative sentence or a command: a fact alone does not help. */
  readonly steps: readonly Step[];
  /** Added where the command ends. */
  readonly end: FaultEnd | undefined;
  /** The fact says that nothing was changed. */
  readonly saysUnchanged: boolean = false;

  constructor(code: ExitName, fact: string, suggestions: readonly Suggestion[], cause?: unknown, end?: FaultEnd) {
    super(fact, cause === undefined ? undefined : { cause });
    this.name = 'Fault';
    this.code = code;
    this.steps = suggestions.map(stepOf);
    this.end = end;
  }

  /** The steps in words. */
  get suggestions(): readonly string[] {
    return this.steps.map(({ plain }) => plain);
  }
}

/** An error that says itself that nothing was changed. */
export class UnchangedFault extends Fault {
  override readonly saysUnchanged = true;
}

/** An error that a pod shows: whoever comes later looks at it first. */
export class PodFault extends Fault {
  readonly pods: readonly PodName[];

  constructor(code: ExitName, fact: string, suggestions: readonly Suggestion[], pods: readonly PodName[], cause?: unknown) {
    super(code, fact, suggestions, cause);
    this.pods = pods;
  }
}

/** What only the user can do. */
interface Left {
  readonly left: readonly string[];
  /** What the same command does not do either, once it is run again. */
  readonly owed: readonly string[];
}

export const leftText = ({ left, owed }: Left): string => [...left, ...owed].join('; ');

/** Ended early, and something is left that only the user can do, whatever the reason turns out to be. */
export class LeftFault extends PodFault implements Left {
  readonly left: readonly string[];
  readonly owed: readonly string[];

  constructor(fault: Fault, of: Left) {
    super(fault.code, fault.message, [leftText(of), ...fault.steps], fault instanceof PodFault ? fault.pods : [], fault.cause);
    this.left = of.left;
    this.owed = of.owed;
  }
}

/** A run has stopped where it was told to: nothing has failed, and the user says how it continues. */
export class HeldFault extends Fault {
  constructor(fact: string, suggestions: readonly Suggestion[]) {
    super('stopped', fact, suggestions);
  }
}

/** The text of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** etcd has reached its quota: it reads and deletes, and stores nothing more until somebody makes room and disarms its alarm. */
const STORE_FULL = /database space exceeded/;

/** What the user can do about whatever ended a command; nothing for what is a defect. */
export function stepsAfter(thrown: unknown): readonly Suggestion[] {
  if (thrown instanceof Fault) return thrown.steps;
  if (!(thrown instanceof ApiFailure)) return [];
  const { status, message } = thrown;
  if (STORE_FULL.test(message)) return ['make room in etcd: compact and defragment it, then disarm its alarm NOSPACE', THEN_AGAIN];
  if (status === 403)
    return [
      text`print the roles for whoever grants rights: ${command`kubectl netsvc-upgrade permissions --for run`}`,
      'once they are granted, run the same command again',
    ];
  if (status === 0) return [look(text`see whether the API server answers: ${command`kubectl cluster-info`}`), THEN_AGAIN];
  return [AGAIN];
}

/** Thrown when an action's precondition no longer holds: the stage has to be planned again. */
export class Outdated extends Error {
  /** What became of what was to be removed, where that is sure. */
  readonly outcome: KeptOutcome | undefined;
  /** A part of the action was done. */
  readonly hasWritten: boolean;

  constructor(message: string, outcome?: KeptOutcome, hasWritten = outcome?.done === true) {
    super(message);
    this.outcome = outcome;
    this.hasWritten = hasWritten;
  }
}

/** Thrown when the server says that an object is no longer as it was read: somebody else wrote it. */
export class MovedOn extends Outdated {
  /** What only the user can do by now. */
  readonly owed: readonly string[];

  constructor(message: string, outcome?: KeptOutcome, hasWritten?: boolean, owed: readonly string[] = []) {
    super(message, outcome, hasWritten);
    this.owed = owed;
  }
}
