import { type Api, ApiError, type ApiList, type ApiObject, unlessGone } from './api.ts';
import { until } from './until.ts';

/** The names by which one product's agents are known. */
export interface ServiceNames {
  /** API group of the stored custom resources: `crd.projectcalico.org`. */
  readonly group: string;
  /** Field of its spec that carries the release: `calicoVersion`. */
  readonly field: string;
  /** Label selector of the agents' pods, in all namespaces. */
  readonly agentSelector: string;
  /** Container whose image tag is the release. */
  readonly container: string;
}

export const CALICO: ServiceNames = {
  group: 'crd.projectcalico.org',
  field: 'calicoVersion',
  agentSelector: 'k8s-app in (calico-node,canal,canal-node)',
  container: 'calico-node',
};

export const NETSVC: ServiceNames = {
  group: 'crd.netsvc.io',
  field: 'netsvcVersion',
  agentSelector: 'k8s-app=netsvc-node',
  container: 'netsvc-node',
};

/**
 * Does on the API what the agents of a real installation do when they start: each writes its release into
 * ClusterInformation/default, which it creates if it is missing. So the cluster's version changes with the first new
 * agent, and back again if an old one restarts (domain §0.7). Without the CRD it does nothing; in key-value mode `write`
 * says where else it goes.
 */
export function simulateService(api: Api, names: ServiceNames, write?: (release: string) => Promise<void>) {
  const stopped = new AbortController();
  const started = new Set<string>();
  let writing = Promise.resolve();
  const seen = (pod: ApiObject) => {
    const release = runningRelease(pod, names.container);
    if (release === undefined || started.has(pod.metadata.uid)) return;
    started.add(pod.metadata.uid);
    writing = writing.then(() => (write ? write(release) : writeRelease(api, names, release, stopped.signal)));
  };
  const pods = `/api/v1/pods?labelSelector=${encodeURIComponent(names.agentSelector)}`;
  const following = api.follow(pods, seen, stopped.signal);
  return {
    /** Resolves once every agent that runs now has written its release. */
    async settled() {
      await until('every running agent was seen', async () => {
        const { items } = await api.get<ApiList>(pods);
        return items.every((pod) => runningRelease(pod, names.container) === undefined || started.has(pod.metadata.uid));
      });
      await writing;
    },
    async stop() {
      stopped.abort();
      await following;
      await writing;
    },
  };
}

interface PodShape {
  readonly spec?: { readonly containers?: readonly { readonly name: string; readonly image: string }[] };
  readonly status?: { readonly containerStatuses?: readonly { readonly name: string; readonly state?: { readonly running?: unknown } }[] };
}

/** Image tag of the container, if it runs and has one. */
export function runningRelease(pod: ApiObject, container: string): string | undefined {
  const { spec, status } = pod as PodShape;
  const state = status?.containerStatuses?.find(({ name }) => name === container)?.state;
  const image = spec?.containers?.find(({ name }) => name === container)?.image ?? '';
  return state?.running === undefined ? undefined : /:([^/@:]+)(?:@.*)?$/.exec(image)?.[1];
}

const RETRY_MS = 500;

/** Tries until it is written, as an agent does; gives up when there is no such CRD. */
async function writeRelease(api: Api, names: ServiceNames, release: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      return await writeOnce(api, names, release);
    } catch (thrown) {
      if (thrown instanceof ApiError && thrown.status === 404) return;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

async function writeOnce(api: Api, { group, field }: ServiceNames, release: string): Promise<void> {
  const list = `/apis/${group}/v1/clusterinformations`;
  const spec = { [field]: release };
  if (await api.send('PATCH', `${list}/default`, { spec }).catch(unlessGone)) return;
  const object = { apiVersion: `${group}/v1`, kind: 'ClusterInformation', metadata: { name: 'default' } };
  await api.send('POST', list, { ...object, spec: { ...spec, datastoreReady: true, clusterType: 'k8s,simulated' } });
}
