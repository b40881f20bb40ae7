import { command } from '../../kernel/argv.ts';
import { notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { repairCommand } from '../../kernel/command.ts';
import { counted } from '../../kernel/counted.ts';
import { hasFullManifest } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { crosses } from '../../kernel/release.ts';
import { nodeFacts } from '../../kube/pod-facts.ts';
import { findWorkload, mayBeMissing, serviceWorkloads } from '../rollout/index.ts';
import {
  evidenceOf,
  failed,
  type PreflightCheck,
  type PreflightFacts,
  shapeOf,
  sourceRelease,
  table,
  withInstallation,
} from '../survey/index.ts';
import { isWindows } from './nodes-checks.ts';

const NO_TYPHA = 'this installation has no Typha';

export const typhaChecks: readonly PreflightCheck[] = table({ category: 'workloads' }, [
  {
    id: 'NS-405',
    title: 'order of agents and Typha',
    severity: 'warning',
    ref: 'domain §0.2',
    judge: withInstallation((installation, facts, context) => {
      const since = context.profile.typhaRefusesAgentsBefore;
      if (!installation.hasTypha || since === undefined) return notApplicable(NO_TYPHA);
      const source = sourceRelease(installation, facts, context);
      if (!crosses(source, context.goal.release, since)) return ok('agents and Typha understand each other at both releases');
      if (hasFullManifest(installation)) {
        return ok(`Typha ${since} refuses older agents: agents are rolled first, Typha last`);
      }
      const { agent, ignores } = context.profile.operator;
      if (ignores) return ok(`Typha ${since} refuses older agents: it is held until the operator has upgraded every agent`);
      return failed(
        `Typha from ${since} on refuses agents older than itself, and the operator decides which of them it replaces first`,
        'Plan a maintenance window: agents may lose their policy updates until they are replaced. The command below lists the agents.',
        { next: command`kubectl -n ${agent.namespace} get pods -l k8s-app=${agent.name} -o wide` },
      );
    }),
  },
  {
    id: 'NS-406',
    title: 'Typha can be replaced on these nodes',
    severity: 'error',
    ref: 'domain §12/12',
    judge: withInstallation((installation, facts, { profile }): Verdict => {
      const name = serviceWorkloads(installation, profile)?.typha;
      const live = name ? findWorkload(read(facts.deployments), name) : undefined;
      if (!name || !live) return notApplicable(NO_TYPHA);
      const replicas = shapeOf(live).spec?.replicas ?? 1;
      // Ready nodes that take new pods of Typha, which runs on Linux only.
      const open = read(facts.nodes).filter((node) => !isWindows(node) && nodeFacts(node).ready && !nodeFacts(node).unschedulable);
      const nodes = open.length;
      const plan = planned(live, name, facts);
      if (mayBeMissing(plan) > 0 || replicas < nodes)
        return ok(`${counted(replicas, 'replica')} of Typha on ${counted(nodes, 'open node')}`);
      return failed(
        `Typha has ${counted(replicas, 'replica')} on ${counted(nodes, 'open node')} and none may be missing: its host port leaves no room for a new pod`,
        `Scale Typha below the number of open nodes, or allow one pod to be missing, until the upgrade is over.`,
        {
          evidence: [evidenceOf(live)],
          fix: repairCommand`kubectl scale deployment ${name.name} -n ${name.namespace} --replicas=${Math.max(1, nodes - 1)}`,
          next: command`kubectl describe deployment ${name.name} -n ${name.namespace}`,
        },
      );
    }),
  },
]);

/** The live Deployment with the strategy that the target has, where the target holds it. */
function planned(live: KubeObject, name: { namespace: string; name: string }, facts: PreflightFacts): KubeObject {
  const documents = 'value' in facts.target ? facts.target.value.documents : [];
  const next = findWorkload(documents, name, 'Deployment');
  const strategy = next ? shapeOf(next).spec?.strategy : undefined;
  return strategy ? { ...live, spec: { ...shapeOf(live).spec, strategy } } : live;
}
