import type { Clock } from '../core/ports.ts';

/** Requests in flight at first. */
const START = 8;
/** In flight at most, unless a person says otherwise: the API server queues more, it does not answer faster. */
const WIDEST = 32;
/** A window of answers is judged against the best one; slower than this many times over means that the server queues. */
const QUEUES = 3;
const WINDOW = 32;

export interface PaceLimits {
  /** Requests a second. */
  readonly qps?: number | undefined;
  /** Requests in flight. */
  readonly parallel?: number | undefined;
}

/**
 * How many requests may be in flight: one more as long as the server answers as fast as ever, half as many when it says
 * that it has too much to do or its answers grow slow.
 */
export class Pace {
  readonly #clock: Clock;
  readonly #widest: number;
  readonly #gapMs: number;
  #width: number;
  #inFlight = 0;
  #nextAt = 0;
  #pausedUntil = 0;
  #best = Number.POSITIVE_INFINITY;
  #window: number[] = [];
  readonly #waiting: (() => void)[] = [];

  constructor(clock: Clock, { qps, parallel }: PaceLimits) {
    this.#clock = clock;
    this.#widest = Math.max(1, parallel ?? WIDEST);
    this.#width = Math.min(START, this.#widest);
    this.#gapMs = qps === undefined ? 0 : 1000 / qps;
  }

  get widest(): number {
    return this.#widest;
  }

  get width(): number {
    return this.#width;
  }

  /** Resolves when the next request may be sent; to be followed by `leave`. */
  async enter(): Promise<void> {
    while (this.#inFlight >= this.#width) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#inFlight += 1;
    const now = this.#now();
    const at = Math.max(now, this.#pausedUntil, this.#nextAt);
    this.#nextAt = at + this.#gapMs;
    if (at > now) await this.#clock.sleep(at - now);
  }

  /** The request was answered after so many milliseconds. */
  leave(tookMs: number): void {
    this.#window.push(tookMs);
    if (this.#window.length >= WINDOW) this.#judge();
    this.#free();
  }

  /** The server has too much to do: half as many at a time, and none before the pause is over. */
  tooMuch(pauseMs: number): void {
    this.#width = Math.max(1, Math.floor(this.#width / 2));
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#now() + pauseMs);
    this.#window = [];
    this.#free();
  }

  #judge(): void {
    const mean = this.#window.reduce((sum, ms) => sum + ms, 0) / this.#window.length;
    // More in flight on the same server take longer each: what counts is the time for one of them.
    const each = mean / this.#width;
    this.#best = Math.min(this.#best, each);
    if (each > this.#best * QUEUES) this.#width = Math.max(1, Math.floor(this.#width * 0.75));
    else this.#width = Math.min(this.#widest, this.#width + 4);
    this.#window = [];
  }

  #free(): void {
    this.#inFlight -= 1;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  #now(): number {
    return this.#clock.now().getTime();
  }
}
