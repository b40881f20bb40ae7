const SHORTEST_START = 3;

/** The known name that was most likely meant: one with few letters different, else one that begins so; undefined if there is none. */
export function nearest(written: string, known: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(written.length / 3) + (written.length > 4 ? 1 : 0));
  const ranked = known.map((name) => ({ name, distance: distance(written.toLowerCase(), name.toLowerCase()) }));
  ranked.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  const best = ranked[0];
  if (best && best.distance <= limit) return best.name;
  return written.length >= SHORTEST_START ? known.find((name) => name.startsWith(written.toLowerCase())) : undefined;
}

/** Edits (insert, delete, replace, swap neighbours) between two words. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const at = (list: readonly number[], index: number) => list[index] ?? Number.POSITIVE_INFINITY;
      let best = Math.min(at(row, j) + 1, at(next, j - 1) + 1, at(row, j - 1) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, at(before, j - 2) + 1);
      next.push(best);
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
