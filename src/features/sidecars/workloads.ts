import type { Context } from '../../kernel/context.ts';
import type { PreconditionTypes } from '../../kernel/effect-type.ts';
import { Outdated } from '../../kernel/fault.ts';
import { jsonAt } from '../../kernel/json.ts';
import { K, servedKind } from '../../kernel/kinds.ts';
import { apiVersionOf, type KubeObject, type ObjectRef, refOf, refText } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { heldUpdate } from '../../kube/judge-rollout.ts';
import { named } from '../../kube/lean-objects.ts';
import { selectorOf, selects } from '../../kube/selector.ts';
import { shapeOf } from '../survey/index.ts';
import { hasOwnSidecar, ownerOf, readSidecars, type SidecarPod } from './sidecars.ts';

const RESTARTABLE = ['Deployment', 'StatefulSet', 'DaemonSet'] as const;
export type RestartableKind = (typeof RESTARTABLE)[number];

/** A workload of which running pods carry the policy sidecar. */
export interface MeshedWorkload {
  readonly ref: ObjectRef & { readonly namespace: string };
  /** Pods with the sidecar, and those whose sidecar is not the target's. */
  readonly pods: number;
  readonly stale: number;
  /** True if one of these pods was there before this run: what `--all` restarts, once. */
  readonly isOlderThanRun: boolean;
  /** Its pods are being replaced already: it is waited for, not restarted again. */
  readonly isRolling: boolean;
  /** Names of the disruption budgets of its pods. */
  readonly budgets: readonly string[];
  /** Of the mesh, where all its pods tell the same. */
  readonly revision?: string;
  /** Why it cannot be restarted by `kubectl rollout restart`; undefined if it can. */
  readonly obstacle?: string;
}

/** Workloads behind meshed pods, by their owners: ReplicaSets lead to their Deployment (domain §9). */
export async function readMeshedWorkloads(cluster: ClusterReader, context: Context): Promise<readonly MeshedWorkload[]> {
  const pods = await readSidecars(cluster, context);
  if (pods.length === 0) return [];
  const [replicaSets, deployments, statefulSets, daemonSets, budgets] = await Promise.all([
    cluster.list(K.ReplicaSet, { metadataOnly: true }),
    cluster.list(K.Deployment, { keep: leanWorkload }),
    cluster.list(K.StatefulSet, { keep: leanWorkload }),
    cluster.list(K.DaemonSet, { keep: leanWorkload }),
    cluster.list(K.PodDisruptionBudget),
  ]);
  const parents = new Map(replicaSets.map((set) => [`${set.metadata.namespace}/${set.metadata.name}`, ownerOf(set)]));
  const workloads = new Map([...deployments, ...statefulSets, ...daemonSets].map((one) => [refText(refOf(one)), one]));
  const groups = Map.groupBy(pods, (pod) => refText(topOwner(pod, parents)));
  return [...groups].flatMap(([text, group]) => {
    const [first] = group;
    if (!first) return [];
    const ref = topOwner(first, parents);
    const live = workloads.get(text);
    const stale = group.filter(({ isStale }) => isStale).length;
    const own = budgets.filter((budget) => budget.metadata.namespace === ref.namespace && covers(budget, group));
    const obstacle = obstacleOf(ref.kind, live, own, context.profile);
    const revision = group.every((pod) => pod.revision === first.revision) ? first.revision : undefined;
    const isOlderThanRun = group.some(({ createdAt }) => createdAt < context.startedAt.getTime());
    return [
      {
        ref,
        pods: group.length,
        stale,
        isOlderThanRun,
        isRolling: live !== undefined && isRolling(live),
        budgets: own.map(({ metadata }) => metadata.name),
        ...(revision === undefined ? {} : { revision }),
        ...(obstacle === undefined ? {} : { obstacle }),
      },
    ];
  });
}

/** Without annotations, which hold the last applied configuration, and managed fields: the larger part of most workloads. */
function leanWorkload(workload: KubeObject): KubeObject {
  return { ...workload, ...named(workload, 'generation') };
}

