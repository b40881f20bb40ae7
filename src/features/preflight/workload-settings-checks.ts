import { command } from '../../kernel/argv.ts';
import { notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { repairCommand, repairsInTurn } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { mapAt } from '../../kernel/json.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import { type RunRecord, recordHere } from '../../kernel/run-record.ts';
import { heldBy } from '../../kube/held.ts';
import { selectorOf, selects } from '../../kube/selector.ts';
import { isHeld } from '../canary/index.ts';
import { duplicateEnv, findWorkload, type ServiceWorkloads, withWorkloads } from '../rollout/index.ts';
import { evidenceOf, failed, failIfAny, listed, type PreflightCheck, type PreflightFacts, shapeOf, table } from '../survey/index.ts';

export const workloadSettingsChecks: readonly PreflightCheck[] = table({ category: 'workloads', severity: 'warning' }, [
  {
    id: 'NS-404',
    title: 'one replica of the controllers',
    ref: 'domain §12/38',
    judge: withWorkloads(({ controllers: name }, facts) => {
      const live = findWorkload(read(facts.deployments), name);
      if (!live) return notApplicable(`${refText(name)} does not exist: see NS-402`);
      const replicas = shapeOf(live).spec?.replicas ?? 1;
      if (replicas === 1) return ok('one replica of the controllers');
      return failed(`${refText(name)} has ${replicas} replicas; it works with exactly one`, 'Scale it to one.', {
        evidence: [evidenceOf(live)],
        fix: repairCommand`kubectl scale deployment ${name.name} -n ${name.namespace} --replicas=1`,
        next: command`kubectl describe deployment ${name.name} -n ${name.namespace}`,
      });
    }),
  },
  {
    id: 'NS-407',
    title: 'workloads update by themselves',
    severity: 'error',
    ref: '§4.4/2',
    judge: withWorkloads((names, facts, context) => {
      const name = names.agent;
      const live = findWorkload(read(facts.daemonSets), name);
      if (!live) return notApplicable(`${refText(name)} does not exist: see NS-401`);
      const paused = liveWorkloads(names, facts).filter((workload) => shapeOf(workload).spec?.paused === true);
      if (paused.length > 0) return failedPaused(paused);
      const type = shapeOf(live).spec?.updateStrategy?.type ?? 'RollingUpdate';
      if (type !== 'OnDelete') return ok(`update strategy ${type}`);
      if (isHeld(live) && !isUnfinished(read(facts.record), context))
        return failed(
          `a run of this program holds ${refText(name)} (OnDelete), and the record of that run is lost or another one's: which strategy it had is not known`,
          'Nothing to do: the upgrade gives it the strategy of the release. If you had another one, set it again afterwards.',
          {
            evidence: [evidenceOf(live)],
            severity: 'warning',
            next: command`kubectl get daemonset ${name.name} -n ${name.namespace} -o yaml`,
          },
        );
      if (isHeld(live) || heldBy(live) !== undefined || read(facts.stillHeld).includes(refText(name)))
        return ok('a run of this program holds the agents (OnDelete): its own strategy comes back when the run continues');
      const patch = '{"spec":{"updateStrategy":{"type":"RollingUpdate"}}}';
      return failed(
        `${refText(name)} has the update strategy OnDelete: no pod is replaced until somebody deletes it`,
        'Set RollingUpdate; or accept this and delete the pods node by node yourself while `wait` watches.',
        {
          evidence: [evidenceOf(live)],
          fix: repairCommand`kubectl patch daemonset ${name.name} -n ${name.namespace} -p ${patch}`,
          next: command`kubectl get daemonset ${name.name} -n ${name.namespace} -o yaml`,
        },
      );
    }),
  },
  {
    id: 'NS-408',
    title: 'no variable set twice in the cluster',
    ref: 'domain §6.4',
    judge: withWorkloads((names, facts) => {
      const twice = liveWorkloads(names, facts).flatMap(duplicateEnv);
      return failIfAny(twice, 'every variable is set once', (text) => ({
        because: `${counted(twice.length, 'variable')} set twice in the cluster: ${text}`,
        hint: 'Remove one entry: the last one counts now, and the upgrade keeps one of them; a server that refuses both shows it in NS-603.',
        fix: repairCommand`kubectl edit ${names.agent.kind.toLowerCase()} ${names.agent.name} -n ${names.agent.namespace}`,
        next: command`kubectl get ${names.agent.kind.toLowerCase()} ${names.agent.name} -n ${names.agent.namespace} -o yaml`,
      }));
    }),
  },
  {
    id: 'NS-409',
    title: 'disruption budgets leave room',
    ref: 'domain §12/37',
    judge: withWorkloads((names, facts) => {
      const namespaces = new Set([names.agent.namespace, names.controllers.namespace]);
      const labels = liveWorkloads(names, facts).map((one) => ({
        ...selectorOf(one)?.matchLabels,
        ...shapeOf(one).spec?.template?.metadata?.labels,
      }));
      const tight = read(facts.budgets).filter((budget) => {
        const { expectedPods, disruptionsAllowed } = mapAt(budget.status);
        const mine = labels.some((pod) => selects(selectorOf(budget), pod));
        return namespaces.has(budget.metadata.namespace ?? '') && mine && Number(expectedPods ?? 0) > 0 && disruptionsAllowed === 0;
      });
      const evidence = tight.map((budget) => evidenceOf(budget, 'allows no disruption now'));
      return failIfAny(evidence, 'disruption budgets leave room', (text) => ({
        because: `${text} allows no disruption of the service's pods at the moment`,
        hint: 'The rolling update does not ask it, but draining a node during the upgrade would hang: raise the replicas or drain later.',
        next: command`kubectl get poddisruptionbudgets -n ${tight[0]?.metadata.namespace ?? names.agent.namespace}`,
      }));
    }),
  },
]);

/** Only such a run gives back the strategy that it has kept. */
function isUnfinished(record: RunRecord | undefined, context: Context): boolean {
  const run = recordHere(record, context);
  return run !== undefined && run.finishedAt === undefined;
}

/** A pause is an edit: the upgrade would carry it, and wait for pods that nobody creates. */
function failedPaused(paused: readonly KubeObject[]): Verdict {
  const [first] = paused;
  const resume = paused.map(
    ({ kind, metadata }) => repairCommand`kubectl rollout resume ${kind.toLowerCase()} ${metadata.name} -n ${metadata.namespace}`,
  );
  return failed(
    `the rollout of ${listed(paused.map((one) => refText(refOf(one))))} is paused: no pod is replaced until somebody resumes it`,
    'Find out why it was paused, then resume it; or accept this and resume it yourself while `wait` watches.',
    {
      evidence: paused.map((one) => evidenceOf(one)),
      fix: repairsInTurn(resume),
      next: command`kubectl get ${first?.kind.toLowerCase() ?? ''} ${first?.metadata.name ?? ''} -n ${first?.metadata.namespace} --show-managed-fields -o yaml`,
    },
  );
}

function liveWorkloads(names: ServiceWorkloads, facts: PreflightFacts): readonly KubeObject[] {
  const all = [...read(facts.daemonSets), ...read(facts.deployments)];
  return [names.agent, names.controllers, ...(names.typha ? [names.typha] : [])].flatMap((name) => {
    const found = findWorkload(all, name, name.kind);
    return found ? [found] : [];
  });
}

/** Memory limits are carried into the target, which needs no less: a container out of memory now will be then. */
export const agentMemory: PreflightCheck = {
  id: 'NS-410',
  title: 'memory of agents and controllers suffices',
  category: 'workloads',
  severity: 'warning',
  ref: 'domain §12',
  judge: withWorkloads(({ agent, controllers, typha }, facts) => {
    const own = [agent, controllers, typha].flatMap((one) => one ?? []);
    const short = read(facts.pods).filter(
      ({ namespace, labels, outOfMemory = [] }) =>
        outOfMemory.length > 0 && own.some((one) => one.namespace === namespace && labels['k8s-app'] === one.name),
    );
    const [first] = short;
    const evidence = short.map(({ namespace, name, node, outOfMemory = [] }) => ({
      text: `Pod/${namespace}/${name}`,
      detail: `${outOfMemory.join(', ')} on ${node} was OOMKilled`,
    }));
    return failIfAny(evidence, 'no container was ended for lack of memory', (names) => ({
      because: `${counted(short.length, 'pod')} ran out of memory lately: ${names}. The limits are carried into the target, which needs as much or more`,
      hint: 'Raise the memory limit of the container, or remove it, before the upgrade.',
      next: command`kubectl -n ${first?.namespace ?? ''} describe pod ${first?.name ?? ''}`,
    }));
  }),
};
