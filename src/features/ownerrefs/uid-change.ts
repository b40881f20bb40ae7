import type { Context } from '../../kernel/context.ts';
import { type Installation, isKeyValue } from '../../kernel/installation.ts';
import { intentWords } from '../../kernel/intent.ts';
import type { Profile } from '../../kernel/profile.ts';
import { crosses, isOlder, parseRelease, sameMinor } from '../../kernel/release.ts';
import { asksStoredNames, neverRenames } from '../policies/index.ts';
import type { Way, WayBack } from './removal-rule.ts';

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

type Going = Pick<Context, 'profile' | 'goal' | 'intent'>;

/** True if something between the source and the target changes UIDs or names of owners; an unknown source counts as older. */
export function changesUids(source: string | undefined, context: Going): boolean {
  const { profile, goal } = context;
  const { release } = goal;
  const back = wayBackOf(context);
  if (back) return !convertsNotes(release, profile) || back.prefix !== undefined;
  return (
    convertsUids(source, profile) !== convertsUids(release, profile) ||
    convertsNotes(source, profile) !== convertsNotes(release, profile) ||
    crossesRenaming(source, context)
  );
}

function crossesRenaming(source: string | undefined, { profile, goal }: Going): boolean {
  const since = profile.policyRenaming?.since;
  return since !== undefined && crosses(source, goal.release, since);
}

/** Undefined in an upgrade. */
function wayBackOf({ profile: { policyRenaming }, goal, intent }: Going): WayBack | undefined {
  if (!intentWords(intent).goesBack) return undefined;
  return policyRenaming && isOlder(goal.release, policyRenaming.since) ? { prefix: policyRenaming.prefix } : {};
}

/** What the way from `source` to the target does to UIDs and names; `hasBegun`: this run replaces the API server, or has. */
export function wayFrom(source: string | undefined, installation: Installation, context: Context, hasBegun: boolean): Way {
  const { profile, goal } = context;
  const asks = asksStoredNames(context);
  const back = wayBackOf(context);
  const target = { uids: convertsUids(goal.release, profile), notes: convertsNotes(goal.release, profile) };
  return {
    // What is gone back from converts, or nothing changes: a reference that has its old UID stays.
    changesUids: back ? !target.uids : convertsUids(source, profile) !== target.uids,
    changesNotes: back ? !target.notes : convertsNotes(source, profile) !== target.notes,
    asksStoredNames: asks,
    crossesRenaming: !back && crossesRenaming(source, context) && !hasBegun,
    renames: asks && neverRenames(installation, profile) === undefined,
    keepsUids: isKeyValue(installation),
    hasBegun,
    targetConverts: target.uids,
    ...(back ? { back } : {}),
  };
}
