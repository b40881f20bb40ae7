/** The face of this feature: all that other rooms may use of it. */
export { isApiAway, replacesApi } from './api-away.ts';
export {
  ageOf,
  type CliAge,
  type CliVersion,
  datastoreOf,
  listedSum,
  parseCliVersion,
  showPoliciesByCli,
  withStoredVersions,
} from './cli-version.ts';
export { isOfService, serviceNamespaces } from './components.ts';
export { detectReading } from './detect.ts';
export type {
  AccessAnswer,
  ClientFacts,
  CliFile,
  Dependent,
  OperatedFacts,
  OwnerRights,
  OwnerScan,
  PodView,
  PodWebhook,
  PreflightFacts,
  SecretCertificate,
  StoredBehindCli,
  TargetFacts,
} from './facts.ts';
export { AUTOSCALER, takersOf, writerBehind, writesAgain } from './field-takers.ts';
export { isFromRegistry, isImageOf } from './find-agents.ts';
export { gitOpsOwners } from './gitops.ts';
export { readInstalled } from './installed.ts';
export { PROBE_LABEL, readInventory } from './inventory.ts';
export { readClient, readWorkFolder } from './machine.ts';
export { injectorRevision, type MeshRevision, meshRevisions } from './mesh-sign.ts';
export { readOperated } from './operated.ts';
export { operatorRelease } from './operator-sign.ts';
export { noCrdsPruned, noNativeCrds, ownershipChecks } from './ownership-checks.ts';
export { type PathPart, pathPart, pathStage, unknownEnd } from './path-stage.ts';
export { podView } from './pods.ts';
export { attempt, attemptWith, eachOf } from './reading.ts';
export { oldestOf, oldestRelease, rememberOf, serverReleases } from './remember-installed.ts';
export { objectsOf, specOf, withResources } from './resource-checks.ts';
export { readAgentConfig, readInjectors, readProxyMode, readResources } from './resources.ts';
export { sameFile } from './same-file.ts';
export {
  crosses,
  explained,
  notAfterLine,
  sourceChecks,
  sourceNotNewer,
  sourceRelease,
  sourceReleaseChecks,
  sourceSupported,
} from './source-release-checks.ts';
export type { SourceJudged } from './verdicts.ts';
export {
  evidenceOf,
  failed,
  failIfAny,
  hasFullManifest,
  listed,
  PROGRAM,
  type PreflightCheck,
  readTarget,
  withInstallation,
  withTarget,
} from './verdicts.ts';
export { containersOf } from './workload.ts';
