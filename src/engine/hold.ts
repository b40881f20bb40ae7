import type { Action } from '../kernel/action.ts';
import { command } from '../kernel/command.ts';
import type { Watcher } from '../kernel/connections.ts';
import type { EnginePorts } from '../kernel/effect-type.ts';
import { Fault, LeftFault } from '../kernel/fault.ts';
import { interruptedBetween, isInterrupted } from '../kernel/interruption.ts';
import type { LockHold } from '../kernel/ports.ts';
import { look, THEN_AGAIN, text } from '../kernel/step.ts';
import type { Sentinel } from '../kernel/user-command.ts';

/** The run's hold on the lock, taken only when something will be written. A run with nothing to do writes nothing, not even the Lease. */
export class Hold {
  readonly #ports: Pick<EnginePorts, 'lock' | 'interruption'>;
  readonly #stop = new AbortController();
  readonly #cut = new AbortController();
  readonly #sentinels: Sentinel[] = [];
  readonly #watchers: Watcher[] = [];
  #held: LockHold | undefined;

  constructor(ports: Pick<EnginePorts, 'lock' | 'interruption'>, sentinel?: Sentinel) {
    this.#ports = ports;
    abortOn(ports.interruption.soft, this.#stop);
    if (sentinel) this.#heed(sentinel);
    abortOn(ports.interruption.hard, this.#cut);
  }

  #heed(sentinel: Sentinel): void {
    this.#sentinels.push(sentinel);
    abortOn(sentinel.failed, this.#stop);
  }

  /** What an action left to watch the rest of the run. */
  watch(watcher: Watcher): void {
    this.#watchers.push(watcher);
    this.#heed(watcher);
  }

  watcher(name: string): Watcher | undefined {
    return this.#watchers.find((one) => one.name === name);
  }

  /** Before the end is told, and while the lock is held. */
  async endWatchers(): Promise<void> {
    for (const one of this.#watchers.splice(0)) await this.#ports.interruption.finish(() => one.end());
  }

  /** Ends waits: the user asked to stop, what watches the run says so, or the lock is lost. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  /** Whether the lock was taken just now, and whether another run may have written before. */
  async take(): Promise<'held' | 'new' | 'undisturbed'> {
    if (this.#held) return 'held';
    const held = await this.#ports.interruption.finish(() => this.#ports.lock.acquire());
    this.#held = held;
    abortOn(held.lost, this.#stop);
    abortOn(held.lost, this.#cut);
    return held.isUndisturbed ? 'undisturbed' : 'new';
  }

  /** Ends the running program: at a second Ctrl-C, or when another run may write. */
  get cut(): AbortSignal {
    return this.#cut.signal;
  }

  /** Throws if the next action must not be started. */
  mayGoOn(): void {
    this.mustHold();
    if (this.#ports.interruption.soft.aborted) throw interruptedBetween();
  }

  /** Throws if the lock is lost, was surely ours too long ago, or what watches the run stops it: called right before each write. */
  mustHold(): void {
    if (this.isLost) throw lockLost();
    if (this.#alarm) throw interruptedBetween();
  }

  /** What ends because the lock was lost, or because of what watches the run, says `interrupted`; here is the reason. */
  causeOf(caught: unknown, last: Action | undefined): unknown {
    const isWatcher = !this.#ports.interruption.soft.aborted && isInterrupted(caught);
    const fault = this.isLost ? lockLost() : isWatcher ? this.#alarm?.fault(last) : undefined;
    if (fault === undefined) return caught;
    return caught instanceof LeftFault ? new LeftFault(fault, caught) : fault;
  }

  get #alarm(): Sentinel | undefined {
    return this.#sentinels.find(({ failed }) => failed.aborted);
  }

  /** Another run may have taken over: nothing of this one may be written any more. */
  get isLost(): boolean {
    return this.#held !== undefined && !this.#held.isHeld();
  }

  async release(): Promise<void> {
    await this.#ports.interruption.finish(async () => this.#held?.release());
  }
}

function lockLost(): Fault {
  return new Fault('locked', 'the lock was lost: another run may have taken over; nothing more was written', [
    look(text`look with: ${command`kubectl netsvc-upgrade status`}`),
    THEN_AGAIN,
  ]);
}

function abortOn(signal: AbortSignal, controller: AbortController): void {
  if (signal.aborted) controller.abort();
  else signal.addEventListener('abort', () => controller.abort(), { once: true });
}
