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
  /** Nodes that get theirs so many milliseconds after the setting was taken. */
  readonly late: ReadonlyMap<string, number>;
  /** DaemonSet of their namespace that those of the new manner wait for before they do anything (host endpoint notes 0.2). */
  readonly agents: string;
}

export interface EndpointControllers {
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 200;
const WIDTH = 16;

/** Until the process that took a new setting has been started again; the old one is restarted from outside. */
const RESTART_MS = { old: 1000, new: 200 };

/**
 * The controllers' part that makes automatic host endpoints, on a real API server: it looks at everything five times a second.
 * A new setting is told in the status first, then the process ends, and the next one acts on it.
 */
export function playEndpointControllers(api: Api, manner: EndpointManner): EndpointControllers {
  const end = new AbortController();
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const done = (async () => {
    let taken = { on: false, since: 0 };
    while (!end.signal.aborted) {
      const on = isOn(await settings(api, manner));
      if (on !== taken.on) {
        await tellStatus(api, manner, on);
        await pause(RESTART_MS[manner.manner]);
        taken = { on, since: Date.now() };
      }
      if (await mayAct(api, manner)) await look(api, manner, taken);
      await pause(LOOK_EVERY_MS);
    }
  })();
  return {
    async stop() {
      end.abort();
      await done;
    },
  };
}

const pathOf = ({ group }: EndpointManner) => `/apis/crd.${group}/v1`;

async function settings(api: Api, manner: EndpointManner): Promise<ApiObject | undefined> {
  return api.get<ApiObject>(`${pathOf(manner)}/kubecontrollersconfigurations/default`);
}

/** The old process writes it before it ends: who believes it believes too early. */
async function tellStatus(api: Api, manner: EndpointManner, on: boolean): Promise<void> {
  const runningConfig = { controllers: { node: { hostEndpoint: { autoCreate: on ? 'Enabled' : 'Disabled' } } } };
  for (const below of ['', '/status']) {
    const path = `${pathOf(manner)}/kubecontrollersconfigurations/default${below}`;
    await api.send('PATCH', path, { status: { runningConfig } }).catch(ignoreGone);
  }
}

interface RolloutStatus {
  readonly observedGeneration?: number;
  readonly desiredNumberScheduled?: number;
  readonly updatedNumberScheduled?: number;
  readonly numberUnavailable?: number;
}

async function mayAct(api: Api, { manner, agents }: EndpointManner): Promise<boolean> {
  if (manner === 'old') return true;
  const live = await api.get<ApiObject>(`/apis/apps/v1/namespaces/kube-system/daemonsets/${agents}`);
  const status = (live?.status ?? {}) as RolloutStatus;
  const isSeen =
    Number(status.observedGeneration ?? 0) >= Number((live?.metadata as { readonly generation?: number } | undefined)?.generation ?? 0);
  const isWhole = (status.updatedNumberScheduled ?? 0) >= (status.desiredNumberScheduled ?? 0) && (status.numberUnavailable ?? 0) === 0;
  return live !== undefined && isSeen && isWhole;
}

async function look(api: Api, manner: EndpointManner, taken: { readonly on: boolean; readonly since: number }): Promise<void> {
  const base = pathOf(manner);
  const [nodes, endpoints] = await Promise.all(['/api/v1/nodes', `${base}/hostendpoints`].map((path) => api.get<ApiList>(path)));
  const isTime = ({ metadata: { name } }: ApiObject) => !manner.never.has(name) && Date.now() - taken.since >= (manner.late.get(name) ?? 0);
  const wanted = new Map(taken.on ? (nodes?.items ?? []).filter(isTime).map((node) => [node.metadata.name, node]) : []);
  const [key, value] = manner.createdBy;
  const mine = (endpoints?.items ?? []).filter(({ metadata }) => (metadata.labels as Record<string, string> | undefined)?.[key] === value);
  const gone = mine.filter(({ metadata, spec }) => {
    const { node = '' } = spec as { node?: string };
    // Those of the new manner keep only what they would name so themselves (host endpoint notes 1.4).
    return !wanted.has(node) || (manner.manner === 'new' && metadata.name !== `${node}-auto-hep`);
  });
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
      await work(item).catch(ignoreGone);
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, worker));
}

function ignoreGone(thrown: unknown): void {
  if (!(thrown instanceof ApiError) || ![404, 409].includes(thrown.status)) throw thrown;
}
