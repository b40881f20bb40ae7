import type { Check } from '../../kernel/check.ts';
import * as endpoints from '../hosts/host-endpoints.ts';
import { chartUpgradable } from '../install-chart/chart-preflight.ts';
import * as target from '../install-manifest/target-checks.ts';
import { apiNamespaceStays } from '../install-operator/api-namespace.ts';
import { typhaOrderAhead } from '../install-operator/checks.ts';
import { mayRestoreLater } from '../ownerrefs/owner-rights-checks.ts';
import { ownerReferences, ownersSearchedFirst } from '../ownerrefs/owners-checks.ts';
import * as policies from '../policies/policies-checks.ts';
import * as health from '../rollout/rollout-health.ts';
import * as oldCli from '../service-cli/old-cli-checks.ts';
import * as mesh from '../sidecars/mesh-checks.ts';
import * as ownership from '../survey/ownership-checks.ts';
import * as source from '../survey/source-release-checks.ts';
import * as access from './access-checks.ts';
import * as advice from './advice-checks.ts';
import { aheadOfApply } from './ahead-checks.ts';
import * as crossings from './crossings-checks.ts';
import * as dataPlane from './data-plane-checks.ts';
import type { WholePreflight } from './facts.ts';
import * as installation from './installation-checks.ts';
import * as kubectl from './kubectl-checks.ts';
import * as machine from './machine-checks.ts';
import * as platform from './node-platform-checks.ts';
import * as nodes from './nodes-checks.ts';
import * as server from './server-checks.ts';
import * as stored from './stored-resources-checks.ts';
import * as settings from './target-settings-checks.ts';
import * as typha from './typha-checks.ts';
import * as workloads from './workload-settings-checks.ts';

/** The preflight's catalogue in the order in which it is shown: what everything else stands on comes first. */
export const preflightChecks: readonly Check<WholePreflight>[] = [
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
  oldCli.noOldCli,
  oldCli.noOldCliInCluster,
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
  mayRestoreLater,
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
