import type { DefectLine, ReleaseRange } from '../../kernel/defect.ts';
import { isOlder, parseRelease, sameMinor } from '../../kernel/release.ts';

/** Whether a release is of a range; an unknown one is of none. */
export function isInRange(release: string | undefined, { from, before }: ReleaseRange): boolean {
  if (release === undefined || !parseRelease(release)) return false;
  return !isOlder(release, from) && (before === undefined || isOlder(release, before));
}

/** Whether a release has the defect; an unknown one has none. A line that is newer than all that were looked up is as the last of them ends. */
export function hasDefect(release: string | undefined, lines: readonly DefectLine[]): boolean {
  if (release === undefined || !parseRelease(release)) return false;
  const own = lines.find(({ from }) => sameMinor(from, release));
  const last = lines.at(-1);
  if (own === undefined) return last !== undefined && 'openOn' in last && isOlder(last.from, release);
  return isInRange(release, { from: own.from, ...('fixedIn' in own ? { before: own.fixedIn } : {}) });
}

/** The first release after this one without the defect: of its own line if that has one, else of the next that has. */
export function fixAfter(release: string, lines: readonly DefectLine[]): string | undefined {
  const fixes = lines.flatMap((line) => ('fixedIn' in line ? [line.fixedIn] : []));
  return fixes.find((fix) => sameMinor(fix, release) && isOlder(release, fix)) ?? fixes.find((fix) => isOlder(release, fix));
}
