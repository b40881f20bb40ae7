/** The face of this feature: all that other rooms may use of it. */

export { allContainersOf, containersOf, isNamed, shapeOf } from '../../kube/workload.ts';
export { hasApplied, replacesApi } from './applied.ts';
export { backupFolder } from './backup-folder.ts';
export {
  ageOf,
  type CliAge,
  type CliVersion,
  cliConfigField,
  clientRelease,
  listedSum,
  parseCliVersion,
  showByCli,
  showPoliciesByCli,
} from './cli-version.ts';
export { isFromRegistry, isImageOf, serviceNamespaces } from './components.ts';
export { detectReading, readInstalled } from './detect.ts';
export type {
  AccessAnswer,
  ApiEndpoint,
  CliFile,
  OperatedFacts,
  PodView,
  PodWebhook,
  PreflightFacts,
  PulledImages,
  SecretCertificate,
  StoredBehindCli,
  TargetFacts,
} from './facts.ts';
export { AUTOSCALER, takersOf, writerBehind, writesAgain } from './field-takers.ts';
export { passes, valuesAt } from './field-test.ts';
export { PROBE_LABEL, readInventory } from './inventory.ts';
export { gitOpsOwners, toolOf } from './managed-by.ts';
export { readOperated } from './operated.ts';
export { managedChecks, ownershipChecks } from './ownership-checks.ts';
export {
  eitherWay,
  oldestOf,
  oldestRelease,
  type PathPart,
  type PathParts,
  pathPart,
  pathStage,
  rememberOf,
  unknownEnd,
} from './path-stage.ts';
export { readPinnedImages } from './pinned-images.ts';
export { attempt, attemptWith, LeftOut, listServed, liveOf, resourcesOf } from './reading.ts';
export { operatorRelease } from './release-evidence.ts';
export {
  isBookkeeping,
  podView,
  readAgentConfig,
  readClient,
  readInjectors,
  readProxyMode,
  readResources,
  readWorkFolder,
  withStoredVersions,
} from './resources.ts';
export { explained, sourceRelease } from './source-release.ts';
export { sourceChecks, sourceReleaseChecks } from './source-release-checks.ts';
export { deletionOf, lockOf } from './unfinished.ts';
export { beingDeleted, judgeDeletions, judgeUnfinished, procedures, refusedByTarget } from './unfinished-checks.ts';
export type { SourceJudged } from './verdicts.ts';
export {
  type Detail,
  detailOf,
  evidenceOf,
  FIRST,
  failed,
  failIfAny,
  installationIn,
  listed,
  objectsOf,
  type PreflightCheck,
  readTarget,
  sameFile,
  specOf,
  table,
  withInstallation,
  withResources,
  withTarget,
} from './verdicts.ts';
