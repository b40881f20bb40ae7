import { command } from '../../kernel/argv.ts';
import { type Check, type Reading, read } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { type KubeObject, refText } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { isOfIntent, type RunRecord } from '../../kernel/run-record.ts';
import { conditionOf, podFacts, podShape } from '../../kube/pod-facts.ts';
import { failIfAny, PROBE_LABEL } from '../survey/index.ts';

/** Where the procedure wants every pod `Running` at the end, whoever it belongs to (§4.4/3, §4.5/3). */
export const WATCHED_NAMESPACE = 'kube-system';

/** A pod of another's, and its STATUS as `kubectl get pods` prints it. */
export interface OtherPod {
  readonly name: string;
  readonly state: string;
  /** It has been so since before the run began. */
  readonly before: boolean;
}

export interface OtherPodsJudged {
  readonly otherPods: Reading<readonly OtherPod[]>;
}

const FINE: readonly string[] = ['Running', 'Completed'];

/** Pods of the namespace that are not the service's, and neither run nor have completed. */
export function otherPodsOf(pods: readonly KubeObject[], record: RunRecord | undefined, context: Context): readonly OtherPod[] {
  const { profile } = context;
  const began = isOfIntent(record, context) ? Date.parse(record.startedAt) : Number.NaN;
  const own = ownPrefixes(profile);
  return pods
    .filter(({ metadata: { namespace, name } }) => namespace === WATCHED_NAMESPACE && !own.some((one) => name.startsWith(one)))
    .filter(({ metadata }) => metadata.labels?.[PROBE_LABEL] === undefined)
    .map((pod) => ({ name: pod.metadata.name, state: stateOf(pod), before: since(pod) < began }))
    .filter(({ state }) => !FINE.includes(state));
}

function ownPrefixes({ variants, addOns }: Profile): readonly string[] {
  const own = [
    ...variants.flatMap(({ agent, controllers, typha }) => [agent, controllers, typha]),
    ...addOns.map(({ workload }) => workload),
  ];
  return [...new Set(own.flatMap((workload) => (workload ? [`${workload.name}-`] : [])))];
}

function stateOf(pod: KubeObject): string {
  const { terminating, trouble, phase } = podFacts(pod);
  if (terminating) return 'Terminating';
  if (phase === 'Succeeded') return 'Completed';
  return trouble?.reason ?? podShape(pod).status?.reason ?? phase;
}

/** A pod that never became ready has been so since it was created; one that was ready in between, since it no longer is. */
function since(pod: KubeObject): number {
  return Date.parse(conditionOf(pod, 'Ready')?.lastTransitionTime ?? pod.metadata.creationTimestamp ?? '');
}

/** They do not hold up the upgrade, and somebody has to look: new pods get no network from a node whose agent fails. */
export const othersRunning: Check<OtherPodsJudged> = {
  id: 'NS-312',
  title: `other pods of ${WATCHED_NAMESPACE} running`,
  category: 'result',
  severity: 'warning',
  ref: '§4.5/3',
  judge(facts) {
    const others = read(facts.otherPods);
    const evidence = others.map(({ name, state, before }) => ({
      text: refText({ kind: 'Pod', namespace: WATCHED_NAMESPACE, name }),
      detail: before ? `${state}, since before the run` : state,
    }));
    const before = others.filter((one) => one.before).length;
    const marked = before === 0 ? '' : `; ${before === others.length ? 'all' : before} since before the run`;
    return failIfAny(evidence, `no other pod of ${WATCHED_NAMESPACE} is in trouble`, (names) => ({
      because: `${counted(others.length, 'pod')} of ${WATCHED_NAMESPACE} that the service does not own ${others.length === 1 ? 'is' : 'are'} neither Running nor Completed: ${names}${marked}`,
      hint: 'See what the pod says. The upgrade does not wait for it.',
      next: command`kubectl -n ${WATCHED_NAMESPACE} describe pod ${others.find((one) => !one.before)?.name ?? others[0]?.name}`,
    }));
  },
};
