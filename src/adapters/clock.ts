import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../core/ports.ts';

/** The machine's own clock; `sleep` rejects when its signal aborts. */
export function systemClock(): Clock {
  return {
    now: () => new Date(),
    sleep: (ms, signal) => wait(ms, undefined, signal ? { signal } : {}),
  };
}
