import { readFileSync } from 'node:fs';
import { askStore } from '../control-plane/kvstore-request.ts';
import type { Opened, Stored, StoredIn } from './stand-in-cli-state.ts';

/** The service's keys in its key-value store (cli notes 4). */
const ROOT = '/calico/resources/v3/projectcalico.org/';
const KINDS: Readonly<Record<string, string>> = {
  nodes: 'Node',
  hostendpoints: 'HostEndpoint',
  globalnetworkpolicies: 'GlobalNetworkPolicy',
  networkpolicies: 'NetworkPolicy',
  felixconfigurations: 'FelixConfiguration',
  profiles: 'Profile',
  tiers: 'Tier',
  kubecontrollersconfigurations: 'KubeControllersConfiguration',
  clusterinformations: 'ClusterInformation',
};
const INFORMATION = `${ROOT}clusterinformations/default`;

/** Objects by their key below the root: `hostendpoints/a`. */
type Values = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const plain = (text: string): string => Buffer.from(text, 'base64').toString();

/** The store that a configuration file names, with its certificates, in the manner of the real one. It does not answer: not reachable. */
export async function openKeyValueStore(config: string): Promise<Opened> {
  const call = callerOf(readFileSync(config, 'utf8'));
  const values = await readAll(call).catch(() => undefined);
  if (!values) return { stored: { reachable: false, objects: {} }, close: async () => undefined };
  const stored = storedOf(values);
  const before = keyed(stored);
  const known = stored.clusterInformation !== undefined;
  return {
    stored,
    async close() {
      const now = keyed(stored);
      for (const key of Object.keys(before)) if (!(key in now)) await call('deleterange', { key: base64(ROOT + key) });
      for (const [key, text] of Object.entries(now))
        if (before[key] !== text) await call('put', { key: base64(ROOT + key), value: base64(text) });
      if (!known && stored.clusterInformation) await call('put', { key: base64(INFORMATION), value: base64(newInformation()) });
    },
  };
}

type Caller = (method: 'range' | 'put' | 'deleterange', body: object) => Promise<string>;

function callerOf(config: string): Caller {
  const field = (name: string): string => new RegExp(`^\\s*${name}:\\s*["']?([^"'\\s]+)`, 'm').exec(config)?.[1] ?? '';
  const file = (name: string): string => readFileSync(field(name), 'utf8');
  const identity = { certificate: file('etcdCertFile'), key: file('etcdKeyFile') };
  const ca = file('etcdCACertFile');
  return (method, body) => askStore(new URL(`/v3/kv/${method}`, field('etcdEndpoints')), ca, identity, JSON.stringify(body));
}

/** In the order of the keys, as the store gives them. */
async function readAll(call: Caller): Promise<Values> {
  const end = ROOT.slice(0, -1) + String.fromCharCode(ROOT.charCodeAt(ROOT.length - 1) + 1);
  const { kvs = [] } = JSON.parse(await call('range', { key: base64(ROOT), range_end: base64(end) })) as {
    readonly kvs?: readonly { readonly key: string; readonly value: string }[];
  };
  return Object.fromEntries(kvs.map(({ key, value }) => [plain(key).slice(ROOT.length), JSON.parse(plain(value))]));
}

function storedOf(values: Values): StoredIn {
  const objects: Stored = {};
  for (const [plural, kind] of Object.entries(KINDS)) {
    const mine = Object.entries(values).filter(([key]) => key.startsWith(`${plural}/`));
    objects[kind] = Object.fromEntries(mine.map(([key, { kind: _, apiVersion: __, ...object }]) => [key.slice(plural.length + 1), object]));
  }
  const information = values['clusterinformations/default']?.spec as
    | { readonly calicoVersion?: string; readonly clusterType?: string }
    | undefined;
  const { calicoVersion: version, clusterType: type } = information ?? {};
  return {
    reachable: true,
    objects,
    ...(information ? { clusterInformation: { ...(version ? { version } : {}), ...(type ? { type } : {}) } } : {}),
  };
}

/** As text, for what changed is found by comparing. */
function keyed({ objects }: StoredIn): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(KINDS).flatMap(([plural, kind]) =>
      Object.entries(objects[kind] ?? {}).map(([name, object]) => [
        `${plural}/${name}`,
        JSON.stringify({ kind, apiVersion: 'projectcalico.org/v3', ...object }),
      ]),
    ),
  );
}

function newInformation(): string {
  const spec = { clusterGUID: crypto.randomUUID().replaceAll('-', ''), datastoreReady: true };
  return JSON.stringify({ kind: 'ClusterInformation', apiVersion: 'projectcalico.org/v3', metadata: { name: 'default' }, spec });
}
