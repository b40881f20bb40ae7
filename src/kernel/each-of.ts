import type { Clock } from './ports.ts';

/** Runs at most `width` at a time; results in order. */
export async function eachOf<A, B>(items: readonly A[], width: number, work: (item: A) => Promise<B>): Promise<readonly B[]> {
  const results: B[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
  return results;
}

/** Whether it succeeds; how it fails does not matter. */
export function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

/** All of these at once, by their names; the first that fails is thrown. */
export async function allOf<T extends object>(parts: T): Promise<{ readonly [K in keyof T]: Awaited<T[K]> }> {
  const all = await Promise.all(Object.entries(parts).map(async ([name, part]) => [name, await part]));
  return Object.fromEntries(all);
}

/** One read shared by all who wait for it: hundreds of parallel writes cost a few reads, none older than its question. */
export function together(look: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const start = (): Promise<void> => {
    const started = look().finally(() => {
      if (running === started) running = undefined;
    });
    running = started;
    return started;
  };
  return () => {
    if (!running) return start();
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return start();
      });
    return next;
  };
}

/** Resolves when the next request may be sent: at most `qps` per second. What the server refuses is the transport's (`adapters/kube/in-flight.ts`). */
export function spaced(clock: Clock, qps: number | undefined): () => Promise<void> {
  let nextAt = 0;
  return async () => {
    if (qps === undefined) return;
    const now = clock.now().getTime();
    const at = Math.max(now, nextAt);
    nextAt = at + 1000 / qps;
    if (at > now) await clock.sleep(at - now);
  };
}
