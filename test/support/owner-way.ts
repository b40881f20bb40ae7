import type { Way } from '../../src/features/ownerrefs/removal-rule.ts';

/** Within one release, of a service that converts UIDs and renames policies. */
export const NO_WAY: Way = {
  changesUids: false,
  changesNotes: false,
  asksStoredNames: true,
  crossesRenaming: false,
  renames: true,
  keepsUids: false,
  hasBegun: false,
  targetConverts: true,
};

/** From before v3.28 to v3.32. */
export const WHOLE_WAY: Way = { ...NO_WAY, changesUids: true, changesNotes: true, crossesRenaming: true };
