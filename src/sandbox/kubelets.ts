import { K } from '../kernel/kinds.ts';
import type { KubeObject } from '../kernel/object.ts';
import { podShape } from '../kube/pod-facts.ts';
import type { VirtualClock } from './clock.ts';
import type { Nodes } from './nodes.ts';
import { isPodReady, nodeOf, type PodState, podStatus } from './pods-of.ts';
import type { Store } from './store.ts';

export interface WorkloadDeps {
  readonly store: Store;
  readonly clock: VirtualClock;
  readonly nodes: Nodes;
  /** From a new pod to its images being there. */
  readonly pullMs: number;
  /** From running to ready. */
  readonly readyMs: number;
}

/** A pod told to stop is gone after this. */
const STOP_MS = 500;

/** Runs pods on their nodes: pulling, then running and not ready, then ready; or where the node's fault leaves them. */
export function startKubelets(deps: WorkloadDeps): void {
  const { store, nodes } = deps;
  store.listen(({ kind, before, after }) => {
    if (kind.plural !== K.Pod.plural || !after) return;
    if (!before) begin(deps, after);
    else if (after.metadata.deletionTimestamp && !before.metadata.deletionTimestamp) stop(deps, after);
  });
  nodes.onFault((node, fault) => {
    for (const pod of store.list(K.Pod).filter((one) => nodeOf(one) === node)) {
      if (fault === 'down') unreachable(deps, pod);
      else if (pod.metadata.deletionTimestamp) stop(deps, pod);
      else if (!isPodReady(pod)) goOn(deps, pod);
    }
  });
}

function begin(deps: WorkloadDeps, pod: KubeObject): void {
  deps.clock.schedule(0, () => set(deps, pod, 'pulling'));
  deps.clock.schedule(deps.pullMs, () => pulled(deps, pod));
}

function pulled(deps: WorkloadDeps, pod: KubeObject): void {
  const fault = deps.nodes.faultOf(nodeOf(pod));
  if (fault === 'down') return;
  set(deps, pod, fault === 'image-pull' ? 'image-pull' : 'starting');
  if (fault !== 'image-pull') deps.clock.schedule(deps.readyMs, () => started(deps, pod));
}

function started(deps: WorkloadDeps, pod: KubeObject): void {
  const fault = deps.nodes.faultOf(nodeOf(pod));
  if (fault === 'down') return;
  set(deps, pod, fault === 'crash-loop' || fault === 'not-ready' ? fault : 'ready');
}

/** After a fault: what already ran on a node that was down is there at once, a stuck pod starts over. */
function goOn(deps: WorkloadDeps, pod: KubeObject): void {
  const { containerStatuses = [] } = podShape(pod).status ?? {};
  const ran = containerStatuses.length > 0 && containerStatuses.every((one) => (one as { ready?: boolean }).ready);
  if (ran) set(deps, pod, 'ready');
  else pulledLater(deps, pod);
}

function pulledLater(deps: WorkloadDeps, pod: KubeObject): void {
  deps.clock.schedule(deps.pullMs, () => pulled(deps, pod));
}

function stop(deps: WorkloadDeps, pod: KubeObject): void {
  deps.clock.schedule(STOP_MS, () => {
    const live = current(deps, pod);
    if (live && deps.nodes.faultOf(nodeOf(pod)) !== 'down') deps.store.delete(K.Pod, pod.metadata.name, pod.metadata.namespace);
  });
}

/** The control plane no longer hears of the pod: its containers are reported as they last were. */
function unreachable({ store }: WorkloadDeps, pod: KubeObject): void {
  const { status } = podShape(pod);
  const conditions = (status?.conditions ?? []).map((one) =>
    one.type === 'Ready' ? { ...one, status: 'False', reason: 'NodeNotReady' } : one,
  );
  store.update(K.Pod, { ...pod, status: { ...status, conditions } });
}

function set(deps: WorkloadDeps, pod: KubeObject, state: PodState): void {
  const live = current(deps, pod);
  if (!live || live.metadata.deletionTimestamp) return;
  const startedAt = (live.status as { startTime?: string } | undefined)?.startTime ?? deps.clock.now().toISOString();
  deps.store.update(K.Pod, { ...live, status: podStatus(live, state, startedAt) });
}

/** The very pod, if it still exists. */
function current({ store }: WorkloadDeps, pod: KubeObject): KubeObject | undefined {
  const live = store.get(K.Pod, pod.metadata.name, pod.metadata.namespace);
  return live?.metadata.uid === pod.metadata.uid ? live : undefined;
}
