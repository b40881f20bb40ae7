import type { Check } from '../../kernel/check.ts';
import { controllersNotStopped, hostEndpointKinds, noFalseAutomatic, noFalseName } from '../hosts/index.ts';
import { chartUpgradable } from '../install-chart/index.ts';
import { kindsServed, noDuplicateEnvTarget, nothingRefused, selectorsEqual, targetReadable } from '../install-manifest/index.ts';
import { apiNamespaceStays, typhaOrderAhead } from '../install-operator/index.ts';
import { mayRestoreLater, ownerReferences, ownersSearchedFirst } from '../ownerrefs/index.ts';
import { copiesInGit, namesKept, noTemporaryPolicy, noTwins } from '../policies/index.ts';
import { agentsHealthy, controllersHealthy, typhaHealthy } from '../rollout/index.ts';
import { noOldCli, noOldCliInCluster } from '../service-cli/index.ts';
import { applicationLayerPolicy, sidecarsCanMount } from '../sidecars/index.ts';
import {
  noCrdsPruned,
  noNativeCrds,
  notGitOpsManaged,
  notPlatformManaged,
  oneRelease,
  sourceNotNewer,
  sourceSupported,
} from '../survey/index.ts';
import * as access from './access-checks.ts';
import * as advice from './advice-checks.ts';
import { memorySuffices } from './agent-memory-checks.ts';
import { aheadOfApply } from './ahead-checks.ts';
import { apiCertificateFits, certificatesValid } from './certificates-checks.ts';
import * as crossings from './crossings-checks.ts';
import * as dataPlane from './data-plane-checks.ts';
import type { WholePreflight } from './facts.ts';
import { nothingElseInNamespace } from './guarded-namespace-checks.ts';
import * as installation from './installation-checks.ts';
import { sourceDefects, targetDefects } from './known-defects-checks.ts';
import * as kubectl from './kubectl-checks.ts';
import * as machine from './machine-checks.ts';
import * as platform from './node-platform-checks.ts';
import * as nodes from './nodes-checks.ts';
import { addressesKept } from './nodes-checks.ts';
import { oneWriter } from './one-writer-checks.ts';
import { poolsWithinPodNetwork } from './pod-network-checks.ts';
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
  noOldCli,
  noOldCliInCluster,
  installation.installationFound,
  installation.installationUnambiguous,
  installation.noHalfMigration,
  installation.pathKnown,
  sourceSupported,
  sourceNotNewer,
  oneRelease,
  sourceDefects,
  noNativeCrds,
  notPlatformManaged,
  notGitOpsManaged,
  noCrdsPruned,
  oneWriter,
  advice.datastoreAdvice,
  advice.operatorAdvice,
  agentsHealthy,
  controllersHealthy,
  typhaHealthy,
  workloads.oneController,
  typha.typhaOrder,
  typhaOrderAhead,
  typha.typhaFits,
  workloads.updatesByItself,
  workloads.noDuplicateEnvLive,
  workloads.budgetsLeaveRoom,
  memorySuffices,
  nodes.nodesReady,
  nodes.noneCordoned,
  nodes.noPressure,
  platform.kernels,
  platform.processors,
  platform.windowsNodes,
  addressesKept,
  stored.storedValid,
  stored.noRemovedKinds,
  noTwins,
  stored.storedVersionsServed,
  dataPlane.loadBalancerAddresses,
  dataPlane.packetFilter,
  dataPlane.ebpf,
  targetReadable,
  targetDefects,
  kindsServed,
  nothingRefused,
  selectorsEqual,
  noDuplicateEnvTarget,
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
  poolsWithinPodNetwork,
  apiCertificateFits,
  certificatesValid,
  nothingElseInNamespace,
  crossings.tierKeepsName,
  crossings.gatewayDefinitionsFree,
  crossings.statusesCanEnd,
  ownerReferences,
  applicationLayerPolicy,
  sidecarsCanMount,
  hostEndpointKinds,
  noFalseAutomatic,
  noFalseName,
  controllersNotStopped,
  noTemporaryPolicy,
  namesKept,
  copiesInGit,
];
