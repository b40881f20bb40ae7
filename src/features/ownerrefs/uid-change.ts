import type { Context } from '../../kernel/context.ts';
import type { Profile } from '../../kernel/profile.ts';
import { crosses, isOlder, parseRelease, sameMinor } from '../../kernel/release.ts';

type Changes = Pick<Profile, 'uidChanges' | 'uidBackports'>;

export interface UidChanges {
  /** Release that changes the UIDs of all v3 objects. */
  readonly all?: string;
  /** Release that stores policies again. */
  readonly policies?: string;
}

/** What changes UIDs on the way from `source` to the target; the search for owner references is only needed then. */
export function uidChanges(source: string | undefined, { profile, options }: Pick<Context, 'profile' | 'options'>): UidChanges {
  const all = uidChangeBetween(source, options.release, profile);
  const since = profile.policyRenaming?.since;
  const policies = since !== undefined && !options.holdPolicyMigration && crosses(source, options.release, since) ? since : undefined;
  return { ...(all === undefined ? {} : { all }), ...(policies === undefined ? {} : { policies }) };
}

/** True if something between the source and the target changes UIDs, whether or not the renaming of policies is held. */
export function changesUids(source: string | undefined, { profile, options }: Pick<Context, 'profile' | 'options'>): boolean {
  const { all, policies } = uidChanges(source, { profile, options: { ...options, holdPolicyMigration: false } });
  return (all ?? policies) !== undefined;
}

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
