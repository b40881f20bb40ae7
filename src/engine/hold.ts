import { Fault } from '../core/fault.ts';
import type { EnginePorts } from './engine-ports.ts';

/**
 * The run's hold on the lock. Taken right before the first write, so that a run with nothing to do writes nothing,
 * not even the Lease.
 */
export class Hold {
  readonly #ports: Pick<EnginePorts, 'lock' | 'interruption'>;
  readonly #stop = new AbortController();
  #lost: AbortSignal | undefined;
  #release: (() => Promise<void>) | undefined;

  constructor(ports: Pick<EnginePorts, 'lock' | 'interruption'>) {
    this.#ports = ports;
    this.#stopOn(ports.interruption.soft);
  }

  /** Ends waits: the person asked to stop, or the lock is lost. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  /** True if the lock was taken just now: what was planned before must be planned again. */
  async take(): Promise<boolean> {
    if (this.#release) return false;
    const hold = await this.#ports.lock.acquire();
    this.#release = () => hold.release();
    this.#lost = hold.lost;
    this.#stopOn(hold.lost);
    return true;
  }

  /** Throws if the next action must not be started. */
  mayGoOn(): void {
    if (this.#lost?.aborted) {
      throw new Fault('locked', 'the lock was lost: another run may have taken over; nothing more was written', [
        'look with: kubectl netsvc-upgrade status',
        'then continue with the same command',
      ]);
    }
    if (this.#ports.interruption.soft.aborted) {
      throw new Fault('interrupted', 'stopped after the current action', ['continue with the same command']);
    }
  }

  /** Another run may have taken over: nothing of this one may be written any more. */
  get isLost(): boolean {
    return this.#lost?.aborted ?? false;
  }

  async release(): Promise<void> {
    await this.#release?.();
  }

  #stopOn(signal: AbortSignal): void {
    if (signal.aborted) this.#stop.abort();
    else signal.addEventListener('abort', () => this.#stop.abort(), { once: true });
  }
}
