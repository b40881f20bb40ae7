import type { KeptOutcome } from './ports.ts';

/** Thrown when an action's precondition no longer holds: the stage has to be planned again. */
export class Outdated extends Error {
  /** What became of what was to be removed, where that is sure. */
  readonly outcome: KeptOutcome | undefined;

  constructor(message: string, outcome?: KeptOutcome) {
    super(message);
    this.outcome = outcome;
  }
}

/** Thrown when the server says that an object is no longer as it was read: somebody else wrote it. */
export class MovedOn extends Outdated {}
