/** The face of this feature: all that other rooms may use of it. */

export { manifestPreconditions, readAdded, removeAdded } from './added.ts';
export {
  type ApplyJudged,
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
  readStoreFacts,
  stoppedOperator,
  targetsOf,
} from './apply-facts.ts';
export { carriedOf, unkeptNotes } from './carried.ts';
export { manifestExpectations } from './effects.ts';
export { finishedFile } from './finished.ts';
export { type FoundTarget, findCrds, findOwnTarget, joinedTarget, withoutTarget } from './found-target.ts';
export type { Target } from './identity.ts';
export { leftoversIn, type MergedTarget, readMergedTarget } from './merged.ts';
export { created, restartOf, withRestarts } from './outcome.ts';
export { gitDocuments, imageDocuments, writtenDocuments } from './own-documents.ts';
export { leftBehind, NO_ORPHANS, type Orphans, readOrphans, unservedNotes } from './own-objects.ts';
export { keyValuePath, manifestPath } from './path.ts';
export { podsAnswer } from './pods-admitted.ts';
export { podsAdmittedChecks } from './pods-admitted-checks.ts';
export { type ChartPlace, chartArgs, type HelmAnswer, helmOn, runHelm } from './run-helm.ts';
export type { Schema } from './schema.ts';
export { judgeBySchema, prunedFields } from './schema.ts';
export { ownFile, ownFiles, readTarget } from './target.ts';
export { type TargetCrd, targetCrds, targetManifestChecks } from './target-checks.ts';
export { applyCrds, applyWhole, type CrdFacts, changes, readCrdFacts, readCrdManifest } from './target-crds.ts';
export { readStopped } from './way-back.ts';
