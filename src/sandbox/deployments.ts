import { K } from '../kernel/kinds.ts';
import type { KubeObject } from '../kernel/object.ts';
import type { WorkloadDeps } from './kubelets.ts';
import { isOfTemplate, isPodReady, isStopping, makePod, nodeOf, podsOf, specOf } from './pods-of.ts';
import type { Store } from './store.ts';

/** This many pods of the newest template: Recreate stops all old ones first, else an old one goes when a new one is ready. */
export function reconcileDeployment({ store, nodes }: Pick<WorkloadDeps, 'store' | 'nodes'>, deployment: KubeObject): void {
  const { replicas = 1, strategy } = specOf(deployment);
  const all = podsOf(store, deployment);
  const alive = all.filter((pod) => !isStopping(pod));
  const old = alive.filter((pod) => !isOfTemplate(pod, deployment));
  const fresh = alive.filter((pod) => isOfTemplate(pod, deployment));
  if (strategy?.type === 'Recreate') {
    for (const pod of old) store.markDeleted(K.Pod, pod);
    const gone = all.every((pod) => isOfTemplate(pod, deployment));
    if (gone) fill(store, nodes, deployment, replicas - fresh.length);
  } else {
    fill(store, nodes, deployment, Math.min(replicas - fresh.length, Math.max(1, replicas + 1 - alive.length)));
    const surplus = fresh.filter(isPodReady).length + old.length - replicas;
    for (const pod of old.slice(0, Math.max(0, surplus))) store.markDeleted(K.Pod, pod);
  }
  for (const pod of fresh.slice(replicas)) store.markDeleted(K.Pod, pod);
  writeStatus(store, deployment, replicas);
}

/** On nodes that are up, the least used first, as the scheduler spreads. */
function fill(store: Store, faults: WorkloadDeps['nodes'], deployment: KubeObject, count: number): void {
  for (let made = 0; made < count; made += 1) {
    const pods = podsOf(store, deployment);
    const up = store.list(K.Node).filter(({ metadata, spec }) => faults.faultOf(metadata.name) !== 'down' && !isCordoned(spec));
    const load = (node: KubeObject) => pods.filter((pod) => nodeOf(pod) === node.metadata.name).length;
    const [node] = up.toSorted((a, b) => load(a) - load(b));
    if (!node) return;
    makePod(store, deployment, node.metadata.name);
  }
}

function isCordoned(spec: unknown): boolean {
  return (spec as { unschedulable?: boolean } | undefined)?.unschedulable === true;
}

function writeStatus(store: Store, deployment: KubeObject, wanted: number): void {
  const alive = podsOf(store, deployment).filter((pod) => !isStopping(pod));
  const ready = alive.filter(isPodReady).length;
  const available = { type: 'Available', status: ready >= wanted ? 'True' : 'False' };
  const status = {
    replicas: alive.length,
    updatedReplicas: alive.filter((pod) => isOfTemplate(pod, deployment)).length,
    readyReplicas: ready,
    availableReplicas: ready,
    unavailableReplicas: Math.max(0, wanted - ready),
    observedGeneration: deployment.metadata.generation,
    conditions: [available],
  };
  store.update(K.Deployment, { ...deployment, status });
}
