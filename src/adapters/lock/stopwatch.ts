import { uptime } from 'node:os';

/** Milliseconds since it was started. */
export type Stopwatch = () => number;

/**
 * Starts a stopwatch by clocks that nobody sets. The monotonic clock stands still on some systems while the machine
 * sleeps, the time since boot goes on: the longer of both counts, so that sleep is never taken for no time at all.
 */
export function startStopwatch(now: () => readonly number[] = readings): Stopwatch {
  const start = now();
  return () => Math.max(...now().map((reading, index) => reading - (start[index] ?? reading)));
}

function readings(): readonly number[] {
  return [performance.now(), uptime() * 1000];
}
