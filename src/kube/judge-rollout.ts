import { command, repairCommand } from '../kernel/command.ts';
import { counted } from '../kernel/counted.ts';
import type { KubeObject } from '../kernel/object.ts';
import type { PodProgress, RolloutProgress, RolloutTarget } from '../kernel/rollout.ts';
import { fix, type Step, seeWhy, text } from '../kernel/step.ts';
import { isSameImage, judgePod, type PodSurroundings } from './judge-pod.ts';
import { isEnd, type NodeFacts, type PodFacts, podsMadeBy, withoutReplaced } from './pod-facts.ts';
import { ofTemplate } from './revision.ts';
import { containersOf, isObserved, shapeOf } from './workload.ts';

/** Everything a verdict over one workload needs. */
export interface RolloutView extends PodSurroundings {
  readonly workload: KubeObject | undefined;
  readonly pods: readonly PodFacts[];
  /** Earlier evaluations, kept by the caller for one target, so that nothing is evaluated twice. */
  readonly known?: Known;
}

/** Of pods whose state does not depend on the time: the node that was seen with them, and the outcome. */
export type Known = WeakMap<
  PodFacts,
  { readonly node: NodeFacts | undefined; readonly isOfTemplate: boolean; readonly progress: PodProgress }
>;

/**
 * Evaluates one workload: done only if the controller has observed the spec, every pod carries the target's image
 * and its READY column satisfies the profile's rule (§4.4/3; domain §5).
 */
export function judgeRollout(all: RolloutView): RolloutProgress {
  const { target, workload } = all;
  const view = { ...all, pods: podsMadeBy(target, all.pods) };
  const desired = workload ? desiredPods(target.kind, workload) : 0;
  // Of the kinds, only a Deployment's controller leaves ended pods lying.
  const meant = target.kind === 'Deployment' ? withoutReplaced(view.pods, desired, ({ phase }) => isEnd(phase)) : view.pods;
  const isOfTemplate = workload ? ofTemplate(workload, view.pods) : () => true;
  const pods = meant.toSorted(byNode).map((pod) => progressOf(pod, view, isOfTemplate(pod)));
  const pending = workload
    ? pendingReason(view, workload, pods, desired)
    : `${target.kind} ${target.namespace}/${target.name} does not exist`;
  const unapplied = workload !== undefined && otherImage(target, workload) !== undefined;
  const step = workload && pending !== '' ? stepOf(target, shapeOf(workload), desired) : undefined;
  return { target, desired, pods, pending, done: pending === '', ...(step ? { step } : {}), ...(unapplied ? { unapplied } : {}) };
}

/** By node and name in code units: thousands of pods are sorted, and users see them in an order of their own. */
function byNode(a: PodFacts, b: PodFacts): number {
  return order(a.node, b.node) || order(a.name, b.name);
}

