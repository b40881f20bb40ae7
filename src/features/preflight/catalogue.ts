import { command } from '../../kernel/argv.ts';
import { ADVICE, type Check, notApplicable, ok, type Reading, read, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { hostEndpointChecks } from '../hosts/index.ts';
import { chartPreflightChecks } from '../install-chart/index.ts';
import { baseKnown, checksAhead, podsAdmittedChecks, type TargetJudged, targetManifestChecks } from '../install-manifest/index.ts';
import { apiNamespaceChecks, typhaOrderChecks } from '../install-operator/index.ts';
import { ownerRightsChecks, ownersChecks } from '../ownerrefs/index.ts';
import { policiesChecks, policiesInGitChecks } from '../policies/index.ts';
import { rolloutHealthChecks, serviceWorkloads } from '../rollout/index.ts';
import { noOldCli, oldCliChecks } from '../service-cli/index.ts';
import { meshChecks } from '../sidecars/index.ts';
import {
  failIfAny,
  noCrdsPruned,
  noNativeCrds,
  ownershipChecks,
  type PreflightCheck,
  type PreflightFacts,
  sourceNotNewer,
  sourceReleaseChecks,
  sourceSupported,
  withInstallation,
} from '../survey/index.ts';
import { accessChecks } from './access-checks.ts';
import { apiReachableChecks } from './api-reachable-checks.ts';
import { certificatesChecks } from './certificates-checks.ts';
import { crossingsChecks } from './crossings-checks.ts';
import { dataPlaneChecks } from './data-plane-checks.ts';
import { guardedNamespaceChecks } from './guarded-namespace-checks.ts';
import { installationChecks } from './installation-checks.ts';
import { knownDefectsChecks } from './known-defects-checks.ts';
import { kubectlFound, kubectlNewEnough, kubectlSkewChecks } from './kubectl-checks.ts';
import { machineChecks } from './machine-checks.ts';
import { nodePlatformChecks } from './node-platform-checks.ts';
import { nodesChecks } from './nodes-checks.ts';
import { oneWriterChecks } from './one-writer-checks.ts';
import { podNetworkChecks, podWebhooksChecks } from './pod-webhooks-checks.ts';
import { serverChecks } from './server-checks.ts';
import { storedResourcesChecks } from './stored-resources-checks.ts';
import { targetSettingsChecks } from './target-settings-checks.ts';
import { typhaChecks } from './typha-checks.ts';
import { workloadSettingsChecks } from './workload-settings-checks.ts';

const agentMemoryChecks: readonly PreflightCheck[] = [
  /** Memory limits are carried into the target, which needs no less: a container out of memory now will be then. */
  {
    id: 'NS-410',
    title: 'memory of agents and controllers suffices',
    category: 'workloads',
    severity: 'warning',
    ref: 'domain §12',
    judge: withInstallation((installation, facts, { profile }): Verdict => {
      const workloads = serviceWorkloads(installation, profile);
      if (!workloads) return notApplicable('the names of the workloads are not known');
      const own = [workloads.agent, workloads.controllers, workloads.typha].flatMap((one) => one ?? []);
      const short = read(facts.pods).filter(
        ({ namespace, labels, outOfMemory = [] }) =>
          outOfMemory.length > 0 && own.some((one) => one.namespace === namespace && labels['k8s-app'] === one.name),
      );
      const [first] = short;
      return failIfAny(
        short.map(({ namespace, name, node, outOfMemory = [] }) => ({
          text: `Pod/${namespace}/${name}`,
          detail: `${outOfMemory.join(', ')} on ${node} was OOMKilled`,
        })),
        'no container was ended for lack of memory',
        (names) => ({
          because: `${counted(short.length, 'pod')} ran out of memory lately: ${names}. The limits are carried into the target, which needs as much or more`,
          hint: 'Raise the memory limit of the container, or remove it, before the upgrade.',
          next: command`kubectl -n ${first?.namespace ?? ''} describe pod ${first?.name ?? ''}`,
        }),
      );
    }),
  },
];

const adviceChecks: readonly PreflightCheck[] = [
  /** Recommendations of the procedure (§1/3): told, never counted against the upgrade. */
  {
    id: 'NS-901',
    title: 'datastore',
    category: 'installation',
    severity: 'warning',
    ref: '§1/3',
    judge: withInstallation(({ datastore }) =>
      ok(
        datastore === 'kvstore'
          ? `${ADVICE}move the data to the API datastore some time after this upgrade (a procedure of its own)`
          : 'the data is in the API datastore, as recommended',
      ),
    ),
  },
  {
    id: 'NS-902',
    title: 'kind of installation',
    category: 'installation',
    severity: 'warning',
    ref: '§1/3',
    judge: withInstallation(({ path }) =>
      ok(
        path === 'manifest' || path === 'kvstore'
          ? `${ADVICE}move from the combined manifest to the operator some time after this upgrade (a procedure of its own)`
          : 'managed by the operator, as recommended',
      ),
    ),
  },
];

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

/** What the preflight knows: what every feature reads of a cluster, and what `apply` would stop at. */
export interface WholePreflight extends PreflightFacts {
  /** Undefined where `apply` evaluates it in the same chain, and on paths without a full manifest. */
  readonly ahead: Reading<TargetJudged> | undefined;
}
