import { command } from '../../kernel/argv.ts';
import { mapAt, textAt } from '../../kernel/json.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import { imageAge, parseImage, sameRelease } from '../../kernel/release.ts';
import type { ReadyRule, RolloutTarget } from '../../kernel/rollout.ts';
import { isSameImage } from '../../kube/judge-pod.ts';
import { judgeRollout } from '../../kube/judge-rollout.ts';
import { conditionOf, isEnd, nodeFacts, type PodFacts, podFacts } from '../../kube/pod-facts.ts';
import { selectorOf, selects } from '../../kube/selector.ts';
import { allContainersOf, containersOf, isImageOf } from '../survey/index.ts';
import { type OperatorLag, ownImage, podCause } from './operator-causes.ts';
import type { OperatorVerdict } from './operator-verdict.ts';
import { requiredAs, type SettledFacts, serviceOf } from './settled-facts.ts';

/** The end of an operator's upgrade where its profile names no statuses (§4.2, §4.3), pure: a new generation begins again. */
export function settledVerdict(facts: SettledFacts): OperatorVerdict {
  return { lags: settledLags(facts), troubles: [], memory: {}, mark: markOf(facts) };
}

/** What is not as the target wants it at this moment; empty: all signs hold. */
export function settledLags(facts: SettledFacts): readonly OperatorLag[] {
  return [...operatorLags(facts), ...workloadsLags(facts), ...apiLags(facts), ...informationLags(facts)];
}

/** The pods of the components are older than the operator's own: they were of the target before it started, and it has changed none. */
export function isUntouched(facts: SettledFacts): boolean {
  const started = Math.max(0, ...podsOf(facts.deployment, facts).map(({ createdAt }) => createdAt));
  return facts.workloads.flatMap((one) => podsOf(one, facts)).every(({ createdAt }) => createdAt < started);
}

/** When the youngest pod became ready, milliseconds since the epoch: what holds at one look has held since. */
export function readySince(facts: SettledFacts): number {
  const pods = [facts.deployment, ...facts.workloads].flatMap((one) => podsOf(one, facts));
  return Math.max(0, ...pods.map(({ readyAt, createdAt }) => readyAt ?? createdAt));
}

/** Changes with every new generation, with every start of the operator, and with every pod that becomes ready. */
function markOf(facts: SettledFacts): string {
  const generations = [facts.deployment, facts.installation, ...facts.workloads].map(
    (one) => `${one?.metadata.uid}@${one?.metadata.generation}`,
  );
  const starts = podsOf(facts.deployment, facts).map(({ uid, readyAt }) => `${uid}@${readyAt}`);
  return JSON.stringify([generations, starts, readySince(facts)]);
}

/** (a): the image of the target, and no pod of an older one. */
function operatorLags(facts: SettledFacts): readonly OperatorLag[] {
  const { names, target, deployment } = facts;
  const subject = refText({ kind: 'Deployment', ...names.deployment });
  const lag = (why: string): OperatorLag => ({ point: 1, subject, why });
  if (!deployment) return [lag('does not exist')];
  const wanted = target.operatorImage;
  const image = ownImage(deployment, wanted);
  // Admission may have added a digest.
  if (image === undefined || !isSameImage(image, wanted)) return [lag(`runs ${image ?? 'nothing'}, not ${wanted}`)];
  const container = containersOf(deployment).find((one) => one.image === image)?.name ?? '';
  return rolloutLags(deployment, { point: 1, container, ready: EVERY, neverEmpty: true }, facts);
}

const EVERY: ReadyRule = { type: 'all-containers' };

/** (b): agents, controllers, and all that the operator owns. */
function workloadsLags(facts: SettledFacts): readonly OperatorLag[] {
  const { names, workloads } = facts;
  const missing = [names.agent, names.controllers].filter((wanted) => !workloads.some((one) => requiredAs(one, names) === wanted));
  return [
    ...missing.map((wanted): OperatorLag => ({ point: 4, subject: refText(wanted), why: 'does not exist' })),
    ...workloads.flatMap((workload) => workloadLags(workload, facts)),
  ];
}

function workloadLags(workload: KubeObject, facts: SettledFacts): readonly OperatorLag[] {
  const required = requiredAs(workload, facts.names);
  const own = allContainersOf(workload).filter(({ name, image = '' }) => name === required?.container || isOfService(image, facts));
  const subject = refText(refOf(workload));
  const other = own.flatMap(({ image = '' }) => imageWhy(image, facts));
  if (other.length > 0) return [...new Set(other)].map((why): OperatorLag => ({ point: 4, subject, why }));
  const container = required?.container ?? containersOf(workload)[0]?.name ?? '';
  return rolloutLags(workload, { point: 4, container, ready: required?.ready ?? EVERY, neverEmpty: required !== undefined }, facts);
}

