/** From this limit on there is none any more: this program never has as many requests in flight. */
const UNLIMITED_FROM = 64;
/** Good answers in a row after which more requests may be in flight. */
const GOOD = 32;

/** What became of a request: `too much` was refused with 429, `other` tells nothing of what the server can do. */
export type Answer = 'good' | 'too much' | 'other';

/** What waits goes in this order: what the lock is renewed by, writes, reads. */
export type Rank = 'lock' | 'write' | 'read';

/** When a request was sent: after how many lowerings of the limit, and as which of those in flight. */
interface Sent {
  readonly lowered: number;
  readonly count: number;
}

/**
 * How many requests may be in flight, for all of a cluster: without limit until the server says that they are too many (429). Half as many
 * then, and a quarter more after each row of good answers, at least one.
 */
export class InFlight {
  #limit = Number.POSITIVE_INFINITY;
  #lowered = 0;
  #count = 0;
  #good = 0;
  readonly #waiting: Readonly<Record<Rank, (() => void)[]>> = { lock: [], write: [], read: [] };

  get limit(): number {
    return this.#limit;
  }

  /** Undefined if the request may be sent at once; else it resolves when it may, by rank. Followed by `leave`, whatever became of it. */
  enter(rank: Rank, atOnce = false): Promise<void> | undefined {
    if (atOnce || this.#count < this.#limit) {
      this.#count += 1;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting[rank].push(resolve));
  }

  sent(): Sent {
    return { lowered: this.#lowered, count: this.#count };
  }

  /** Of requests that were refused together, one lowers the limit. One that was alone was refused because of others. */
  leave({ lowered, count }: Sent, answer: Answer): void {
    if (answer === 'good') this.#raise();
    const together = Math.max(count, this.#count);
    if (answer === 'too much' && lowered === this.#lowered && together > 1) {
      this.#limit = Math.floor(together / 2);
      this.#lowered += 1;
      this.#good = 0;
    }
    this.#count -= 1;
    while (this.#count < this.#limit) {
      const { lock, write, read } = this.#waiting;
      const next = lock.shift() ?? write.shift() ?? read.shift();
      if (!next) return;
      this.#count += 1;
      next();
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
