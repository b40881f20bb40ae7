import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { KubeObject } from '../../src/kernel/object.ts';
import { storeClient } from '../control-plane/kvstore-client.ts';
import { type AskedFor, KINDS, pluralOf } from './stand-in-cli-call.ts';
import type { Stored, StoredIn } from './stand-in-cli-state.ts';

/** A datastore that one call works on; `close` writes what the call changed. */
export interface Opened {
  readonly stored: StoredIn;
  close(): Promise<void>;
}

/** Where the stand-in keeps its objects when it works on a cluster: stored custom resources, by kubectl. */
interface ClusterStore {
  readonly kubectl: string;
  /** v3 group: `projectcalico.org`; the stored one is `crd.` before it. */
  readonly group: string;
}

const WITH_DEFINITIONS = new Set(['HostEndpoint', 'GlobalNetworkPolicy', 'KubeControllersConfiguration', 'Tier', 'ClusterInformation']);

/** Lists of a large fleet: Node ends a program at 1 MiB of output unless told. */
const OUTPUT_LIMIT = 256 * 1024 * 1024;

/**
 * The datastore as the CLI would see it through the API. Each kind is read when the call looks at it, and only the objects that it
 * names: `version --client` reads nothing, as the real one (cli notes 1.2).
 */
export function openClusterStore(cluster: ClusterStore, asked: AskedFor): Opened {
  const before: Stored = {};
  const now: Stored = {};
  const objects = new Proxy(now, {
    get(_, kind: string) {
      if (!(kind in now) && WITH_DEFINITIONS.has(kind)) {
        const names = kind === 'ClusterInformation' ? ['default'] : kind === asked.kind ? asked.names : [];
        const found = Object.fromEntries(list(cluster, kind, names).map((one) => [one.metadata.name, served(one, cluster.group)]));
        [before[kind], now[kind]] = [structuredClone(found), found];
      }
      return now[kind];
    },
  });
  return {
    stored: { reachable: true, objects, isServed: (kind) => isServed(cluster, kind) },
    close: async () => write(changesOf(before, now), cluster),
  };
}

function list({ kubectl, group }: ClusterStore, kind: string, names: readonly string[]): readonly KubeObject[] {
  const named = names.length > 0 ? [...names, '--ignore-not-found'] : [];
  const args = ['get', `${pluralOf(kind)}.crd.${group}`, ...named, '-o', 'json'];
  const text = execFileSync(kubectl, args, { encoding: 'utf8', maxBuffer: OUTPUT_LIMIT });
  if (text.trim() === '') return [];
  const answer = JSON.parse(text) as KubeObject & { readonly items?: readonly KubeObject[] };
  return answer.items ?? [answer];
}

/** Labels of the annotation and of the object, as a new reader merges them. */
function served({ metadata, spec }: KubeObject, group: string): Record<string, unknown> {
  const stored = JSON.parse(metadata.annotations?.[`${group}/metadata`] ?? '{}') as { readonly labels?: Record<string, string> };
  return { metadata: { name: metadata.name, labels: { ...metadata.labels, ...stored.labels } }, spec };
}

function isServed({ kubectl, group }: ClusterStore, kind: string): boolean {
  const names = execFileSync(kubectl, ['api-resources', `--api-group=crd.${group}`, '-o', 'name'], { encoding: 'utf8' });
  return names.split('\n').includes(`${pluralOf(kind)}.crd.${group}`);
}

/** Labels and annotations the new way, in the one annotation. */
function write(changes: ReturnType<typeof changesOf>, { kubectl, group }: ClusterStore): void {
  const call = (args: readonly string[], input = '') => execFileSync(kubectl, args, { input, stdio: ['pipe', 'ignore', 'inherit'] });
  for (const { kind, name, was, is } of changes) {
    const resource = `${pluralOf(kind)}.crd.${group}`;
    const { metadata, spec } = (is ?? { metadata: {} }) as unknown as KubeObject;
    const { labels, annotations: own } = metadata;
    const annotations = { [`${group}/metadata`]: JSON.stringify({ labels, annotations: own }) };
    // As a new one writes: nothing of the labels stays on the object itself (host endpoint notes 3).
    const isSame = JSON.stringify(was?.metadata) === JSON.stringify(metadata);
    const change = isSame ? { spec } : { metadata: { labels: null, annotations }, spec };
    if (!is) call(['delete', resource, name]);
    else if (was) call(['patch', resource, name, '--type=merge', '-p', JSON.stringify(change)]);
    else call(['create', '-f', '-'], JSON.stringify({ apiVersion: `crd.${group}/v1`, kind, metadata: { name, annotations }, spec }));
  }
}

/** `was` is undefined where something is new, `is` where it is gone. */
function changesOf(before: Stored, now: Stored) {
  const all = Object.entries(now).flatMap(([kind, objects]) => {
    const old = before[kind] ?? {};
    return Object.keys({ ...old, ...objects }).map((name) => ({ kind, name, was: old[name], is: objects[name] }));
  });
  return all.filter(({ was, is }) => JSON.stringify(was) !== JSON.stringify(is));
}

/** The service's keys in its key-value store (cli notes 4). */
const ROOT = '/calico/resources/v3/projectcalico.org/';

/** The store that a configuration file names, with its certificates, in the manner of the real one. It does not answer: not reachable. */
export async function openKeyValueStore(config: string): Promise<Opened> {
  const store = clientOf(readFileSync(config, 'utf8'));
  const objects = await store.list(ROOT).then(objectsOf, () => undefined);
  if (!objects) return { stored: { reachable: false, objects: {} }, close: async () => undefined };
  const before = structuredClone(objects);
  return {
    stored: { reachable: true, objects },
    async close() {
      for (const { kind, name, is } of changesOf(before, objects)) {
        const key = `${ROOT}${pluralOf(kind)}/${name}`;
        const value = JSON.stringify({ kind, apiVersion: 'projectcalico.org/v3', ...is });
        await (is ? store.put(key, value) : store.remove(key));
      }
    },
  };
}

function clientOf(config: string) {
  const field = (name: string): string => new RegExp(`^\\s*${name}:\\s*["']?([^"'\\s]+)`, 'm').exec(config)?.[1] ?? '';
  const file = (name: string): string => readFileSync(field(name), 'utf8');
  return storeClient(field('etcdEndpoints'), file('etcdCACertFile'), { certificate: file('etcdCertFile'), key: file('etcdKeyFile') });
}

function objectsOf(stored: ReadonlyMap<string, string>): Stored {
  const objects: Stored = Object.fromEntries(KINDS.map((kind) => [kind, {}]));
  for (const [key, value] of stored) {
    const [plural, ...name] = key.slice(ROOT.length).split('/');
    const kind = KINDS.find((one) => pluralOf(one) === plural) ?? '';
    Object.assign(objects[kind] ?? {}, { [name.join('/')]: JSON.parse(value) });
  }
  return objects;
}
