import { command } from '../../kernel/argv.ts';
import { type Check, type Evidence, notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { repairCommand } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { WorkloadName } from '../../kernel/rollout.ts';
import { withoutReplaced } from '../../kube/pod-facts.ts';
import { selectorOf, selects } from '../../kube/selector.ts';
import { isObserved } from '../../kube/workload.ts';
import { explained, failed, failIfAny, type PodView, type PreflightCheck, type PreflightFacts, shapeOf, table } from '../survey/index.ts';
import { findWorkload, withWorkloads } from './targets.ts';

// These checks evaluate workloads before the upgrade: a rollout that starts broken cannot be evaluated later.
// A rollout under way is evaluated by `judgeRollout` of kube, and given up by `FailedPods` beside this file.

/** Once every pod runs the target and is ready, it does not matter what the workloads and releases were like before. */
export const SETTLED_BY_ROLLOUT = ['NS-107', 'NS-401', 'NS-402', 'NS-403', 'NS-507', 'NS-606'] as const;

type Role = 'agent' | 'controllers' | 'typha';

function healthOf(role: Role): (facts: PreflightFacts, context: Context) => Verdict {
  return withWorkloads((workloads, facts, context) => {
    const name = workloads[role];
    if (!name) return notApplicable(`this installation has no ${role}`);
    const workload = findWorkload(read(name.kind === 'DaemonSet' ? facts.daemonSets : facts.deployments), name);
    if (!workload) {
      const text = refText(name);
      return failed(`${text} does not exist`, 'Restore it from the installed release before the upgrade.', {
        evidence: [{ text }],
        next: command`kubectl get ${name.kind.toLowerCase()}s -A`,
      });
    }
    return judgeWorkload(workload, name, facts, context);
  });
}

function judgeWorkload(workload: KubeObject, name: WorkloadName, facts: PreflightFacts, context: Context): Verdict {
  const pods = podsOf(workload, read(facts.pods));
  const broken = pods.filter((pod) => !isReady(pod, name));
  const pending = rolloutPending(workload, name, pods.length);
  const text = refText(refOf(workload));
  if (broken.length === 0 && pending === undefined) return ok(`${text}: ${counted(pods.length, 'pod')} ready`);
  const because = broken.length > 0 ? `${text}: ${broken.length} of ${counted(pods.length, 'pod')} not ready` : `${text}: ${pending}`;
  return failed(because, 'Repair it first: a rolling update that starts from broken pods cannot tell its own failures.', {
    evidence: broken.map(podEvidence),
    next: command`kubectl describe pods -n ${[name.namespace, ...broken.slice(0, 1).map((one) => one.name)]}`,
    ...(explained(facts, context) ? { expected: true } : {}),
  });
}

/** Pods that a workload's selector finds, those of a Deployment without what it has replaced. */
function podsOf(workload: KubeObject, pods: readonly PodView[]): readonly PodView[] {
  const selector = selectorOf(workload);
  const found = pods.filter((pod) => pod.namespace === workload.metadata.namespace && selects(selector, pod.labels));
  if (workload.kind !== 'Deployment') return found;
  return withoutReplaced(found, shapeOf(workload).spec?.replicas ?? 1, ({ ended }) => ended === true);
}

function isReady(pod: PodView, { ready }: WorkloadName): boolean {
  if (pod.terminating) return false;
  if (ready.type === 'literal') return `${pod.readyContainers}/${pod.regularContainers}` === ready.ready;
  return pod.ready && pod.readyContainers === pod.regularContainers;
}

/** What the workload's controller still has to do; undefined if nothing. */
function rolloutPending(workload: KubeObject, { kind }: WorkloadName, pods: number): string | undefined {
  const { spec, status = {} } = shapeOf(workload);
  if (!isObserved(workload)) return 'its controller has not seen the last change';
  const desired = kind === 'DaemonSet' ? (status.desiredNumberScheduled ?? 0) : (spec?.replicas ?? 1);
  const updated = (kind === 'DaemonSet' ? status.updatedNumberScheduled : status.updatedReplicas) ?? 0;
  if (desired === 0) return 'no pod is wanted';
  if (updated < desired) return `${updated} of ${desired} pods have the current template: an earlier rollout is not over`;
  return pods < desired ? `${pods} of ${desired} pods exist` : undefined;
}

function podEvidence(pod: PodView): Evidence {
  const where = pod.node === '' ? 'no node' : `node ${pod.node}`;
  const ready = `${pod.readyContainers}/${pod.regularContainers}`;
  return { text: `Pod/${pod.namespace}/${pod.name}`, detail: `${ready} on ${where}${pod.trouble ? `, ${pod.trouble}` : ''}` };
}

export const rolloutHealthChecks: readonly PreflightCheck[] = table({ category: 'workloads', severity: 'error', ref: '§3/1' }, [
  { id: 'NS-401', title: 'node agents healthy', judge: healthOf('agent') },
  { id: 'NS-402', title: 'controllers healthy', judge: healthOf('controllers') },
  { id: 'NS-403', title: 'Typha healthy', ref: 'domain §12/13', judge: healthOf('typha') },
]);

/** A Deployment of which a pod must run, and which the upgrade would leave with none. */
export interface AtZero {
  readonly ref: Pick<WorkloadName, 'namespace' | 'name'>;
  /** Where the number stands; only one in the cluster can be fixed there. */
  readonly place: 'cluster' | 'file' | 'begun';
  /** The same for the user. */
  readonly from: string;
}

export interface ReplicasJudged {
  readonly atZero: readonly AtZero[];
}

/** Its pods would be waited for to the end of the time limit, and once begun the run writes the 0 again (§4.4/3). */
export const noneAtZero: Check<ReplicasJudged> = {
  id: 'NS-213',
  title: 'workloads that are waited for keep a replica',
  category: 'workloads',
  severity: 'error',
  ref: '§4.4/3',
  judge({ atZero }) {
    const inCluster = atZero.find(({ place }) => place === 'cluster')?.ref;
    const evidence = atZero.map(({ ref, from }) => ({ text: `Deployment/${ref.namespace}/${ref.name}`, detail: from }));
    return failIfAny(evidence, 'what is waited for keeps a replica', (names) => ({
      because: `${counted(atZero.length, 'workload')} that the service needs would have no pod: ${names}`,
      hint: [...new Set(atZero.map(({ place }) => FIXES[place]))].join(' '),
      ...(inCluster ? { fix: repairCommand`kubectl scale deployment ${inCluster.name} -n ${inCluster.namespace} --replicas=1` } : {}),
      next: inCluster
        ? command`kubectl describe deployment ${inCluster.name} -n ${inCluster.namespace}`
        : command`kubectl netsvc-upgrade plan -o wide`,
    }));
  },
};

const FIXES: Readonly<Record<AtZero['place'], string>> = {
  cluster: 'Scale it up, then run again.',
  file: 'Give it a replica in that file, then run again.',
  begun: 'Give it a replica in a copy of upgrade.yaml, and resume with --upgrade-file FILE --accept NS-206.',
};
