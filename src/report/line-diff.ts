import { diffArrays } from 'diff';

/** Lines `[from, to)` of the old text become lines `[start, end)` of the new one. */
export interface LineChange {
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly end: number;
}

/** Texts with more differing lines share little: one is shown gone, the other come, for the shortest way would take long to find. */
const REACH = 3_000;

/** What differs, in order. Between two changes there is at least one line that both texts have. */
export function lineChanges(old: readonly string[], now: readonly string[], reach = REACH): readonly LineChange[] {
  const parts = diffArrays([...old], [...now], { maxEditLength: reach });
  if (!parts) return [{ from: 0, to: old.length, start: 0, end: now.length }];
  const changes: LineChange[] = [];
  let [from, start] = [0, 0];
  for (const { removed, added, count } of parts) {
    const last = changes.at(-1);
    const [to, end] = [added ? from : from + count, removed ? start : start + count];
    if (last && (removed || added) && last.to === from && last.end === start) changes.splice(-1, 1, { ...last, to, end });
    else if (removed || added) changes.push({ from, to, start, end });
    [from, start] = [to, end];
  }
  return changes;
}

/** As `diff -u` writes it, without its head; none where nothing differs. */
export function unifiedLines(old: readonly string[], now: readonly string[], around = 3): readonly string[] {
  const groups: LineChange[][] = [];
  for (const change of lineChanges(old, now)) {
    const last = groups.at(-1)?.at(-1);
    if (last && change.from - last.to <= 2 * around) groups.at(-1)?.push(change);
    else groups.push([change]);
  }
  return groups.flatMap((group) => hunk(old, now, group, around));
}

function hunk(old: readonly string[], now: readonly string[], group: readonly LineChange[], around: number): readonly string[] {
  const [first, last] = [group[0], group.at(-1)];
  if (!first || !last) return [];
  const before = Math.min(around, first.from);
  const after = Math.min(around, old.length - last.to);
  const lines = group.flatMap(({ from, to, start, end }, index) => [
    ...marked(' ', old.slice(group[index - 1]?.to ?? first.from - before, from)),
    ...marked('-', old.slice(from, to)),
    ...marked('+', now.slice(start, end)),
  ]);
  const oldRange = range(first.from - before, last.to + after);
  return [
    `@@ -${oldRange} +${range(first.start - before, last.end + after)} @@`,
    ...lines,
    ...marked(' ', old.slice(last.to, last.to + after)),
  ];
}

const marked = (sign: string, lines: readonly string[]) => lines.map((line) => `${sign}${line}`);

/** Counted from 1; an empty range is named by the line before it. */
function range(from: number, to: number): string {
  const length = to - from;
  if (length === 0) return `${from},0`;
  return length === 1 ? `${from + 1}` : `${from + 1},${length}`;
}
