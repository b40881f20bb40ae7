import { textAt } from '../kernel/json.ts';
import { K } from '../kernel/kinds.ts';
import type { KubeObject } from '../kernel/object.ts';
import { podShape } from '../kube/pod-facts.ts';
import type { VirtualClock } from './clock.ts';
import { isPodReady, nodeOf, type PodState, podStatus } from './pods-of.ts';
import type { Store } from './store.ts';

/** What new pods on a node meet; running pods do not change unless the node is down. Network faults do not stop readiness; `cut` ends running connections, `silent` loses what is sent on them. */
type NodeFault = 'none' | 'image-pull' | 'crash-loop' | 'not-ready' | 'down' | 'no-network' | 'no-dns' | 'cut' | 'silent';

/** The machines, and what is wrong with them. */
export class Nodes {
  readonly #store: Store;
  readonly #faults = new Map<string, NodeFault>();
  readonly #listeners = new Set<(node: string, fault: NodeFault) => void>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** `node-01`, `node-02` …: names of the new nodes. */
  add(count: number): readonly string[] {
    const first = this.#store.list(K.Node).length + 1;
    const names = Array.from({ length: count }, (_, index) => `node-${String(first + index).padStart(2, '0')}`);
    for (const name of names) this.#store.insert(K.Node, nodeObject(name));
    return names;
  }

  faultOf(node: string): NodeFault {
    return this.#faults.get(node) ?? 'none';
  }

  /** Puts a node under a fault; `none` frees it, and its stuck pods continue. */
  fault(node: string, fault: NodeFault): void {
    this.#faults.set(node, fault);
    const object = this.#store.get(K.Node, node);
    if (object) this.#store.update(K.Node, { ...object, status: nodeStatus(fault) });
    for (const listener of this.#listeners) listener(node, fault);
  }

  onFault(listener: (node: string, fault: NodeFault) => void): void {
    this.#listeners.add(listener);
  }
}

function nodeObject(name: string): KubeObject {
  const labels = { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64', 'kubernetes.io/hostname': name };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, spec: {}, status: nodeStatus('none') };
}

function nodeStatus(fault: NodeFault) {
  const ready =
    fault === 'down'
      ? { status: 'Unknown', reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' }
      : { status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' };
  const resources = { cpu: '8', memory: '32Gi', pods: '110' };
  const machine = { kernelVersion: '6.12.0', operatingSystem: 'linux', architecture: 'amd64', osImage: 'sandbox' };
  const nodeInfo = { kubeletVersion: 'v1.36.1', ...machine };
  return { conditions: [{ type: 'Ready', ...ready }], capacity: resources, allocatable: resources, nodeInfo };
}

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
  const ran = containerStatuses.length > 0 && containerStatuses.every(({ ready }) => ready);
  if (ran) set(deps, pod, 'ready');
  else deps.clock.schedule(deps.pullMs, () => pulled(deps, pod));
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
  const startedAt = textAt(live.status, 'startTime') ?? deps.clock.now().toISOString();
  deps.store.update(K.Pod, { ...live, status: podStatus(live, state, startedAt) });
}

/** The very pod, if it still exists. */
export function current({ store }: WorkloadDeps, pod: KubeObject): KubeObject | undefined {
  const live = store.get(K.Pod, pod.metadata.name, pod.metadata.namespace);
  return live?.metadata.uid === pod.metadata.uid ? live : undefined;
}
