import type { Check } from '../core/check.ts';
import * as access from './access.ts';
import * as advice from './advice.ts';
import { aheadOfApply } from './ahead.ts';
import { apiNamespaceStays } from './api-namespace.ts';
import { chartUpgradable } from './chart-preflight.ts';
import * as crossings from './crossings.ts';
import * as dataPlane from './data-plane.ts';
import type { PreflightFacts } from './facts.ts';
import * as endpoints from './host-endpoints.ts';
import * as installation from './installation.ts';
import * as kubectl from './kubectl.ts';
import * as machine from './machine.ts';
import * as mesh from './mesh.ts';
import * as platform from './node-platform.ts';
import * as nodes from './nodes.ts';
import { typhaOrderAhead } from './operator.ts';
import { ownerReferences, ownersSearchedFirst } from './owners.ts';
import * as ownership from './ownership.ts';
import * as policies from './policies.ts';
import * as health from './rollout-health.ts';
import * as server from './server.ts';
import * as source from './source-release.ts';
import * as stored from './stored-resources.ts';
import * as target from './target.ts';
import * as settings from './target-settings.ts';
import * as typha from './typha.ts';
import * as workloads from './workload-settings.ts';

/** The preflight's catalogue in the order in which it is shown: what everything else stands on comes first. */
export const preflightChecks: readonly Check<PreflightFacts>[] = [
  server.apiReachable,
  server.kubernetesVersion,
  server.clockSkew,
  server.discoveryComplete,
  server.apiServicesAvailable,
  server.namespacesTerminating,
  access.permissions,
  access.stateNamespace,
  access.lockFree,
  access.recordFits,
  kubectl.kubectlFound,
  kubectl.kubectlNewEnough,
  kubectl.kubectlSkew,
  machine.chartTool,
  machine.workFolder,
  machine.noOldCli,
  machine.noOldCliInCluster,
  installation.installationFound,
  installation.installationUnambiguous,
  installation.noHalfMigration,
  installation.pathKnown,
  source.sourceSupported,
  source.sourceNotNewer,
  source.oneRelease,
  ownership.noNativeCrds,
  ownership.notPlatformManaged,
  ownership.notGitOpsManaged,
  ownership.noCrdsPruned,
  advice.datastoreAdvice,
  advice.operatorAdvice,
  health.agentsHealthy,
  health.controllersHealthy,
  health.typhaHealthy,
  workloads.oneController,
  typha.typhaOrder,
  typhaOrderAhead,
  typha.typhaFits,
  workloads.updatesByItself,
  workloads.noDuplicateEnvLive,
  workloads.budgetsLeaveRoom,
  nodes.nodesReady,
  nodes.noneCordoned,
  nodes.noPressure,
  platform.kernels,
  platform.processors,
  platform.windowsNodes,
  stored.storedValid,
  stored.noRemovedKinds,
  policies.noTwins,
  stored.storedVersionsServed,
  dataPlane.loadBalancerAddresses,
  dataPlane.packetFilter,
  dataPlane.ebpf,
  target.targetReadable,
  target.kindsServed,
  target.nothingRefused,
  target.selectorsEqual,
  target.noDuplicateEnvTarget,
  chartUpgradable,
  settings.imagesReachable,
  ...aheadOfApply,
  settings.mtuUnchanged,
  ownersSearchedFirst,
  apiNamespaceStays,
  crossings.imageSetThere,
  crossings.settingsTaken,
  crossings.poolsAlike,
  crossings.tierKeepsName,
  crossings.gatewayDefinitionsFree,
  crossings.statusesCanEnd,
  ownerReferences,
  mesh.applicationLayerPolicy,
  mesh.sidecarsCanMount,
  endpoints.hostEndpointKinds,
  endpoints.noFalseAutomatic,
  endpoints.noFalseName,
  endpoints.controllersNotStopped,
  policies.noTemporaryPolicy,
  policies.namesKept,
];
