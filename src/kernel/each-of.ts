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
