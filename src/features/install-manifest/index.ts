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
export { type ApplyFacts, readApplyFacts } from './apply-facts.ts';
export { emptyTargets, givesReplica, stoppedOperator } from './at-zero.ts';
export { carriedOf } from './carried.ts';
export { previewDocuments } from './documents.ts';
export { type EditSurvey, readInstalledManifest } from './edits.ts';
export { manifestExpectations } from './effects.ts';
export { applyWhole, changes } from './file.ts';
export {
  type ChartPlace,
  chartArgs,
  dryRunsOnServer,
  type HelmStorage,
  type HelmUpgrade,
  type HelmVersion,
  helmInstall,
  helmPull,
  helmShow,
  helmTemplate,
  helmUpgrade,
  helmVersion,
  keepsValues,
  parseHelmVersion,
} from './helm-argv.ts';
export {
  chartValue,
  deniedAdditions,
  forgottenValues,
  leafNames,
  overlaid,
  type Pin,
  pinsOf,
  type Setting,
  settingsFor,
  settingValues,
} from './helm-values.ts';
export { emptiedSecrets, readStoreFacts } from './kvstore-facts.ts';
export { leftoversIn } from './leftovers.ts';
export { type MergedTarget, readMergedTarget } from './merged.ts';
export { leftBehind, NO_ORPHANS, type Orphans, readOrphans, unservedNotes } from './orphans.ts';
export { isPending, type PreviewedObject } from './outcome.ts';
export { ownershipNotes, takeOverOwnership } from './ownership-taken.ts';
export { podsAnswer } from './pods-admitted.ts';
export { podsAdmittedChecks } from './pods-admitted-checks.ts';
export { restartOf, withRestarts } from './restarts.ts';
export { targetsOf } from './rollout-targets.ts';
export { type HelmAnswer, runHelm } from './run-helm.ts';
export { judgeBySchema } from './schema.ts';
export type { Schema } from './schema-defaults.ts';
export { addOnsOf, readReleaseManifest, readTarget, targetDocuments, variantOf } from './target.ts';
export { targetManifestChecks } from './target-checks.ts';
export { applyCrds, type CrdFacts, readCrdFacts, readCrdManifest } from './target-crds.ts';
export { type TargetCrd, targetCrds } from './target-crds-checks.ts';
export type { Target } from './target-file.ts';
export { waitForCrds } from './wait-crds.ts';
