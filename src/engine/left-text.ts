/** What was left behind, in one line; undefined if nothing was. */
export function leftText(left: ReadonlyMap<string, string>): string | undefined {
  if (left.size === 0) return undefined;
  return `left behind: ${[...left].map(([what, why]) => `${what} (${why})`).join('; ')}`;
}
