/** Lines `[from, to)` of the old text become lines `[start, end)` of the new one. */
export interface LineChange {
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly end: number;
}

/** Lines that are the same on both sides, from these places on. */
type Run = readonly [old: number, now: number, length: number];

/**
 * After this many differing lines the search for the shortest way (Myers) keeps what it has and begins again behind it. Texts without a
 * common line then cost linear time, not quadratic.
 */
const REACH = 500;

/** What differs, in order. Between two changes there is at least one line that both texts have. */
export function lineChanges(old: readonly string[], now: readonly string[], reach = REACH): readonly LineChange[] {
  const [a, b] = numbered(old, now);
  const changes: LineChange[] = [];
  let [from, start] = [0, 0];
  for (const [oldAt, nowAt, length] of [...commonRuns(a, b, reach), [a.length, b.length, 0] as const]) {
    if (oldAt > from || nowAt > start) changes.push({ from, to: oldAt, start, end: nowAt });
    [from, start] = [oldAt + length, nowAt + length];
  }
  return changes;
}

/** Equal lines have equal numbers: those are compared faster. */
function numbered(...texts: readonly [readonly string[], readonly string[]]): readonly [Int32Array, Int32Array] {
  const numbers = new Map<string, number>();
  const numberOf = (line: string) => {
    const known = numbers.get(line) ?? numbers.size;
    numbers.set(line, known);
    return known;
  };
  const [old, now] = texts.map((lines) => Int32Array.from(lines, numberOf));
  return [old ?? new Int32Array(), now ?? new Int32Array()];
}

/** Each change begins as far down as possible: at a new key, not at the last line of the one before. */
function* commonRuns(a: Int32Array, b: Int32Array, reach: number): Generator<Run> {
  let [x, y] = [0, 0];
  while (x < a.length || y < b.length) {
    const part = furthest(a.subarray(x), b.subarray(y), reach);
    for (const [old, now, length] of part.runs) yield [x + old, y + now, length];
    [x, y] = [x + part.x, y + part.y];
  }
}

/** No way leads there: it would leave one of the texts. */
const NONE = -1;

/** How far one gets in the old text with this many differing lines, on diagonal `2 × index - differing`: `x - y` of each point on it. */
type Row = Int32Array;

/** The shortest way from the beginning to the end, or as far as `reach` differing lines lead. */
function furthest(a: Int32Array, b: Int32Array, reach: number): { readonly runs: readonly Run[]; readonly x: number; readonly y: number } {
  const rows: Row[] = [];
  for (let differing = 0; ; differing += 1) {
    const row = new Int32Array(differing + 1);
    rows.push(row);
    let best = 0;
    for (let index = 0; index <= differing; index += 1) {
      const diagonal = 2 * index - differing;
      row[index] = along(a, b, entered(rows, differing, index, a.length, b.length), diagonal);
      if (row[index] === a.length && a.length - diagonal === b.length) return traced(rows, index, a.length, b.length);
      if (2 * at(row, index) - diagonal > 2 * at(row, best) - (2 * best - differing) || at(row, best) === NONE) best = index;
    }
    if (differing >= reach) return traced(rows, best, a.length, b.length);
  }
}

const at = (row: Row | undefined, index: number): number => row?.[index] ?? NONE;

/** Where a diagonal is entered: by one line less of the old text, or one line more of the new one. */
function entered(rows: readonly Row[], differing: number, index: number, oldLength: number, nowLength: number): number {
  if (differing === 0) return 0;
  const before = rows[differing - 1];
  const diagonal = 2 * index - differing;
  const [removed, added] = [at(before, index - 1), at(before, index)];
  const byRemoval = removed === NONE || removed >= oldLength ? NONE : removed + 1;
  const byAddition = added === NONE || added - diagonal > nowLength ? NONE : added;
  return Math.max(byRemoval, byAddition);
}

/** On over all lines that are the same. */
function along(a: Int32Array, b: Int32Array, entry: number, diagonal: number): number {
  let x = entry;
  if (x === NONE) return NONE;
  while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x += 1;
  return x;
}

/** The common lines of the way that leads to this point, in order. */
function traced(rows: readonly Row[], last: number, oldLength: number, nowLength: number) {
  const runs: Run[] = [];
  let index = last;
  for (let differing = rows.length - 1; differing >= 0; differing -= 1) {
    const diagonal = 2 * index - differing;
    const entry = entered(rows, differing, index, oldLength, nowLength);
    const length = at(rows[differing], index) - entry;
    if (length > 0) runs.push([entry, entry - diagonal, length]);
    const cameByAddition = at(rows[differing - 1], index) === entry && differing > 0;
    if (!cameByAddition) index -= 1;
  }
  const x = at(rows.at(-1), last);
  return { runs: runs.reverse(), x, y: x - (2 * last - (rows.length - 1)) };
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