function order(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function desiredPods(kind: RolloutTarget['kind'], workload: KubeObject): number {
  const { spec, status } = shapeOf(workload);
  return kind === 'DaemonSet' ? (status?.desiredNumberScheduled ?? 0) : (spec?.replicas ?? 1);
}

function pendingReason(view: RolloutView, workload: KubeObject, pods: readonly PodProgress[], desired: number): string {
  const { target } = view;
  const { spec, status = {} } = shapeOf(workload);
  const other = otherImage(target, workload);
  if (other !== undefined) return `its container ${target.container} is still set to ${other}`;
  if (!isObserved(workload)) return 'its controller has not seen the change yet';
  if (desired === 0 && target.neverEmpty) return EMPTY[target.kind];
  const updated = (target.kind === 'DaemonSet' ? status.updatedNumberScheduled : status.updatedReplicas) ?? 0;
  if (updated < desired) return `${updated} of ${desired} pods have been updated${spec?.paused ? '; its rollout is paused' : ''}`;
  const rest = pods.filter((pod) => pod.phase !== 'new');
  if (rest.length > 0) return restText(rest, Math.max(desired, pods.length), view);
  if (pods.length !== desired) return `${counted(pods.length, 'pod')} instead of ${desired}`;
  return countsPending(target, status, desired);
}

/** `1 of 3 pods still has the old release, 1 has the new release and is not ready yet`. */
function restText(rest: readonly PodProgress[], all: number, { pods, target }: RolloutView): string {
  const stopping = new Set(pods.filter(({ terminating }) => terminating).map(({ name }) => name));
  const ending = rest.filter(({ pod }) => stopping.has(pod)).length;
  const old = rest.filter(({ pod, phase }) => phase === 'old' && !stopping.has(pod)).length;
  const [has, have] = target.anyImage ? ['', ''] : ['has the new release and ', 'have the new release and '];
  const groups = [
    { count: old, one: 'still has the old release', many: 'still have the old release' },
    { count: rest.length - old - ending, one: `${has}is not ready yet`, many: `${have}are not ready yet` },
    { count: ending, one: 'is still stopping', many: 'are still stopping' },
  ].filter(({ count }) => count > 0);
  const ofAll = (index: number) => (index === 0 ? ` of ${counted(all, 'pod')}` : '');
  return groups.map(({ count, one, many }, index) => `${count}${ofAll(index)} ${count === 1 ? one : many}`).join(', ');
}

/** The image of the workload, where that is not the target's. */
function otherImage(target: RolloutTarget, workload: KubeObject): string | undefined {
  const image = containersOf(workload).find(({ name }) => name === target.container)?.image;
  return target.injected || isSameImage(image ?? '', target.image) ? undefined : (image ?? 'nothing');
}

/** The controller is content without pods: only the spec says why, and only the user changes it. */
const EMPTY: Readonly<Record<RolloutTarget['kind'], string>> = {
  DaemonSet: 'it wants no pod: no node fits its selector, affinity and tolerations',
  Deployment: 'it wants no pod: it is scaled to 0',
  StatefulSet: 'it wants no pod: it is scaled to 0',
};

/** Of a rollout that is paused; the words name its workload. */
export const resumeOf = (object: readonly string[]): Step => fix(text`${repairCommand`kubectl rollout resume ${object}`}`);

/** What only the user changes, and nothing else would tell: the controller waits without a word. */
function stepOf(
  { kind, namespace, name, neverEmpty }: RolloutTarget,
  { spec }: ReturnType<typeof shapeOf>,
  desired: number,
): Step | undefined {
  const object = [kind.toLowerCase(), name, ...(namespace === undefined ? [] : ['-n', namespace])];
  if (desired === 0 && neverEmpty)
    return kind === 'DaemonSet'
      ? seeWhy(command`kubectl get ${object} -o yaml`)
      : fix(text`${repairCommand`kubectl scale ${object} --replicas=1`}`);
  return spec?.paused ? resumeOf(object) : undefined;
}

/** The controller's own counts; a READY literal that is not full (`1/2`) can never satisfy them (§3). */
function countsPending(target: RolloutTarget, status: Readonly<Record<string, number | undefined>>, desired: number): string {
  if (target.ready.type === 'literal' && !/^(.+)\/\1$/.test(target.ready.ready)) return '';
  const ready = (target.kind === 'DaemonSet' ? status.numberReady : status.readyReplicas) ?? 0;
  const available = (target.kind === 'DaemonSet' ? status.numberAvailable : status.availableReplicas) ?? 0;
  if (ready < desired) return `${ready} of ${desired} pods are counted ready`;
  return available < desired ? `${available} of ${desired} pods are counted available` : '';
}

function progressOf(pod: PodFacts, view: RolloutView, isOfTemplate: boolean): PodProgress {
  const node = view.nodes.get(pod.node);
  const before = view.known?.get(pod);
  if (before && before.node === node && before.isOfTemplate === isOfTemplate) return before.progress;
  const progress = judgePod(pod, view, isOfTemplate);
  if (progress.phase === 'new' || progress.phase === 'old') view.known?.set(pod, { node, isOfTemplate, progress });
  return progress;
}

/** Why a new template does not replace every pod of a StatefulSet or DaemonSet by itself; undefined if it does. */
export function heldUpdate(workload: object): string | undefined {
  const { type, rollingUpdate } = shapeOf(workload).spec?.updateStrategy ?? {};
  if (type === 'OnDelete') return 'its update strategy is OnDelete';
  const partition = rollingUpdate?.partition ?? 0;
  return partition > 0 ? `its rolling update stops at partition ${partition}` : undefined;
}

/** How many of its pods the controller of a DaemonSet replaces at a time, with its defaults; undefined for what it does not replace by itself. */
export function podsAtOnce(workload: KubeObject, pods: number): number | undefined {
  const { type, rollingUpdate = {} } = shapeOf(workload).spec?.updateStrategy ?? {};
  if (workload.kind !== 'DaemonSet' || type === 'OnDelete') return undefined;
  const { maxUnavailable = 1, maxSurge = 0 } = rollingUpdate;
  return Math.min(pods, Math.max(1, countOf(maxUnavailable, pods) + countOf(maxSurge, pods)));
}

/** How many of them may be away at a time where somebody else deletes them: no surge comes first then. */
export function podsAway(workload: KubeObject, pods: number): number {
  const { maxUnavailable = 1 } = shapeOf(workload).spec?.updateStrategy?.rollingUpdate ?? {};
  return Math.min(pods, Math.max(1, countOf(maxUnavailable, pods)));
}

/** Rounded up as controllers do. Divided last: 0.07 of 100 is more than 7. */
export const percentOf = (percent: number, of: number): number => Math.ceil((percent * of) / 100);

/** `2`, `25%` of this many. */
function countOf(said: number | string, of: number): number {
  return typeof said === 'number' ? said : percentOf(Number.parseInt(said, 10), of) || 0;
}
