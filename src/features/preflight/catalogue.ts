import type { Check } from '../../kernel/check.ts';
import { hostEndpointChecks } from '../hosts/index.ts';
import { chartPreflightChecks } from '../install-chart/index.ts';
import { podsAdmittedChecks, targetManifestChecks } from '../install-manifest/index.ts';
import { apiNamespaceChecks, typhaOrderChecks } from '../install-operator/index.ts';
import { ownerRightsChecks, ownersChecks } from '../ownerrefs/index.ts';
import { policiesChecks, policiesInGitChecks } from '../policies/index.ts';
import { rolloutHealthChecks } from '../rollout/index.ts';
import { noOldCli, oldCliChecks } from '../service-cli/index.ts';
import { meshChecks } from '../sidecars/index.ts';
import { noCrdsPruned, noNativeCrds, ownershipChecks, sourceNotNewer, sourceReleaseChecks, sourceSupported } from '../survey/index.ts';
import { accessChecks } from './access-checks.ts';
import { adviceChecks } from './advice-checks.ts';
import { agentMemoryChecks } from './agent-memory-checks.ts';
import { aheadOfApply } from './ahead-checks.ts';
import { apiReachableChecks } from './api-reachable-checks.ts';
import { certificatesChecks } from './certificates-checks.ts';
import { crossingsChecks } from './crossings-checks.ts';
import { dataPlaneChecks } from './data-plane-checks.ts';
import type { WholePreflight } from './facts.ts';
import { guardedNamespaceChecks } from './guarded-namespace-checks.ts';
import { installationChecks } from './installation-checks.ts';
import { knownDefectsChecks } from './known-defects-checks.ts';
import { kubectlFound, kubectlNewEnough, kubectlSkewChecks } from './kubectl-checks.ts';
import { machineChecks } from './machine-checks.ts';
import { nodePlatformChecks } from './node-platform-checks.ts';
import { nodesChecks } from './nodes-checks.ts';
import { oneWriterChecks } from './one-writer-checks.ts';
import { podNetworkChecks } from './pod-network-checks.ts';
import { podWebhooksChecks } from './pod-webhooks-checks.ts';
import { serverChecks } from './server-checks.ts';
import { storedResourcesChecks } from './stored-resources-checks.ts';
import { targetSettingsChecks } from './target-settings-checks.ts';
import { typhaChecks } from './typha-checks.ts';
import { workloadSettingsChecks } from './workload-settings-checks.ts';

/** The preflight's catalogue in the order in which it is shown: what everything else stands on comes first. */
export const preflightChecks: readonly Check<WholePreflight>[] = [
  ...serverChecks,
  ...accessChecks,
  kubectlFound,
  kubectlNewEnough,
  ...kubectlSkewChecks,
  ...machineChecks,
  noOldCli,
  ...oldCliChecks,
  ...installationChecks,
  sourceSupported,
  sourceNotNewer,
  ...sourceReleaseChecks,
  ...knownDefectsChecks,
  noNativeCrds,
  ...ownershipChecks,
  noCrdsPruned,
  ...oneWriterChecks,
  ...adviceChecks,
  ...rolloutHealthChecks,
  ...workloadSettingsChecks,
  ...podWebhooksChecks,
  ...typhaChecks,
  ...typhaOrderChecks,
  ...agentMemoryChecks,
  ...nodesChecks,
  ...nodePlatformChecks,
  ...storedResourcesChecks,
  ...policiesChecks,
  ...dataPlaneChecks,
  ...targetManifestChecks,
  ...podsAdmittedChecks,
  ...chartPreflightChecks,
  ...targetSettingsChecks,
  ...aheadOfApply,
  ...ownersChecks,
  ...ownerRightsChecks,
  ...apiNamespaceChecks,
  ...crossingsChecks,
  ...podNetworkChecks,
  ...certificatesChecks,
  ...guardedNamespaceChecks,
  ...apiReachableChecks,
  ...meshChecks,
  ...hostEndpointChecks,
  ...policiesInGitChecks,
];
