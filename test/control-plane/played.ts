import { setTimeout as pause } from 'node:timers/promises';
import { ApiError } from './api.ts';

/** A part of the service that is played until it is stopped. */
export interface Played {
  stop(): Promise<void>;
}

export function play(work: (signal: AbortSignal) => Promise<unknown>): Played {
  const end = new AbortController();
  const done = work(end.signal);
  return {
    async stop() {
      end.abort();
      await done;
    },
  };
}

/**
 * Looks again and again, with these pauses. New CRDs, and whoever writes at the same time, make the server refuse for a moment, and an answer
 * may be lost: the next look sees to it.
 */
export function playByLooking(everyMs: number, look: (signal: AbortSignal) => Promise<unknown>): Played {
  return play(async (signal) => {
    while (!signal.aborted) {
      await look(signal).catch((thrown: unknown) => {
        if (thrown instanceof ApiError && ![404, 409, 429].includes(thrown.status) && thrown.status < 500) throw thrown;
      });
      await pause(everyMs, undefined, { signal }).catch(() => undefined);
    }
  });
}
