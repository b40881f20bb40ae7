import type { Api, ApiList, ApiObject } from './api.ts';
import { FAULT_LABEL, type NodeFault, SIMULATED_ANNOTATION } from './stages.ts';
import { until } from './until.ts';

export interface NodeOptions {
  /** Names are `<prefix>-01` and on; `node` unless said. */
  readonly prefix?: string;
  /** The fault they are born with. */
  readonly fault?: NodeFault;
}

/** Of a machine that is busy with other things. */
const LIMIT_EACH_MS = 300;
/** A simulation that fails to write drops what it was about to do until the node changes again. */
const NUDGE_MS = 5_000;
const NUDGED = 'netsvc-upgrade.test/nudged';
const CAPACITY = { cpu: '16', memory: '64Gi', pods: '250', 'ephemeral-storage': '200Gi' };

/** Creates nodes; numbers go on where the prefix ends. Returns the new names once every one is Ready. */
export async function createNodes(api: Api, count: number, { prefix = 'node', fault = 'none' }: NodeOptions): Promise<readonly string[]> {
  const present = (await api.get<ApiList>('/api/v1/nodes')).items.map((node) => node.metadata.name);
  const numbers = present.filter((name) => name.startsWith(`${prefix}-`)).map((name) => Number(name.slice(prefix.length + 1)) || 0);
  const first = 1 + Math.max(0, ...numbers);
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${String(first + index).padStart(2, '0')}`);
  const objects = names.map((name, index) => nodeObject(name, addressOf(present.length + index + 1), fault));
  await Promise.all(objects.map((object) => api.send('POST', '/api/v1/nodes', object)));
  const areReady = async () => {
    const { items } = await api.get<ApiList>('/api/v1/nodes');
    const ready = new Set(items.filter(isReady).map(({ metadata }) => metadata.name));
    return names.every((name) => ready.has(name));
  };
  await until(`${count} nodes are Ready`, areReady, Math.max(60_000, count * LIMIT_EACH_MS));
  return names;
}

/** Addresses of the benchmark range: nobody answers there, and no two nodes share one. */
function addressOf(number: number): string {
  return `198.18.${Math.floor(number / 256) % 256}.${number % 256}`;
}

function nodeObject(name: string, address: string, fault: NodeFault): unknown {
  const common = { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64', 'kubernetes.io/hostname': name };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { ...common, ...(fault === 'none' ? {} : { [FAULT_LABEL]: fault }) },
      annotations: { 'kwok.x-k8s.io/node': 'fake' },
    },
    status: {
      addresses: [
        { type: 'InternalIP', address },
        { type: 'Hostname', address: name },
      ],
      capacity: CAPACITY,
      allocatable: CAPACITY,
      nodeInfo: {
        kernelVersion: '6.1.0',
        osImage: 'Linux',
        containerRuntimeVersion: 'containerd://2.1.0',
        kubeletVersion: 'v1.36.1',
        operatingSystem: 'linux',
        architecture: 'amd64',
      },
    },
  };
}

function isReady(node: ApiObject): boolean {
  const { conditions = [] } = (node.status ?? {}) as { conditions?: readonly { type: string; status: string }[] };
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

/** Puts a node under a fault, or frees it (`none`); resolves once the simulation of that fault owns the node. */
export async function setFault(api: Api, node: string, fault: NodeFault): Promise<void> {
  const path = `/api/v1/nodes/${node}`;
  await api.send('PATCH', path, { metadata: { labels: { [FAULT_LABEL]: fault === 'none' ? null : fault } } });
  let lookedAt = Date.now();
  await until(`the simulation of ${fault} owns ${node}`, async () => {
    const { metadata } = await api.get<ApiObject>(path);
    if (metadata.annotations?.[SIMULATED_ANNOTATION] === fault) return true;
    if (Date.now() - lookedAt > NUDGE_MS) {
      lookedAt = Date.now();
      await api.send('PATCH', path, { metadata: { annotations: { [NUDGED]: String(lookedAt) } } });
    }
    return false;
  });
  if (fault === 'none') await until(`${node} is Ready`, async () => isReady(await api.get<ApiObject>(path)));
  if (fault === 'down') await until(`${node} is not Ready`, async () => !isReady(await api.get<ApiObject>(path)));
}
