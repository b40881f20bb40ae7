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
