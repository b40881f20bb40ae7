import type { Clock } from '../kernel/ports.ts';

/** Requests in flight at first. */
const START = 8;
/** In flight at most, unless the user says otherwise: the API server queues more, it does not answer faster. */
const WIDEST = 32;
/**
 * Mean time of an answer from which on a server has too much to do, milliseconds: Kubernetes' own objective for writing one object.
 * A fixed time, not a multiple of the best seen: one at a time takes far longer for each than many at a time, which the store makes
 * durable together, so that whoever is narrowed by one slow moment would never be told to widen again.
 */
const SLOW_MS = 1_000;
/** Answers that are evaluated together. */
const WINDOW = 32;

export interface PaceLimits {
  /** Requests a second. */
  readonly qps?: number | undefined;
  /** Requests in flight. */
  readonly parallel?: number | undefined;
}

/**
 * How many requests may be in flight: more with each window of answers as long as they come in time, fewer when they grow slow, and half
 * as many when the server says that it has too much to do.
 */
export class Pace {
  readonly #clock: Clock;
  readonly #widest: number;
  readonly #gapMs: number;
  #width: number;
  #inFlight = 0;
  #nextAt = 0;
  #pausedUntil = 0;
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

  /** The request was answered after this many milliseconds. */
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
    if (mean > SLOW_MS) this.#width = Math.max(1, Math.floor(this.#width * 0.75));
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
