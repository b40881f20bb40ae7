import { type Api, ApiError, type ApiList, type ApiObject } from './api.ts';

/** How the played controllers behave. */
export interface EndpointManner {
  /** v3 group: `projectcalico.org`. */
  readonly group: string;
  readonly createdBy: readonly [key: string, value: string];
  readonly allowAllProfile: string;
  /** `old` keeps labels on the object and takes over `<node>-auto-hep`; `new` keeps them in the annotation and leaves a taken name alone. */
  readonly manner: 'old' | 'new';
  /** Nodes that get no endpoint, as long as they are in here. */
  readonly never: Set<string>;
}

export interface EndpointControllers {
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 200;
const WIDTH = 16;

/** The controllers' part that makes automatic host endpoints, on a real API server: it looks at everything five times a second. */
export function playEndpointControllers(api: Api, manner: EndpointManner): EndpointControllers {
  const end = new AbortController();
  const done = (async () => {
    while (!end.signal.aborted) {
      await look(api, manner);
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  })();
  return {
    async stop() {
      end.abort();
      await done;
    },
  };
}

async function look(api: Api, manner: EndpointManner): Promise<void> {
  const base = `/apis/crd.${manner.group}/v1`;
  const [nodes, endpoints, configurations] = await Promise.all(
    ['/api/v1/nodes', `${base}/hostendpoints`, `${base}/kubecontrollersconfigurations`].map((path) => api.get<ApiList>(path)),
  );
  const on = isOn(configurations?.items.find(({ metadata }) => metadata.name === 'default'));
  const wanted = new Map(
    on ? (nodes?.items ?? []).filter(({ metadata }) => !manner.never.has(metadata.name)).map((node) => [node.metadata.name, node]) : [],
  );
  const [key, value] = manner.createdBy;
  const mine = (endpoints?.items ?? []).filter(({ metadata }) => (metadata.labels as Record<string, string> | undefined)?.[key] === value);
  const gone = mine.filter(({ spec }) => !wanted.has((spec as { node?: string }).node ?? ''));
  await each(gone, (one) => api.send('DELETE', `${base}/hostendpoints/${one.metadata.name}`));
  const there = new Map((endpoints?.items ?? []).map((one) => [one.metadata.name, one]));
  await each([...wanted.values()], (node) => write(api, base, node, there, manner));
}

function isOn(configuration: ApiObject | undefined): boolean {
  const spec = configuration?.spec as { controllers?: { node?: { hostEndpoint?: { autoCreate?: string } } } } | undefined;
  return spec?.controllers?.node?.hostEndpoint?.autoCreate === 'Enabled';
}

async function write(
  api: Api,
  base: string,
  node: ApiObject,
  there: ReadonlyMap<string, ApiObject>,
  manner: EndpointManner,
): Promise<void> {
  const { group, createdBy, allowAllProfile } = manner;
  const name = `${node.metadata.name}-auto-hep`;
  const mark = Object.fromEntries([createdBy]);
  const labels = { ...(node.metadata.labels as Record<string, string>), ...mark };
  const metadata =
    manner.manner === 'old'
      ? { name, labels }
      : { name, labels: mark, annotations: { [`${group}/metadata`]: JSON.stringify({ labels: sorted(labels) }) } };
  const addresses = (node.status as { addresses?: readonly { address: string }[] }).addresses ?? [];
  const spec = {
    node: node.metadata.name,
    interfaceName: '*',
    expectedIPs: addresses.map(({ address }) => address),
    profiles: [allowAllProfile],
  };
  const live = there.get(name);
  if (!live) {
    await api.send('POST', `${base}/hostendpoints`, { apiVersion: `crd.${group}/v1`, kind: 'HostEndpoint', metadata, spec });
    return;
  }
  const owned = (live.metadata.labels as Record<string, string> | undefined)?.[createdBy[0]] === createdBy[1];
  if (!owned && manner.manner === 'new') return;
  const annotation = (live.metadata.annotations as Record<string, string> | undefined)?.[`${group}/metadata`];
  const wanted = 'annotations' in metadata ? metadata.annotations?.[`${group}/metadata`] : undefined;
  if (owned && annotation === wanted && (manner.manner === 'new' || same(live.metadata.labels, labels))) return;
  await api.send('PATCH', `${base}/hostendpoints/${name}`, { metadata, spec });
}

const sorted = (labels: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
const same = (a: unknown, b: Readonly<Record<string, string>>) =>
  JSON.stringify(sorted(a as Record<string, string>)) === JSON.stringify(sorted(b));

/** What somebody else changed or deleted meanwhile is looked at again the next time. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const queue = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of queue) {
      await work(item).catch((thrown: unknown) => {
        if (!(thrown instanceof ApiError) || ![404, 409].includes(thrown.status)) throw thrown;
      });
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, worker));
}
