import { type Check, notApplicable, type Reading, read } from '../../kernel/check.ts';
import { hostEndpointChecks } from '../hosts/index.ts';
import { chartPreflightChecks } from '../install-chart/index.ts';
import { baseKnown, checksAhead, podsAdmittedChecks, type TargetJudged, targetManifestChecks } from '../install-manifest/index.ts';
import { apiNamespaceChecks, statusesGood, typhaOrderChecks } from '../install-operator/index.ts';
import { addressesInOrder, type IpamFacts } from '../ipam/index.ts';
import { ownersChecks } from '../ownerrefs/index.ts';
import { policiesChecks, policiesInGitChecks } from '../policies/index.ts';
import { rolloutHealthChecks } from '../rollout/index.ts';
import { noOldCli, oldCliChecks } from '../service-cli/index.ts';
import { meshChecks } from '../sidecars/index.ts';
import { ownershipChecks, type PreflightFacts, refusedByTarget, sourceReleaseChecks } from '../survey/index.ts';
import { accessChecks } from './access-checks.ts';
import { nonePluginChained } from './chained-plugins-checks.ts';
import { crossingsChecks } from './crossings-checks.ts';
import { dataPlaneChecks } from './data-plane-checks.ts';
import { nothingDeleted } from './deletion-checks.ts';
import { driftChecks } from './drift-checks.ts';
import { adviceChecks, installationChecks } from './installation-checks.ts';
import { knownDefectsChecks } from './known-defects-checks.ts';
import { kubectlChecks, machineChecks } from './machine-checks.ts';
import { nodesChecks } from './nodes-checks.ts';
import { operatorPoliciesChecks } from './operator-policies-checks.ts';
import { oneWriter, operatorSettingsChecks } from './operator-settings-checks.ts';
import { podWebhooks } from './pod-webhooks.ts';
import { policyTiesChecks } from './policy-ties-checks.ts';
import { noneUnfinished } from './procedures-checks.ts';
import type { Readings } from './readings.ts';
import { releaseChangesChecks } from './release-changes-checks.ts';
import { nodesForWorkloads, selectorChecks } from './selector-checks.ts';
import { serverChecks } from './server-checks.ts';
import { storedResourcesChecks } from './stored-resources-checks.ts';
import { targetSettingsChecks } from './target-settings-checks.ts';
import { typhaChecks } from './typha-checks.ts';
import { agentMemory, workloadSettingsChecks } from './workload-settings-checks.ts';

/** The checks of `apply`, for a preflight run alone. In a chain that reaches `apply`, that stage evaluates and shows them. */
export const aheadOfApply: readonly Check<WholePreflight>[] = checksAhead.map((check) => ({
  ...check,
  judge(facts, context) {
    if (facts.ahead === undefined) return notApplicable('checked by apply');
    // One reason is reported once: if the target was read, by the check of what it is compared with.
    if ('unread' in facts.ahead && ('unread' in facts.target || check.id !== baseKnown.id)) return notApplicable('the target was not read');
    return check.judge(read(facts.ahead), context);
  },
}));

/** The preflight's catalogue in the order in which it is shown: what everything else stands on comes first. */
export const preflightChecks: readonly Check<WholePreflight>[] = [
  ...serverChecks,
  ...accessChecks,
  ...kubectlChecks,
  ...machineChecks,
  noOldCli,
  ...oldCliChecks,
  ...installationChecks,
  ...sourceReleaseChecks,
  ...releaseChangesChecks,
  ...knownDefectsChecks,
  ...ownershipChecks,
  nothingDeleted,
  noneUnfinished,
  refusedByTarget.atPreflight,
  statusesGood,
  nonePluginChained,
  oneWriter,
  ...adviceChecks,
  ...rolloutHealthChecks,
  ...workloadSettingsChecks,
  podWebhooks,
  ...typhaChecks,
  ...typhaOrderChecks,
  agentMemory,
  nodesForWorkloads,
  ...nodesChecks,
  ...storedResourcesChecks,
  ...selectorChecks,
  addressesInOrder,
  ...policiesChecks,
  ...dataPlaneChecks,
  ...targetManifestChecks,
  ...podsAdmittedChecks,
  ...chartPreflightChecks,
  ...targetSettingsChecks,
  ...aheadOfApply,
  ...ownersChecks,
  ...apiNamespaceChecks,
  ...crossingsChecks,
  ...driftChecks,
  ...operatorSettingsChecks,
  ...operatorPoliciesChecks,
  ...policyTiesChecks,
  ...meshChecks,
  ...hostEndpointChecks,
  ...policiesInGitChecks,
];

/** What the preflight knows: what every feature reads of a cluster, and what `apply` would stop at. */
export interface WholePreflight extends PreflightFacts, Omit<Readings, keyof PreflightFacts> {
  /** Undefined where `apply` evaluates it in the same chain, and on paths without a full manifest. */
  readonly ahead: Reading<TargetJudged> | undefined;
  /** Undefined where the service gives no addresses, or the API holds none of them. */
  readonly ipam: Reading<IpamFacts | undefined>;
}