/** By its name, or because it comes from where the agents' own image does. */
function isOfService(image: string, { names, workloads }: SettledFacts): boolean {
  const agents = workloads.find((one) => requiredAs(one, names) === names.agent);
  const own = agents && containersOf(agents).find(({ name }) => name === names.agent.container)?.image;
  const { repository } = parseImage(image);
  return isImageOf(image, names.images) || (own !== undefined && repository !== '' && repository === parseImage(own).repository);
}

function imageWhy(image: string, { target: { release, digests } }: SettledFacts): readonly string[] {
  const age = imageAge(image, release, digests);
  if (age === 'untold') return [`runs ${image}, which tells no release`];
  return age === 'of' ? [] : [`runs ${image || 'no image'}, not ${release}`];
}

interface Rolled extends Pick<RolloutTarget, 'container' | 'ready'> {
  readonly point: 1 | 4;
  readonly neverEmpty: boolean;
}

/** Its own template is rolled out: generation, counts, READY of every pod, and no pod that is still stopping. */
function rolloutLags(workload: KubeObject, { point, neverEmpty, ...rolled }: Rolled, facts: SettledFacts): readonly OperatorLag[] {
  const { kind, metadata } = workload;
  const image = containersOf(workload).find(({ name }) => name === rolled.container)?.image ?? '';
  const place = { namespace: metadata.namespace ?? '', name: metadata.name };
  const target: RolloutTarget = { kind: kind === 'DaemonSet' ? kind : 'Deployment', ...place, ...rolled, image, neverEmpty };
  const nodes = new Map(facts.nodes.map((node) => [node.metadata.name, nodeFacts(node)]));
  const { done, pending } = judgeRollout({ target, workload, pods: podsOf(workload, facts), nodes, now: facts.timeMs });
  if (done) return [];
  const cause = podCause(workload, facts);
  return [{ point, subject: refText(refOf(workload)), why: pending, ...(cause ? { ...cause, why: `${pending} · ${cause.why}` } : {}) }];
}

function podsOf(workload: KubeObject | undefined, { pods }: SettledFacts): readonly PodFacts[] {
  if (!workload) return [];
  const selector = selectorOf(workload);
  const { namespace } = workload.metadata;
  return pods.filter(({ metadata }) => metadata.namespace === namespace && selects(selector, metadata.labels ?? {})).map(podFacts);
}

/** (c): where a v3 API is served, it is available and of the target. */
function apiLags(facts: SettledFacts): readonly OperatorLag[] {
  const { names, apiService, service } = facts;
  const look = { point: 5, subject: `APIService/${names.api}`, command: command`kubectl describe apiservice ${names.api}` } as const;
  if (!apiService) return names.isServed ? [{ ...look, why: 'does not exist' }] : [];
  const available = conditionOf(apiService, 'Available');
  if (available?.status !== 'True') return [{ ...look, why: `is not available (${available?.reason ?? 'no condition'})` }];
  const behind = serviceOf(apiService);
  if (!behind) return [];
  const subject = refText({ kind: 'Service', ...behind });
  if (!service) return [{ point: 5, subject, why: 'does not exist' }];
  const pods = podsBehind(service, facts);
  if (pods?.length === 0) return [{ point: 5, subject, why: 'has no pod behind it' }];
  return (pods ?? []).flatMap((pod) => servedBy(pod, facts));
}

/** Undefined where the Service does not choose its pods itself. */
function podsBehind(service: KubeObject, { pods }: SettledFacts): readonly PodFacts[] | undefined {
  const matchLabels = mapAt(service.spec, 'selector') as Readonly<Record<string, string>>;
  if (Object.keys(matchLabels).length === 0) return undefined;
  const { namespace } = service.metadata;
  const chosen = pods.filter(({ metadata }) => metadata.namespace === namespace && selects({ matchLabels }, metadata.labels ?? {}));
  return chosen.map(podFacts).filter(({ phase }) => !isEnd(phase));
}

function servedBy(pod: PodFacts, facts: SettledFacts): readonly OperatorLag[] {
  const images = Object.values(pod.images);
  const own = images.filter((image) => isOfService(image, facts));
  const subject = refText({ kind: 'Pod', namespace: pod.namespace, name: pod.name });
  return (own.length > 0 ? own : images).flatMap((image) => imageWhy(image, facts)).map((why) => ({ point: 5, subject, why }));
}

/** (d): necessary, and never sufficient: the first new agent writes it. */
function informationLags({ names: { information: expected }, target, information }: SettledFacts): readonly OperatorLag[] {
  const says = textAt(information?.spec, expected.versionField);
  if (says !== undefined && sameRelease(says, target.release)) return [];
  const subject = `${expected.kind.kind}/${expected.name}`;
  return [{ point: 2, subject, why: `says ${says ?? 'no release'}, not ${target.release}` }];
}
