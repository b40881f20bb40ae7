import { LEASE_SECONDS } from './lease.ts';
import { type Stopwatch, startStopwatch } from './stopwatch.ts';

/** A lease that was not renewed for this long is given up, safely before another run may take it. */
export const GIVE_UP_MS = (LEASE_SECONDS - 15) * 1000;

/** How long ago the lease was surely ours: counted from the start of the last renewal that succeeded. */
export class Renewals {
  readonly #start: () => Stopwatch;
  #good: Stopwatch;

  constructor(start: () => Stopwatch = startStopwatch) {
    this.#start = start;
    this.#good = start();
  }

  begin(): Stopwatch {
    return this.#start();
  }

  succeeded(attempt: Stopwatch): void {
    this.#good = attempt;
  }

  get tooOld(): boolean {
    return this.#good() >= GIVE_UP_MS;
  }
}
