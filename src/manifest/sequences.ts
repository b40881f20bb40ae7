/** Three-way merge of lists whose order counts; undefined where both sides changed the same stretch differently. */
export function mergeSequences(base: readonly string[], mine: readonly string[], theirs: readonly string[]): readonly string[] | undefined {
  const [inMine, inTheirs] = [matches(base, mine), matches(base, theirs)];
  const merged: string[] = [];
  let [b, m, t] = [0, 0, 0];
  for (let anchor = 0; anchor <= base.length; anchor += 1) {
    const [atMine, atTheirs] = anchor === base.length ? [mine.length, theirs.length] : [inMine.get(anchor), inTheirs.get(anchor)];
    if (atMine === undefined || atTheirs === undefined) continue;
    const stretch = pick(base.slice(b, anchor), mine.slice(m, atMine), theirs.slice(t, atTheirs));
    if (!stretch) return undefined;
    merged.push(...stretch, ...theirs.slice(atTheirs, atTheirs + 1));
    [b, m, t] = [anchor + 1, atMine + 1, atTheirs + 1];
  }
  return merged;
}

type Stretch = readonly string[];

function pick(base: Stretch, mine: Stretch, theirs: Stretch): Stretch | undefined {
  const same = (a: Stretch, b: Stretch) => a.length === b.length && a.every((item, index) => item === b[index]);
  if (same(base, mine) || same(mine, theirs)) return theirs;
  return same(base, theirs) ? mine : undefined;
}

/** Longest common subsequence: index in `a` → index in `b`. */
function matches(a: readonly string[], b: readonly string[]): ReadonlyMap<number, number> {
  const lengths = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  const at = (i: number, j: number) => lengths[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    const row = lengths[i] ?? [];
    for (let j = b.length - 1; j >= 0; j -= 1) row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const found = new Map<number, number>();
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) found.set(i++, j++);
    else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return found;
}
