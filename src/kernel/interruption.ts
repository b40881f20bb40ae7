import { Fault, UnchangedFault } from './fault.ts';
import { AGAIN, WHEN_READY } from './step.ts';

/** Ctrl-C. The first finishes the current action; the second leaves little time for the run record and the lock. */
export interface Interruption {
  /** Asked to stop: no further action is begun, waits end. */
  readonly soft: AbortSignal;
  /** What is under way ends at once. */
  readonly hard: AbortSignal;
  /** The time for last words is over as well: nothing more is asked. */
  readonly late: AbortSignal;
  /** Work that a first Ctrl-C lets come to its end. */
  finish<T>(work: () => Promise<T>): Promise<T>;
}

/** Where nobody counts what is at work: embedded clusters. */
export function interruptionOf(soft: AbortSignal, hard: AbortSignal): Interruption {
  return { soft, hard, late: hard, finish: (work) => work() };
}

class GivenUp extends Fault {
  constructor() {
    super('interrupted', 'stopped at once: what was under way was given up', [AGAIN]);
  }
}

/** What was given up says this, whatever it was: it does not know what it was asked for. */
export function interrupted(): Fault {
  return new GivenUp();
}

/** Nothing was at work, and something has been changed before. */
export function interruptedBetween(): Fault {
  return new Fault('interrupted', 'stopped between two steps: nothing was being written', [AGAIN]);
}

/** The same of a command that has only read by then. */
export function interruptedReading(): Fault {
  return new UnchangedFault('interrupted', 'stopped: nothing was changed by this command', [WHEN_READY]);
}

/** Work before the first change: if it is given up, the command has changed nothing. */
export async function beforeChanges<T>(work: Promise<T>): Promise<T> {
  return work.catch((thrown: unknown) => {
    throw isGivenUp(thrown) ? interruptedReading() : thrown;
  });
}

/** A fault that says something of what was asked. One that was given up at Ctrl-C says nothing: whoever takes faults for answers throws it on. */
export function isAnswer(thrown: unknown): thrown is Fault {
  return thrown instanceof Fault && !isInterrupted(thrown);
}

/** It says no more than that it was given up. */
export function isGivenUp(thrown: unknown): boolean {
  return thrown instanceof GivenUp;
}

export function isInterrupted(thrown: unknown): thrown is Fault {
  return thrown instanceof Fault && thrown.code === 'interrupted';
}
