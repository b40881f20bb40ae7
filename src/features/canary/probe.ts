import type { Action } from '../../kernel/action.ts';
import { type Command, command } from '../../kernel/command.ts';
import type { Observer } from '../../kernel/event.ts';
import { Fault, UnchangedFault } from '../../kernel/fault.ts';
import { isInterrupted } from '../../kernel/interruption.ts';
import { seeNode } from '../../kernel/pod-look.ts';
import type { Clock } from '../../kernel/ports.ts';
import { againAs, look, type Suggestion, text } from '../../kernel/step.ts';
import type { ProbeTrace, Sentinel, UserCommandEnd, UserCommands } from '../../kernel/user-command.ts';
import { FIX, HELD, heldIn, ofCanary } from '../rollout/index.ts';

/** From one beginning to the next. */
const EVERY_MS = 5_000;
const LIMIT_MS = 10_000;
/** A run is stopped by this many failures in a row: one alone may be chance. */
const IN_A_ROW = 2;
/** More of them help nobody. */
const FAILURES_TOLD = 20;

interface Ports {
  readonly commands: UserCommands;
  readonly clock: Clock;
}

/** The user's own probe beside a run: what it says and how long it takes. Stops the run once it has failed twice in a row. */
export class ProbeWatch implements Sentinel {
  readonly #ports: Ports;
  readonly #over = new AbortController();
  readonly #failed = new AbortController();
  readonly #durations: number[] = [];
  readonly #failures: ProbeTrace['failures'][number][] = [];
  #failedRuns = 0;
  #inARow = 0;
  #because = '';
  #loop: Promise<void> = Promise.resolve();

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  get trace(): ProbeTrace {
    const sorted = this.#durations.toSorted((a, b) => a - b);
    const [medianMs = 0, longestMs = 0] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)].map((ms) => ms && Math.round(ms));
    return { runs: sorted.length, medianMs, longestMs, failed: this.#failedRuns, failures: [...this.#failures] };
  }

  /** Before anything is written. Throws Fault('blocked') if it does not pass. */
  async first(by: Command, signal: AbortSignal): Promise<void> {
    const { because } = await this.#run(signal);
    if (because === undefined) return;
    throw new UnchangedFault('blocked', `the probe does not pass before the start: ${because}; nothing was changed by this command`, [
      look(text`see why: ${by}`),
      'repair it, or what it found',
      againAs('it begins once the probe passes'),
    ]);
  }

  /** Runs it every few seconds until `end`, or until it has failed too often. */
  watch(observe: Observer): void {
    this.#loop = this.#watch(observe).catch(() => undefined);
  }

  async end(): Promise<void> {
    this.#over.abort();
    await this.#loop;
  }

  fault(last: Action | undefined): Fault {
    const fact = `the probe failed ${IN_A_ROW} times in a row: ${this.#because}`;
    const held = heldIn(last);
    if (held) return new Fault('stopped', ofCanary(fact, held.for), [...held.nodes.slice(0, 1).map(seeNode), ...HELD]);
    return new Fault('stopped', fact, [look(text`${command`kubectl get nodes`}`), ...ROLLING]);
  }

  async #watch(observe: Observer): Promise<void> {
    const { signal } = this.#over;
    observe({ type: 'probe', probe: this.trace });
    while (!signal.aborted && !this.failed.aborted) {
      const began = this.#ports.clock.now().getTime();
      const { because } = await this.#run(signal);
      observe({ type: 'probe', probe: this.trace, ...(because === undefined ? {} : { because }) });
      if (this.#inARow >= IN_A_ROW) return this.#failed.abort();
      await this.#ports.clock.sleep(Math.max(0, began + EVERY_MS - this.#ports.clock.now().getTime()), signal);
    }
  }

  async #run(signal: AbortSignal): Promise<UserCommandEnd> {
    const at = this.#ports.clock.now().toISOString();
    const end = await this.#ports.commands.run('probe', { limitMs: LIMIT_MS, signal }).catch((thrown: unknown): UserCommandEnd => {
      if (isInterrupted(thrown)) throw thrown;
      return { durationMs: 0, because: String(thrown) };
    });
    const { durationMs, because } = end;
    this.#durations.push(durationMs);
    this.#inARow = because === undefined ? 0 : this.#inARow + 1;
    if (because === undefined) return end;
    this.#because = because;
    this.#failedRuns += 1;
    if (this.#failures.length < FAILURES_TOLD) this.#failures.push({ at, durationMs: Math.round(durationMs), because });
    return end;
  }
}

const ROLLING: readonly Suggestion[] = ['this run writes nothing more; what an operator has begun continues by itself', FIX];
