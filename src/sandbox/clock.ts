import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../kernel/ports.ts';

interface Timer {
  readonly at: number;
  readonly run: () => void;
  /** Tells whoever sleeps until then that a task broke. A timer without it does not make time go: without sleepers it stands still. */
  readonly fail?: (thrown: unknown) => void;
}

export interface VirtualClock extends Clock {
  /** Runs `task` when the virtual time has come; does not make time continue by itself. Returns how to call it off. */
  schedule(ms: number, task: () => void): () => void;
  /** Real milliseconds that one virtual second takes; 0: as fast as it goes. */
  pace: number;
}

/** A clock that advances only while somebody sleeps: it jumps to the next due task once the last one's effects are done. */
export function virtualClock({ start = new Date('2026-01-01T00:00:00Z') } = {}): VirtualClock {
  const timers = new Set<Timer>();
  let now = start.getTime();
  let going = false;

  const add = (ms: number, timed: Omit<Timer, 'at'>) => {
    const timer: Timer = { at: now + Math.max(0, ms), ...timed };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  const sleepers = () => [...timers].filter(({ fail }) => fail);
  /** What broke is an error of all who wait for time to pass: it would otherwise stand still for them without a word. */
  const run = (timer: Timer) => {
    try {
      timer.run();
    } catch (thrown) {
      for (const sleeper of sleepers()) {
        timers.delete(sleeper);
        sleeper.fail?.(thrown);
      }
    }
  };
  async function go(): Promise<void> {
    if (going) return;
    going = true;
    // Promise chains are through when the event loop comes round, and files are read: the time that a disk takes is none of the sandbox.
    for (await turn(); sleepers().length > 0; await turn()) {
      if (readsFiles()) continue;
      const next = earliest(timers);
      if (!next) break;
      if (clock.pace > 0 && next.at > now) await wait(((next.at - now) / 1000) * clock.pace);
      if (earliest(timers) !== next) continue;
      timers.delete(next);
      now = Math.max(now, next.at);
      run(next);
    }
    going = false;
  }
  const clock: VirtualClock = {
    pace: 0,
    now: () => new Date(now),
    schedule: (ms, task) => add(ms, { run: task }),
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const cancel = add(ms, { run: resolve, fail: reject });
      const abort = () => {
        cancel();
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', abort, { once: true });
      void go();
      return promise.finally(() => signal?.removeEventListener('abort', abort));
    },
  };
  return clock;
}

const readsFiles = (): boolean => process.getActiveResourcesInfo().some((kind) => kind === 'FSReqPromise' || kind === 'CloseReq');

/** Of those due at the same time the one that was added first, as a set keeps them. */
function earliest(timers: ReadonlySet<Timer>): Timer | undefined {
  return [...timers].reduce<Timer | undefined>((first, timer) => (!first || timer.at < first.at ? timer : first), undefined);
}
