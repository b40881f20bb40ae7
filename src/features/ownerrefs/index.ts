/** The face of this feature: all that other rooms may use of it. */
export { ownerEffects, ownerGuards } from './effects.ts';
export type { OwnerReferences, OwnersJudged } from './owner-facts.ts';
export type { OwnedFate, ReferenceFate } from './owner-fate.ts';
export { noneLeft, ownersSearched } from './owner-references-checks.ts';
export { journalWhole, ownersChecks } from './owners-checks.ts';
export { readOwnersAtDeadline, withRights } from './put-back.ts';
export { followOwners, lackingOf, type OwnersFollowed, readReferences, sourceOf, wayOf } from './references.ts';
export { readRestoreFacts } from './restore-facts.ts';
export type { Awaited, UpgradeWaits } from './restore-ready.ts';
export { forgetStage, restoreStage } from './restore-stage.ts';
export { ownerrefsStripStage } from './strip-stage.ts';
export { scanOwned } from './survey.ts';
export { changesUids } from './uid-change.ts';
