/** From this limit on there is none any more: this program never has as many requests in flight. */
const UNLIMITED_FROM = 64;
/** Good answers in a row after which more requests may be in flight. */
const GOOD = 32;

/** What became of a request: `too much` was refused with 429, `other` tells nothing of what the server can do. */
export type Answer = 'good' | 'too much' | 'other';

/**
 * How many requests may be in flight, for all of a cluster: without limit until the server says that they are too many (429). Half as many
 * then, and a quarter more after each row of good answers, at least one.
 */
export class InFlight {
  #limit = Number.POSITIVE_INFINITY;
  #lowered = 0;
  #count = 0;
  #good = 0;
  readonly #waiting: (() => void)[] = [];

  get limit(): number {
    return this.#limit;
  }

  /** Undefined if the request may be sent at once; else it resolves when it may. Followed by `leave`, whatever became of it. `ahead`: next. */
  enter(ahead: boolean): Promise<void> | undefined {
    if (this.#count < this.#limit) {
      this.#count += 1;
      return undefined;
    }
    return new Promise((resolve) => (ahead ? this.#waiting.unshift(resolve) : this.#waiting.push(resolve)));
  }

  /** How often the limit was lowered so far: of requests that were refused together, one lowers it. */
  get lowered(): number {
    return this.#lowered;
  }

  /** `sentAt`: what `lowered` was when the request was sent. */
  leave(sentAt: number, answer: Answer): void {
    if (answer === 'good') this.#raise();
    if (answer === 'too much' && sentAt === this.#lowered) {
      this.#limit = Math.max(1, Math.floor(this.#count / 2));
      this.#lowered += 1;
      this.#good = 0;
    }
    this.#count -= 1;
    while (this.#waiting.length > 0 && this.#count < this.#limit) {
      this.#count += 1;
      this.#waiting.shift()?.();
    }
  }

  #raise(): void {
    this.#good += 1;
    if (this.#good < GOOD) return;
    this.#good = 0;
    const more = this.#limit + Math.max(1, Math.floor(this.#limit / 4));
    this.#limit = more < UNLIMITED_FROM ? more : Number.POSITIVE_INFINITY;
  }
}
