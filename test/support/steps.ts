import { type Profiler, Session } from 'node:inspector';

/**
 * Counts what runs of JavaScript, libraries included: the same number on every machine, however busy. What goes on inside one
 * pattern or one call of the language is a single step.
 */
export class Steps {
  readonly #session = new Session();

  constructor() {
    this.#session.connect();
    this.#ask('Profiler.enable');
    this.#ask('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  of(work: () => unknown): number {
    this.#taken();
    work();
    return this.#taken();
  }

  /** The same of each of several times: to ask the engine takes longer than much of what is counted. */
  each(times: number, work: () => unknown): readonly number[] {
    this.#taken();
    return Array.from({ length: times }, () => {
      work();
      return this.#taken();
    });
  }

  close(): void {
    this.#session.disconnect();
  }

  /** Since it was taken last. */
  #taken(): number {
    const { result } = this.#ask('Profiler.takePreciseCoverage') as Profiler.TakePreciseCoverageReturnType;
    // Of a function its busiest block: blocks that run equally often are one or two, as it happens.
    const counts = result.flatMap(({ functions }) => functions.map(({ ranges }) => Math.max(...ranges.map(({ count }) => count))));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** A session in its own thread answers at once. */
  #ask(method: string, params: object = {}): unknown {
    let answer: unknown;
    this.#session.post(method, params, (_error, result) => {
      answer = result;
    });
    return answer;
  }
}
