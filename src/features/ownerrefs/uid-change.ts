import type { Profile } from '../../kernel/profile.ts';
import { isOlder, parseRelease, sameMinor } from '../../kernel/release.ts';

type Changes = Pick<Profile, 'uidChanges' | 'uidBackports'>;

/** True if the release serves the UIDs of after the first change, by itself or because its line got the change later (domain §7.2). */
export function convertsUids(release: string, changes: Changes): boolean {
  const [first] = changes.uidChanges;
  return first !== undefined && bringerOf(release, first, changes) !== undefined;
}

/** The release between `source` and `target` that changes UIDs; an unknown source is older, backports of it count too. */
export function uidChangeBetween(source: string | undefined, target: string, changes: Changes): string | undefined {
  if (parseRelease(target) === undefined) return undefined;
  const known = source === undefined || parseRelease(source) === undefined ? undefined : source;
  const brought = changes.uidChanges.flatMap((change) => {
    const isThere = known !== undefined && bringerOf(known, change, changes) !== undefined;
    return isThere ? [] : (bringerOf(target, change, changes) ?? []);
  });
  return brought[0];
}

/** The release that has the change first in this line: the change's own, or its backport's. */
function bringerOf(release: string, change: string, { uidChanges, uidBackports = [] }: Changes): string | undefined {
  if (!isOlder(release, change)) return change;
  if (change !== uidChanges[0]) return undefined;
  return uidBackports.find((one) => sameMinor(one, release) && !isOlder(release, one));
}
