import { ApiFailure } from '../kernel/ports.ts';

const REASONS = { 403: 'Forbidden', 409: 'Conflict', 429: 'TooManyRequests', 500: 'InternalError', 503: 'ServiceUnavailable' } as const;

/** What happens to the Nth write (counted from 1) instead of, or after, being stored. */
export type WriteFault =
  | { readonly at: number; readonly status: keyof typeof REASONS }
  /** The connection ends: before the write reached the server, or after it was stored and before the answer came. */
  | { readonly at: number; readonly lost: 'before' | 'after' }
  /** The process ends: before the write reached the server, or after it was stored. */
  | { readonly at: number; readonly kill: 'before' | 'after' };

/** The process that worked on the cluster is no more; thrown by everything it still tries. */
export class Killed extends Error {
  constructor() {
    super('the process was killed');
    this.name = 'Killed';
  }
}

/** Refuses writes, and ends the writer at a chosen place. */
export class ApiFaults {
  /** Writes that reached the API so far, refused ones too; dry runs do not count. */
  writes = 0;
  killed = false;
  #plan: readonly WriteFault[] = [];

  plan(...faults: readonly WriteFault[]): void {
    this.#plan = faults;
  }

  /** A new process starts where the old one was killed. */
  revive(): void {
    this.killed = false;
  }

  /** Throws if there is no process any more that could ask. */
  alive(): void {
    if (this.killed) throw new Killed();
  }

  write<T>(what: string, store: () => T): T {
    this.alive();
    this.writes += 1;
    const fault = this.#plan.find(({ at }) => at === this.writes);
    if (!fault) return store();
    if ('status' in fault) throw new ApiFailure(fault.status, REASONS[fault.status], `${what}: refused by the sandbox (${fault.status})`);
    if ('lost' in fault) {
      if (fault.lost === 'after') store();
      throw new ApiFailure(0, 'ECONNRESET', `${what}: the connection was lost`);
    }
    if (fault.kill === 'after') store();
    this.killed = true;
    throw new Killed();
  }
}
