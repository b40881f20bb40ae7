import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../kernel/ports.ts';

/** Longer timers end at once instead. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's own clock; `sleep` rejects with the reason of its signal when that aborts. */
export function systemClock(): Clock {
  return { now: () => new Date(), sleep };
}

/** Milliseconds since this process began, monotonic. The global `performance` has the same, and takes 1 ms to load. */
export const uptimeMs = (): number => process.uptime() * 1000;

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    for (let left = ms; left > 0; left -= LONGEST_TIMER_MS)
      await wait(Math.min(left, LONGEST_TIMER_MS), undefined, signal ? { signal } : {});
  } finally {
    signal?.throwIfAborted();
  }
}
