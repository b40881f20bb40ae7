/** For how long what is waited for has been there, by a clock that only goes forward. The waits of every install path go by it. */
export class Lasted {
  readonly #holdMs: number;
  #mark: string | undefined;
  #since: number | undefined;

  constructor(holdMs = 0) {
    this.#holdMs = holdMs;
  }

  /** `mark` tells what is there from what replaces it, which counts from its own first look; undefined while anything is missing. */
  isEnough(mark: string | undefined, now: number): boolean {
    if (mark !== this.#mark) this.#since = undefined;
    this.#mark = mark;
    if (mark === undefined) return false;
    this.#since ??= now;
    return now - this.#since >= this.#holdMs;
  }

  /** When it began to count, of the same clock. */
  get since(): number | undefined {
    return this.#since;
  }
}
