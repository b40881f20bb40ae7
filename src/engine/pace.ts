import type { Clock } from '../kernel/ports.ts';

/** Requests in flight at first. */
const START = 8;
/** In flight at most, unless the user says otherwise: the API server queues more, it does not answer faster, and others wait longer. */
const WIDEST = 16;
/**
 * Mean answer time in milliseconds that means an overloaded server: Kubernetes' own objective for one write. Fixed, not relative to the
 * best seen: single writes are slower than many made durable together, so a narrowed run would never widen again.
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

/** How many writes may be in flight. Each window of answers in time raises it, slow answers lower it; what the server refuses is the adapter's. */
export class Pace {
  readonly #clock: Clock;
  readonly #widest: number;
  readonly #gapMs: number;
  #width: number;
  #inFlight = 0;
  #nextAt = 0;
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
    const at = Math.max(now, this.#nextAt);
    this.#nextAt = at + this.#gapMs;
    if (at > now) await this.#clock.sleep(at - now);
  }

  /** The request was answered after this many milliseconds. */
  leave(tookMs: number): void {
    this.#window.push(tookMs);
    if (this.#window.length >= WINDOW) this.#judge();
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
