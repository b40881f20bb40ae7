import type { FormerNames, Profile } from '../../kernel/profile.ts';
import { isOlder } from '../../kernel/release.ts';

/** How the release that is gone back to stores and shows policies of the default tier. */
export interface Naming extends FormerNames {
  readonly prefix: string;
  /** Its agents read a policy's tier in the stored name. */
  readonly tierInName: boolean;
}

type Names = Pick<Profile, 'policyRenaming' | 'olderReaders'>;

/** Undefined for a release that stores policies under their own names, and where no other is known. */
export function namingOf(release: string, { policyRenaming, olderReaders }: Names): Naming | undefined {
  if (!policyRenaming || !olderReaders || !isOlder(release, policyRenaming.since)) return undefined;
  const row = olderReaders.policyNames.findLast(({ since }) => !isOlder(release, since));
  return row && { ...row, prefix: policyRenaming.prefix, tierInName: !isOlder(release, olderReaders.tiersSince) };
}

/** No release gives it the prefix, or it has it: the release asks for it by this very name. */
export function isStoredSo(stored: string, { prefix, unprefixed }: Naming): boolean {
  return [prefix, ...unprefixed].some((one) => stored.startsWith(one));
}

/** The name that the release asks for, of a policy of the default tier with this name in the v3 API. */
export function formerName(name: string, { prefix }: Naming): string {
  return name.startsWith(prefix) ? name : `${prefix}${name}`;
}

/** Longer names Kubernetes refuses. */
const LONGEST = 253;

/** Why the release cannot have a policy of the default tier under that name; undefined if it can. */
export function whyNoName(name: string, naming: Naming): string | undefined {
  const former = formerName(name, naming);
  const over = former.length - LONGEST;
  if (over > 0) return `${former} would be too long by ${over}`;
  if (!former.slice(naming.prefix.length).includes('.')) return undefined;
  return naming.tierInName
    ? 'its agents take what stands before the dot for a tier'
    : 'it refuses to change policies with a dot in the name';
}
