import type { Context } from '../../kernel/context.ts';
import { type Installation, isKeyValue } from '../../kernel/installation.ts';
import type { Profile } from '../../kernel/profile.ts';
import { crosses, isOlder, parseRelease, sameMinor } from '../../kernel/release.ts';
import { asksStoredNames, neverRenames } from '../policies/index.ts';
import type { Way } from './removal-rule.ts';

type Changes = Pick<Profile, 'uidChange' | 'uidBackports'>;

/** True if the release's API server serves converted UIDs, by itself or because its line got the change later (domain §7.2). */
export function convertsUids(release: string | undefined, { uidChange, uidBackports = [] }: Changes): boolean {
  if (uidChange === undefined || release === undefined || parseRelease(release) === undefined) return false;
  return !isOlder(release, uidChange) || uidBackports.some((one) => sameMinor(one, release) && !isOlder(release, one));
}

/** True if it converts noted owners as well: no backport does. */
function convertsNotes(release: string | undefined, { uidChange }: Changes): boolean {
  return convertsUids(release, uidChange === undefined ? {} : { uidChange });
}

/** True if something between the source and the target changes UIDs or names of owners; an unknown source counts as older. */
export function changesUids(source: string | undefined, { profile, goal }: Pick<Context, 'profile' | 'goal'>): boolean {
  const { release } = goal;
  return (
    convertsUids(source, profile) !== convertsUids(release, profile) ||
    convertsNotes(source, profile) !== convertsNotes(release, profile) ||
    crossesRenaming(source, { profile, goal })
  );
}

function crossesRenaming(source: string | undefined, { profile, goal }: Pick<Context, 'profile' | 'goal'>): boolean {
  const since = profile.policyRenaming?.since;
  return since !== undefined && crosses(source, goal.release, since);
}

/** What the way from `source` to the target does to UIDs and names; `hasBegun`: this run replaces the API server, or has. */
export function wayFrom(source: string | undefined, installation: Installation, context: Context, hasBegun: boolean): Way {
  const { profile, goal } = context;
  const asks = asksStoredNames(context);
  return {
    changesUids: convertsUids(source, profile) !== convertsUids(goal.release, profile),
    changesNotes: convertsNotes(source, profile) !== convertsNotes(goal.release, profile),
    asksStoredNames: asks,
    crossesRenaming: crossesRenaming(source, context) && !hasBegun,
    renames: asks && neverRenames(installation, profile) === undefined,
    keepsUids: isKeyValue(installation),
    hasBegun,
    targetConverts: convertsUids(goal.release, profile),
  };
}
