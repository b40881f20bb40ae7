/** A place where both sides changed the same lines differently. Lines are numbered from 1, in the base. */
export interface TextConflict {
  readonly line: number;
  readonly base: readonly string[];
  readonly mine: readonly string[];
  readonly theirs: readonly string[];
}

export type TextMerge = { readonly text: string } | { readonly conflicts: readonly TextConflict[] };

/** Three-way merge of texts by line: a change of one side, or of both alike, is taken; different changes are a conflict. */
export function mergeText(base: string, mine: string, theirs: string): TextMerge {
  const [b, m, t] = [base, mine, theirs].map((text) => text.split('\n')) as [string[], string[], string[]];
  const merged: string[] = [];
  const conflicts: TextConflict[] = [];
  for (const { base: old, mine: own, theirs: fresh, line } of regions(b, m, t)) {
    if (sameLines(own, old) || sameLines(own, fresh)) merged.push(...fresh);
    else if (sameLines(fresh, old)) merged.push(...own);
    else conflicts.push({ line, base: old, mine: own, theirs: fresh });
  }
  return conflicts.length > 0 ? { conflicts } : { text: merged.join('\n') };
}

/** Pieces between lines that all three have, and these lines themselves. */
function* regions(base: readonly string[], mine: readonly string[], theirs: readonly string[]): Generator<TextConflict> {
  const inMine = new Map(commonLines(base, mine));
  const inTheirs = new Map(commonLines(base, theirs));
  let [b, m, t] = [0, 0, 0];
  for (let at = 0; at <= base.length; at += 1) {
    const ends = at === base.length ? ([mine.length, theirs.length] as const) : ([inMine.get(at), inTheirs.get(at)] as const);
    const [untilMine, untilTheirs] = ends;
    if (untilMine === undefined || untilTheirs === undefined) continue;
    yield { line: b + 1, base: base.slice(b, at), mine: mine.slice(m, untilMine), theirs: theirs.slice(t, untilTheirs) };
    if (at < base.length) yield { line: at + 1, base: [base[at] ?? ''], mine: [base[at] ?? ''], theirs: [base[at] ?? ''] };
    [b, m, t] = [at + 1, untilMine + 1, untilTheirs + 1];
  }
}

/** Index pairs of a longest common subsequence, ascending. */
function commonLines(a: readonly string[], b: readonly string[]): readonly (readonly [number, number])[] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  const at = (i: number, j: number) => lengths[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    const row = lengths[i];
    for (let j = b.length - 1; j >= 0 && row; j -= 1) row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      pairs.push([i, j]);
      i += 1;
      j += 1;
    } else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return pairs;
}

function sameLines(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, index) => line === b[index]);
}