/** By what its controller counts; pods that do not become ready alone are no rollout. */
function isRolling(workload: KubeObject): boolean {
  const { spec, status = {} } = shapeOf(workload);
  if ((status.observedGeneration ?? 0) < (workload.metadata.generation ?? 0)) return true;
  if (workload.kind === 'DaemonSet') return (status.updatedNumberScheduled ?? 0) < (status.desiredNumberScheduled ?? 0);
  const updated = status.updatedReplicas ?? 0;
  return updated < (spec?.replicas ?? 1) || (status.replicas ?? 0) > updated;
}

function topOwner({ name, namespace, owner }: SidecarPod, parents: ReadonlyMap<string, ObjectRef | undefined>) {
  const parent = owner?.kind === 'ReplicaSet' ? (parents.get(`${namespace}/${owner.name}`) ?? owner) : owner;
  return { ...(parent ?? { apiVersion: apiVersionOf(K.Pod), kind: 'Pod', name }), namespace };
}

function obstacleOf(kind: string, live: KubeObject | undefined, budgets: readonly KubeObject[], profile: Profile): string | undefined {
  if (kind === 'Pod') return 'a pod without a controller does not come back: delete it and create it again yourself';
  if (kind === 'Job') return 'pods of a Job are not restarted: the next Job has the new sidecar';
  if (!RESTARTABLE.some((one) => one === kind)) return `kubectl cannot restart a ${kind}: restart it by its own controller`;
  if (!live) return 'it is being deleted';
  if (hasOwnSidecar(live, profile)) return 'its own pod template has the sidecar: change the image there';
  if (shapeOf(live).spec?.paused) return 'its rollout is paused: resume it first';
  const held = heldUpdate(live);
  if (held !== undefined) return `${held}: delete its pods yourself, one at a time; each comes back with the new sidecar`;
  const full = budgets.find(isSpent);
  return full ? `PodDisruptionBudget ${full.metadata.name} allows no disruption now` : undefined;
}

function covers(budget: KubeObject, pods: readonly SidecarPod[]): boolean {
  const selector = selectorOf(budget);
  return selector !== undefined && pods.some(({ labels }) => selects(selector, labels));
}

const isSpent = (budget: KubeObject | undefined): boolean => jsonAt(budget, 'status', 'disruptionsAllowed') === 0;

declare module '../../kernel/action.ts' {
  interface Preconditions {
    readonly restartable: RestartExpected;
  }
}

export const sidecarPreconditions: Pick<PreconditionTypes, 'restartable'> = {
  restartable: { assert: ({ cluster }, expected) => assertRestartable(cluster, expected) },
};

/** A workload may be restarted: its rollout continues, and no budget of its pods is spent. */
interface RestartExpected {
  readonly type: 'restartable';
  readonly workload: ObjectRef;
  /** Names of the disruption budgets of its pods. */
  readonly budgets: readonly string[];
}

/** Throws Outdated if the workload is gone, paused or replaces its pods manually only by now, or if one of its budgets allows no disruption any more. */
export async function assertRestartable(
  cluster: Pick<ClusterReader, 'get' | 'resolve'>,
  { workload, budgets }: Pick<RestartExpected, 'workload' | 'budgets'>,
): Promise<void> {
  const live = await cluster.get(await servedKind(cluster, workload), workload.name, workload.namespace);
  if (!live) throw new Outdated(`${refText(workload)} is gone`);
  if (shapeOf(live).spec?.paused) throw new Outdated(`the rollout of ${refText(workload)} is paused`);
  const held = heldUpdate(live);
  if (held !== undefined) throw new Outdated(`${refText(workload)} would not replace every pod: ${held}`);
  for (const name of budgets) {
    const budget = await cluster.get(K.PodDisruptionBudget, name, workload.namespace);
    if (isSpent(budget)) throw new Outdated(`PodDisruptionBudget ${name} allows no disruption of ${refText(workload)} now`);
  }
}
