/** The face of this feature: all that other rooms may use of it. */
export {
  type ApplyJudged,
  applyChecks,
  baseKnown,
  checksAhead,
  nothingRefusedNow,
  type TargetJudged,
  targetChecks,
} from './apply-checks.ts';
export {
  type ApplyFacts,
  emptiedSecrets,
  emptyTargets,
  givesReplica,
  readApplyFacts,
  readStoreFacts,
  stoppedOperator,
  targetsOf,
} from './apply-facts.ts';
export { carriedOf } from './carried.ts';
export { readInstalledManifest } from './edits.ts';
export { manifestExpectations } from './effects.ts';
export type { Target } from './identity.ts';
export { leftoversIn, type MergedTarget, readMergedTarget } from './merged.ts';
export { created, isPending, type PreviewedObject, restartOf, withRestarts } from './outcome.ts';
export { leftBehind, NO_ORPHANS, type Orphans, readOrphans, unservedNotes } from './own-objects.ts';
export { ownershipNotes, takeOverOwnership } from './ownership-taken.ts';
export { podsAnswer } from './pods-admitted.ts';
export { podsAdmittedChecks } from './pods-admitted-checks.ts';
export { previewDocuments } from './preview.ts';
export { type ChartPlace, chartArgs, type HelmAnswer, helmOn, runHelm } from './run-helm.ts';
export type { Schema } from './schema.ts';
export { judgeBySchema } from './schema.ts';
export { addOnsOf, readReleaseManifest, readTarget, targetDocuments, variantOf } from './target.ts';
export { type TargetCrd, targetCrds, targetManifestChecks } from './target-checks.ts';
export { applyCrds, applyWhole, type CrdFacts, changes, readCrdFacts, readCrdManifest, waitForCrds } from './target-crds.ts';
