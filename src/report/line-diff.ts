import { structuredPatch } from 'diff';

/** Texts with more differing lines share little: one is shown gone, the other come, for the shortest way would take long to find. */
const REACH = 3_000;

/** As `diff -u` writes it, without its head; none where nothing differs. */
export function unifiedLines(old: readonly string[], now: readonly string[], around = 3): readonly string[] {
  const limits = { context: around, maxEditLength: REACH };
  const { hunks } = structuredPatch('', '', whole(old), whole(now), '', '', limits) ?? { hunks: [replaced(old, now)] };
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`,
    ...lines,
  ]);
}

const whole = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');

function replaced(old: readonly string[], now: readonly string[]) {
  const lines = [...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`)];
  return { oldStart: 1, oldLines: old.length, newStart: 1, newLines: now.length, lines };
}

/** An empty range is named by the line before it. */
function range(start: number, length: number): string {
  if (length === 0) return `${start - 1},0`;
  return length === 1 ? `${start}` : `${start},${length}`;
}
