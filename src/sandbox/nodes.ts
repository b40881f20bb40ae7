import { K } from '../kernel/kinds.ts';
import type { KubeObject } from '../kernel/object.ts';
import type { Store } from './store.ts';

/** What new pods on a node meet; running pods do not change unless the node is down. Network faults do not stop readiness. */
export type NodeFault = 'none' | 'image-pull' | 'crash-loop' | 'not-ready' | 'down' | 'no-network' | 'no-dns';

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
  const nodeInfo = {
    kubeletVersion: 'v1.36.1',
    kernelVersion: '6.12.0',
    operatingSystem: 'linux',
    architecture: 'amd64',
    osImage: 'sandbox',
  };
  return { conditions: [{ type: 'Ready', ...ready }], capacity: resources, allocatable: resources, nodeInfo };
}
