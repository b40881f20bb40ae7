import type { ReleaseRange } from '../../kernel/defect.ts';
import { isOlder, parseRelease } from '../../kernel/release.ts';

/** Whether a release is of a range; an unknown one is of none. */
export function isInRange(release: string | undefined, { from, before }: ReleaseRange): boolean {
  if (release === undefined || !parseRelease(release)) return false;
  return !isOlder(release, from) && (before === undefined || isOlder(release, before));
}
