import { K } from '../kernel/kinds.ts';
import type { Kind, KubeObject } from '../kernel/object.ts';
import { reconcileDeployment } from './deployments.ts';
import { startJobs } from './jobs.ts';
import { startKubelets, type WorkloadDeps } from './kubelets.ts';
import { isOfTemplate, isPodReady, isStopping, makePod, nodeOf, podsOf, specOf } from './pods-of.ts';
import type { Store } from './store.ts';

/** One pod per node that the selector takes; a new template rolls as far as maxUnavailable lets it. */
function reconcileDaemonSet({ store }: Pick<WorkloadDeps, 'store'>, set: KubeObject): void {
  const nodes = nodesFor(store, set);
  const all = podsOf(store, set);
  for (const pod of all) if (!nodes.includes(nodeOf(pod))) store.markDeleted(K.Pod, pod);
  const held = new Set(all.map(nodeOf));
  for (const node of nodes) if (!held.has(node)) makePod(store, set, node);
  if (specOf(set).updateStrategy?.type !== 'OnDelete') roll(store, set, nodes);
  writeStatus(store, set, nodes);
}

/** An old pod that is not available is replaced in any case; of the others as many as may be unavailable at a time. */
function roll(store: Store, set: KubeObject, nodes: readonly string[]): void {
  const alive = podsOf(store, set).filter((pod) => !isStopping(pod));
  const old = alive.filter((pod) => !isOfTemplate(pod, set));
  const fresh = alive.filter((pod) => isOfTemplate(pod, set));
  const broken = old.filter((pod) => !isPodReady(pod));
  const empty = nodes.filter((node) => !alive.some((pod) => nodeOf(pod) === node)).length;
  const unavailable = empty + fresh.filter((pod) => !isPodReady(pod)).length;
  const room = Math.max(0, maxUnavailable(set, nodes.length) - unavailable);
  const next = old.filter(isPodReady).slice(0, room);
  for (const pod of [...broken, ...next]) store.markDeleted(K.Pod, pod);
}

function maxUnavailable(set: KubeObject, nodes: number): number {
  const said = specOf(set).updateStrategy?.rollingUpdate?.maxUnavailable ?? 1;
  return typeof said === 'number' ? said : Math.max(1, Math.ceil((Number.parseInt(said, 10) / 100) * nodes));
}

function nodesFor(store: Store, set: KubeObject): readonly string[] {
  const wanted = Object.entries(specOf(set).template.spec.nodeSelector ?? {});
  const nodes = store.list(K.Node).filter(({ metadata }) => wanted.every(([label, value]) => metadata.labels?.[label] === value));
  return nodes.map(({ metadata }) => metadata.name);
}

function writeStatus(store: Store, set: KubeObject, nodes: readonly string[]): void {
  const pods = podsOf(store, set).filter((pod) => nodes.includes(nodeOf(pod)) && !isStopping(pod));
  const ready = pods.filter(isPodReady).length;
  const status = {
    currentNumberScheduled: pods.length,
    desiredNumberScheduled: nodes.length,
    numberMisscheduled: 0,
    numberReady: ready,
    numberAvailable: ready,
    numberUnavailable: nodes.length - ready,
    updatedNumberScheduled: pods.filter((pod) => isOfTemplate(pod, set)).length,
    observedGeneration: set.metadata.generation,
  };
  store.update(K.DaemonSet, { ...set, status });
}

/** A controller looks this long after a change. */
const REACT_MS = 100;

const CONTROLLERS = [
  [K.DaemonSet, reconcileDaemonSet],
  [K.Deployment, reconcileDeployment],
] as const;

/** The controllers of DaemonSets and Deployments, and the kubelets: everything that works on pods. */
export function startWorkloads(deps: WorkloadDeps): void {
  startKubelets(deps);
  startJobs(deps);
  let waiting = false;
  const watched = new Set([K.DaemonSet, K.Deployment, K.Job, K.Pod, K.Node].map((kind: Kind) => kind.plural));
  deps.store.listen(({ kind }) => {
    if (waiting || !watched.has(kind.plural)) return;
    waiting = true;
    deps.clock.schedule(REACT_MS, () => {
      waiting = false;
      for (const [kindOf, reconcile] of CONTROLLERS) {
        for (const workload of deps.store.list(kindOf)) reconcile(deps, workload);
      }
      removeOrphans(deps);
    });
  });
}

/** The garbage collector: pods whose workload is gone go as well. */
function removeOrphans({ store }: WorkloadDeps): void {
  const kinds = [...CONTROLLERS.map(([kind]) => kind), K.Job];
  const owners = new Set(kinds.flatMap((kind) => store.list(kind).map(({ metadata }) => metadata.uid)));
  for (const pod of store.list(K.Pod)) {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller);
    if (owner && kinds.some(({ kind }) => kind === owner.kind) && !owners.has(owner.uid)) store.markDeleted(K.Pod, pod);
  }
}
