import { command } from '../../kernel/argv.ts';
import { type Check, notApplicable, ok, type Reading, read } from '../../kernel/check.ts';
import { isByChart, isOperated } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { crosses } from '../../kernel/release.ts';
import { continues } from '../../kernel/run-record.ts';
import { text } from '../../kernel/step.ts';
import { noNewTables, type TablesJudged } from '../going-back/index.ts';
import { type ApplyJudged, nothingRefusedNow, targetChecks } from '../install-manifest/index.ts';
import { noneAtZero, type ReplicasJudged } from '../rollout/index.ts';
import {
  evidenceOf,
  failed,
  type PreflightCheck,
  replacesApi,
  type SourceJudged,
  sourceChecks,
  unknownEnd,
  withInstallation,
} from '../survey/index.ts';
import { type StatusFacts, statusesGoodNow } from './component-statuses.ts';
import type { HoldFacts } from './hold.ts';
import type { AgentsHold } from './hold-agents.ts';
import { keptBefore, keptNow, keptSets, orderRow } from './hold-checks.ts';

interface OrderJudged extends SourceJudged {
  /** The operator of the target has been installed already: nothing is left to be accepted. */
  readonly upgraded?: boolean;
}

/** An operator rolls out Typha and agents in its own order: where Typha cannot be held, that is accepted by name (§0.2 of the field notes). */
export const typhaOrderTaken: Check<OrderJudged> = {
  ...orderRow,
  judge({ installation, record, upgraded }, context) {
    const { profile, goal } = context;
    const { typhaRefusesAgentsBefore: since, operator } = profile;
    if (!installation.hasTypha || since === undefined || !operator.typha) return notApplicable('this installation has no Typha');
    if (upgraded) return notApplicable('the operator of the target is installed already');
    const source = continues(record, context) ? record.intent.from : installation.release;
    if (!crosses(source, goal.release, since)) return ok('agents and Typha understand each other at both releases');
    if (operator.ignores) return ok(`Typha ${since} refuses older agents: it is held at its release until every agent is upgraded`);
    const { kind, namespace, name } = operator.typha;
    const subject = `${kind}/${namespace}/${name}`;
    return failed(
      `this operator replaces Typha and the agents in the same second and cannot be kept from it, and Typha ${since} refuses older agents. They get no policy updates until each is replaced. After about 90 s they become NotReady, and are then replaced all at once`,
      text`Plan a maintenance window as long as the rollout of all agents takes, then accept this check by name: ${command`kubectl netsvc-upgrade run --accept ${`NS-251=${subject}`}`}`,
      { evidence: [{ text: subject }], byName: true, next: command`kubectl netsvc-upgrade explain NS-251` },
    );
  },
};

export const typhaOrderChecks: readonly PreflightCheck[] = [
  /** As in preflight, for the operator's path and as the last stage only: a stage that continues asks the user by name. */
  {
    ...typhaOrderTaken,
    judge: withInstallation((installation, facts, context) => {
      if (!isOperated(installation) || isByChart(installation)) return notApplicable('not the operator’s path');
      if ((context.chain?.later.length ?? 0) > 0) return notApplicable('asked for right before the CRDs');
      const record = read(facts.record);
      return typhaOrderTaken.judge({ installation, record, upgraded: replacesApi(record, context) }, context);
    }),
  },
  keptBefore,
];

interface OperatorJudged extends ApplyJudged {
  readonly hold: HoldFacts | undefined;
  readonly health: StatusFacts | undefined;
}

export const operatorChecks: readonly Check<OperatorJudged>[] = [...targetChecks, typhaOrderTaken, keptNow, statusesGoodNow];

/** What decides whether agents and Typha go back in a safe order. */
export interface AgentsJudged extends Pick<SourceJudged, 'installation'> {
  readonly agents: AgentsHold | undefined;
  /** Sets of digests by which images are pinned. */
  readonly imageSets: Reading<readonly KubeObject[]>;
}

