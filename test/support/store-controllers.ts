import { setTimeout as pause } from 'node:timers/promises';
import type { KvstoreCluster } from './kvstore-cluster.ts';

/** Where the service keeps its objects in the store (cli notes 4). */
export const RESOURCES = '/calico/resources/v3/projectcalico.org/';
const ENDPOINTS = `${RESOURCES}hostendpoints/`;
const SETTINGS = `${RESOURCES}kubecontrollersconfigurations/default`;
const [CREATED_BY, VALUE] = ['projectcalico.org/created-by', 'calico-kube-controllers'];
const EVERY_MS = 250;

interface Node {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

/**
 * The controllers as far as the store shows them: by their setting every node has its endpoint with the node's labels, or none has; theirs
 * they know by the label alone (host endpoint notes 6). Without their restarts and pauses, which the tests with the API play.
 */
export function playStoreControllers(cluster: Pick<KvstoreCluster, 'store' | 'plane'>): { stop(): Promise<void> } {
  const end = new AbortController();
  const running = (async () => {
    while (!end.signal.aborted) {
      await sync(cluster);
      await pause(EVERY_MS);
    }
  })();
  return {
    async stop() {
      end.abort();
      await running;
    },
  };
}

async function sync({ store, plane }: Pick<KvstoreCluster, 'store' | 'plane'>): Promise<void> {
  const settings = JSON.parse((await store.get(SETTINGS)) ?? '{}') as {
    readonly spec?: { readonly controllers?: { readonly node?: { readonly hostEndpoint?: { readonly autoCreate?: string } } } };
  };
  const isOn = settings.spec?.controllers?.node?.hostEndpoint?.autoCreate === 'Enabled';
  const stored = await store.list(ENDPOINTS);
  if (!isOn) {
    for (const [key, text] of stored) if (JSON.parse(text).metadata.labels?.[CREATED_BY] === VALUE) await store.remove(key);
    return;
  }
  const { items } = JSON.parse((await plane.kubectl(['get', 'nodes', '-o', 'json'])).stdout) as { readonly items: readonly Node[] };
  for (const node of items) {
    const wanted = JSON.stringify(endpointOf(node));
    const key = `${ENDPOINTS}${node.metadata.name}-auto-hep`;
    if (stored.get(key) !== wanted) await store.put(key, wanted);
  }
}

function endpointOf({ metadata: { name, labels } }: Node): object {
  return {
    kind: 'HostEndpoint',
    apiVersion: 'projectcalico.org/v3',
    metadata: { name: `${name}-auto-hep`, labels: { ...labels, [CREATED_BY]: VALUE } },
    spec: { node: name, interfaceName: '*', expectedIPs: ['10.0.0.1'], profiles: ['projectcalico-default-allow'] },
  };
}
