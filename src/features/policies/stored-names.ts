import type { Profile } from '../../kernel/profile.ts';

/** Names under which clients of one release or another store it; its own first. */
export function storedNames({ temporaryPolicy, policyRenaming }: Profile): readonly string[] {
  return [temporaryPolicy, ...(policyRenaming ? [`${policyRenaming.prefix}${temporaryPolicy}`] : [])];
}
