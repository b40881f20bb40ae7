/** A place where both sides changed the same lines differently. Lines are numbered from 1, in the base. */
export interface TextConflict {
  readonly line: number;
  readonly base: Lines;
  readonly mine: Lines;
  readonly theirs: Lines;
}

type Lines = readonly string[];

/** Three-way merge of texts by line: a change of one side, or of both alike, is taken; different changes are a conflict. */
export function mergeText(
  base: string,
  mine: string,
  theirs: string,
): { readonly text: string } | { readonly conflicts: readonly TextConflict[] } {
  const [b = [], m = [], t = []] = [base, mine, theirs].map((text) => text.split('\n'));
  const { merged, conflicts } = mergeLines(b, m, t);
  return conflicts.length > 0 ? { conflicts } : { text: merged.join('\n') };
}

/** The same of lists whose order counts; undefined where both sides changed the same stretch differently. */
export function mergeSequences(base: Lines, mine: Lines, theirs: Lines): Lines | undefined {
  const { merged, conflicts } = mergeLines(base, mine, theirs);
  return conflicts.length > 0 ? undefined : merged;
}

function mergeLines(base: Lines, mine: Lines, theirs: Lines): { readonly merged: Lines; readonly conflicts: readonly TextConflict[] } {
  const merged: string[] = [];
  const conflicts: TextConflict[] = [];
  for (const region of regions(base, mine, theirs)) {
    if (sameLines(region.mine, region.base) || sameLines(region.mine, region.theirs)) merged.push(...region.theirs);
    else if (sameLines(region.theirs, region.base)) merged.push(...region.mine);
    else conflicts.push(region);
  }
  return { merged, conflicts };
}

/** Pieces between lines that all three have, and these lines themselves. */
function* regions(base: Lines, mine: Lines, theirs: Lines): Generator<TextConflict> {
  const [inMine, inTheirs] = [matches(base, mine), matches(base, theirs)];
  let [b, m, t] = [0, 0, 0];
  for (let at = 0; at <= base.length; at += 1) {
    const [untilMine, untilTheirs] = at === base.length ? [mine.length, theirs.length] : [inMine.get(at), inTheirs.get(at)];
    if (untilMine === undefined || untilTheirs === undefined) continue;
    yield { line: b + 1, base: base.slice(b, at), mine: mine.slice(m, untilMine), theirs: theirs.slice(t, untilTheirs) };
    const common = base.slice(at, at + 1);
    yield { line: at + 1, base: common, mine: common, theirs: common };
    [b, m, t] = [at + 1, untilMine + 1, untilTheirs + 1];
  }
}

/** Longest common subsequence: index in `a` → index in `b`. */
function matches(a: Lines, b: Lines): ReadonlyMap<number, number> {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  const at = (i: number, j: number) => lengths[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    const row = lengths[i];
    for (let j = b.length - 1; j >= 0 && row; j -= 1) row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const found = new Map<number, number>();
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) found.set(i++, j++);
    else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return found;
}

function sameLines(a: Lines, b: Lines): boolean {
  return a.length === b.length && a.every((line, index) => line === b[index]);
}