/** The older operator replaces Typha and agents in the same second as well; the Typha that is left refuses the older agents. */
const agentsHeldTaken: Check<AgentsJudged> = {
  ...orderRow,
  judge({ agents, installation }, { profile, goal: { release, takesBack } }) {
    const since = profile.typhaRefusesAgentsBefore;
    if (!installation.hasTypha || since === undefined || !takesBack) return notApplicable('this installation has no Typha');
    if (!crosses(release, takesBack.to, since)) return ok('agents and Typha understand each other at both releases');
    if (agents) return ok(`Typha ${since} refuses older agents: these are held until Typha is of ${release}`);
    const names = agentNames(profile);
    return failed(
      `this operator replaces Typha and the agents in the same second and cannot be kept from it, and Typha ${since} refuses older agents: they get no policy updates until Typha is of ${release}`,
      text`Plan a maintenance window, then accept this check by name: ${command`kubectl netsvc-upgrade rollback --accept ${`NS-251=${names}`}`}`,
      { evidence: [{ text: names }], byName: true, next: command`kubectl netsvc-upgrade explain NS-251` },
    );
  },
};

const agentNames = ({ operator: { agent } }: Profile): string => `${agent.kind}/${agent.namespace}/${agent.name}`;

/** As soon as one set of image digests is there, an operator wants the one of its own name, and stays degraded without it (domain §11.3). */
const imageSetKept: Check<AgentsJudged> = {
  id: 'NS-622',
  title: 'image set of the target release',
  category: 'resources',
  severity: 'error',
  ref: 'domain §11.3',
  judge({ imageSets }, { profile, goal: { release } }) {
    const names = profile.operator.crossings?.imageSet;
    if (!names) return notApplicable('this operator knows no image sets');
    const sets = read(imageSets).filter(({ metadata }) => metadata.name.startsWith(names.prefix));
    const wanted = `${names.prefix}${release}`;
    if (sets.length === 0) return ok('no image set pins the images');
    if (sets.some(({ metadata }) => metadata.name === wanted)) return ok(`${names.kind}/${wanted} is there`);
    return failed(
      `images are pinned by an image set, and there is none of ${release}: the older operator stays degraded without ${names.kind}/${wanted}`,
      `Make ${names.kind}/${wanted} with the digest of every image of ${release}, before the rollback.`,
      { evidence: sets.map((one) => evidenceOf(one)), next: command`kubectl netsvc-upgrade plan --rollback -o images` },
    );
  },
};

export const returnChecks: readonly Check<AgentsJudged & TablesJudged>[] = [agentsHeldTaken, keptSets, imageSetKept, noNewTables];

export const operatorChecksBack: readonly Check<ApplyJudged & AgentsJudged & TablesJudged>[] = [...targetChecks, ...returnChecks];

/** What the checks of `crds` look at. */
export interface CrdsJudged extends SourceJudged, ReplicasJudged, Pick<ApplyJudged, 'previews'> {
  /** The stage has CRDs to write. */
  readonly writes: boolean;
  /** As `typhaOrderTaken` has it; absent where it is not known. */
  readonly upgraded?: boolean;
  readonly health: StatusFacts | undefined;
}

/** What apply would refuse is refused before the CRDs: an old operator that is restarted beside the new ones hangs (§4.3/2). */
const orderTakenBefore: Check<CrdsJudged> = {
  ...typhaOrderTaken,
  judge: (facts, context) =>
    facts.writes ? typhaOrderTaken.judge(facts, context) : notApplicable('no CRD is written here: apply checks it'),
};

export const crdsChecks: readonly Check<CrdsJudged>[] = [...sourceChecks, nothingRefusedNow, orderTakenBefore, statusesGoodNow, noneAtZero];

export const apiNamespaceChecks: readonly PreflightCheck[] = [
  /** The operator moves the API server and deletes the old namespace with all that is in it (domain §11.3). */
  {
    id: 'NS-621',
    title: 'namespace of the API server stays',
    category: 'resources',
    severity: 'warning',
    ref: 'domain §11.3',
    judge: withInstallation((installation, facts, context) => {
      const { profile } = context;
      const api = profile.operator.end?.api;
      if (!isOperated(installation) || !api || !installation.hasApiServer)
        return notApplicable('no operator runs an API server of the service here');
      if (unknownEnd(installation, context)) return notApplicable('the target is none on this path: see NS-601');
      const old = read(facts.namespaces).find(({ metadata }) => metadata.name === api.oldNamespace);
      if (!old) return ok(`the API server is not in ${api.oldNamespace}`);
      return failed(
        `the API server moves to namespace ${api.namespace}: ${api.oldNamespace} is deleted with everything in it. The v3 API is away until the new pods are ready (10 s to over a minute)`,
        `Change what names ${api.oldNamespace}: network policies, monitors, certificates. Save a copy of what you put there yourself: it is deleted.`,
        { evidence: [evidenceOf(old)], next: command`kubectl get networkpolicies,configmaps,secrets -n ${api.oldNamespace}` },
      );
    }),
  },
];
