/** What the way to the target does to UIDs and names: decided from releases, before any reference is read (§4.8; domain §7.2). */
export interface Way {
  /** The v3 API of the target serves other UIDs than that of the source. */
  readonly changesUids: boolean;
  /** It shows owners that are noted on v3 objects with other UIDs. */
  readonly changesNotes: boolean;
  /** It finds a policy only by the name that this is stored under (host endpoint notes 0.5). */
  readonly asksStoredNames: boolean;
  /** It is the first release on this way that does so, and the run has not begun to replace the API server. */
  readonly crossesRenaming: boolean;
  /** The target's controllers store policies again, under their names, unless they are told not to. */
  readonly renames: boolean;
  /** The datastore keeps UIDs itself (key-value): they are never converted. */
  readonly keepsUids: boolean;
  /** The run has begun to replace the API server: an owner may have its new UID already. */
  readonly hasBegun: boolean;
  readonly targetConverts: boolean;
  /** Only of a rollback. */
  readonly back?: WayBack;
}

/** What a rollback does to UIDs and names: nobody knows how far the upgrade came, so each reference is evaluated by its own UID. */
export interface WayBack {
  /** The old release finds policies of the default tier only under names with it: they are stored so again. */
  readonly prefix?: string;
}

/** What is known of a reference to one of the service's resources. */
export interface Standing {
  /** It names the stored object of the CRD group, not the one of the v3 group. */
  readonly isStored: boolean;
  /** It is noted on an object of the v3 API. */
  readonly isNoted: boolean;
  /** The API serves its owner under this UID; undefined where nobody could read that. */
  readonly isAlive: boolean | undefined;
  /** It has the UID under which the target serves its owner. */
  readonly hasNewUid: boolean;
  /** Its owner is a policy that is stored under another name, or nobody sees under which one. */
  readonly isStoredOtherwise: boolean;
  /** It has the UID of the stored object, under which the API still serves it, or serves it no longer. */
  readonly namesStoredUid: boolean;
}

/** Why a reference is removed before the upgrade. */
export type Removal =
  /** The target finds its policy by another name, or the policy is stored again. */
  | 'stored-name'
  /** UIDs of the v3 API change on this way. */
  | 'uid-change'
  /** The same in a key-value store, where UIDs stay: the procedure makes no exception. */
  | 'key-value'
  /** It names the stored UID, and the target serves the converted one, or the API does already. */
  | 'stored-uid';

/** Why this reference has to be removed before the upgrade, or the rollback; undefined if it may stay (§4.8/1). */
export function removalOf(standing: Standing, way: Way): Removal | undefined {
  const { isStored, isNoted, isAlive, isStoredOtherwise, namesStoredUid } = standing;
  if (namesStoredUid && !isStored && !isAlive) return 'stored-uid';
  // Without its owner there is nothing that it could be put back to.
  if (isAlive === false) return undefined;
  if (isStoredOtherwise && losesPolicies(way, isStored)) return 'stored-name';
  const isMeant = isNoted ? way.changesUids || way.changesNotes : way.changesUids && !isStored;
  // What a resumed run has put back stays.
  const isBack = (way.hasBegun || way.back !== undefined) && (way.keepsUids || standing.hasNewUid);
  if (isMeant && !isBack) return way.keepsUids ? 'key-value' : 'uid-change';
  // An API server that is older than releases say: nobody has identified it.
  return namesStoredUid && !isStored && way.targetConverts ? 'stored-uid' : undefined;
}

/**
 * Whether references to policies that are stored under other names are removed. Where nobody renames these (canal), or sees how they are
 * stored (key-value), one upgrade removes them, and later runs leave what was put back.
 */
function losesPolicies({ asksStoredNames, crossesRenaming, renames, keepsUids, back }: Way, isStored: boolean): boolean {
  if (back) return back.prefix !== undefined && !keepsUids;
  return crossesRenaming || (isStored ? renames : asksStoredNames && !keepsUids);
}
