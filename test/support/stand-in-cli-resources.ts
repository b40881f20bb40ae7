import { isRecord } from '../../src/kernel/json.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { type Call, documentsOf, kindOf } from './stand-in-cli-call.ts';
import { information, type Said, type StandInState, type Stored, type StoredIn } from './stand-in-cli-state.ts';

type Command = (call: Call, store: StoredIn, state: StandInState) => Said;

const missing = (kind: string, name: string): string => `resource does not exist: ${kind}(${name}) with error: <nil>`;
const failed = (err: string): Said => ({ err, exit: 1 });
const notSupported = (word = '', before = ''): Said => failed(`${before}resource type '${word}' is not supported\n`);

const POLICIES = new Set(['GlobalNetworkPolicy', 'NetworkPolicy', 'StagedGlobalNetworkPolicy', 'StagedNetworkPolicy']);
const PREFIX = 'default.';

/** Under which name a client keeps in etcd what a person calls so: the older ones put the tier before names of policies (cli notes 1.7). */
const storedName = (kind: string, name: string, store: StoredIn, { generation, etcdv3 }: StandInState): string =>
  generation === 'old' && store === etcdv3 && POLICIES.has(kind) ? PREFIX + name : name;

/** Every client lists both kinds of names alike. */
function shown(kind: string, stored: string): { readonly name: string; readonly namespace?: string } {
  const [own = '', namespace] = stored.split('/').reverse();
  const name = POLICIES.has(kind) && own.startsWith(PREFIX) ? own.slice(PREFIX.length) : own;
  return namespace === undefined ? { name } : { name, namespace };
}

const get: Command = ({ words: [, word, ...asked], options }, store, state) => {
  const [kind, format] = [kindOf(word), options.get('--output')];
  if (!kind) return notSupported(word, 'failed to get resources: ');
  if (format !== undefined && format !== 'json') return failed(`unrecognized output format '${format}'\n`);
  const all = store.objects[kind] ?? {};
  const before = options.has('--namespace') ? `${options.get('--namespace')}/` : '';
  const names = asked.map((name) => before + storedName(kind, name, store, state));
  const absent = names.filter((name) => !(name in all));
  const found = (names.length > 0 ? names : Object.keys(all)).filter((name) => name in all);
  const err = absent.map((name) => `${missing(kind, name)}\n`).join('');
  const exit = absent.length > 0 ? 1 : 0;
  if (format === undefined)
    return { out: exit ? '' : `NAME   \n${found.map((name) => `${shown(kind, name).name}   \n`).join('')}\n`, err, exit };
  const apiVersion = 'projectcalico.org/v3';
  const objects = found.map((name) => {
    const metadata = { ...(all[name]?.metadata as object | undefined), ...shown(kind, name) };
    return { kind, apiVersion, ...all[name], metadata };
  });
  const one = names.length === 1 ? (objects[0] ?? null) : objects;
  const value = names.length === 0 ? { kind: `${kind}List`, apiVersion, items: objects } : one;
  return { out: `${JSON.stringify(value, null, 2)}${state.generation === 'old' ? '\n' : ''}`, err, exit };
};

const patch: Command = ({ words: [, word, name = ''], options }, store, { generation }) => {
  const kind = kindOf(word);
  if (!kind) return notSupported(word);
  const hit = generation === 'old' ? 'Hit' : 'hit';
  const live = store.objects[kind]?.[name];
  if (!live) return failed(`${hit} error: ${missing(kind, name)}\n`);
  try {
    Object.assign(live, merged(live, JSON.parse(options.get('--patch') ?? '')));
  } catch {
    return failed(`${hit} error: performing strategic merge patch: invalid JSON document\n`);
  }
  return { out: `Successfully patched 1 '${kind}' resource\n`, exit: 0 };
};

function merged(live: unknown, change: unknown): unknown {
  if (!isRecord(live) || !isRecord(change)) return change;
  return { ...live, ...Object.fromEntries(Object.entries(change).map(([key, value]) => [key, merged(live[key], value)])) };
}

const remove: Command = ({ words: [, word, ...asked], options }, store, state) => {
  const kind = kindOf(word);
  if (!kind) return notSupported(word);
  const all = store.objects[kind] ?? {};
  const names = asked.map((name) => storedName(kind, name, store, state));
  const absent = options.has('--skip-not-exists') ? [] : names.filter((name) => !(name in all));
  for (const name of names) delete all[name];
  const done = names.length - absent.length;
  const out = done > 0 ? `Successfully deleted ${done} '${kind}' resource(s)\n` : '';
  const err = absent.map((name) => `Failed to delete '${kind}' resource: ${missing(kind, name)}\n\n`).join('');
  return { out, err, exit: absent.length > 0 ? 1 : 0 };
};

/** `create -f -` of one object. */
const create: Command = (call, store, state) => {
  const [document] = call.options.get('--filename') === '-' ? documentsOf(call) : [];
  if (!document) return failed('Usage:\n');
  const { kind, metadata, spec } = document;
  const all = store.objects[kind] ?? {};
  const stored = storedName(kind, metadata.name, store, state);
  const [word, end] = state.generation === 'old' ? ['Failed', ''] : ['failed', ' with error: <nil>'];
  if (stored in all) return failed(`${word} to create '${kind}' resource: [resource already exists: ${kind}(${metadata.name})${end}]\n`);
  store.objects[kind] = { ...all, [stored]: { metadata, spec } };
  return { out: `Successfully created 1 '${kind}' resource(s)\n`, exit: 0 };
};

const label: Command = ({ words: [, , node = '', pair = ''], options }, store, { generation }) => {
  const [key = '', value = ''] = pair.split('=');
  const live = store.objects.Node?.[node];
  if (!live) return failed(`nodes ${node} not found\n`);
  const labels = isRecord(live.labels) ? live.labels : {};
  const there = key in labels;
  if (there && labels[key] !== value && !options.has('--overwrite')) {
    const hint = `please use '--overwrite' to set a new value${generation === 'old' ? '.' : ''}`;
    return failed(`failed to update label of nodes ${node}, key ${key} is already present. ${hint}\n`);
  }
  live.labels = { ...labels, [key]: value };
  return { out: `Successfully ${there ? 'updated' : 'set'} label ${key} on nodes ${node}\n`, exit: 0 };
};

/** What every new client creates first, where it is missing; old ones write the object alone (cli notes 1.1). */
const TIERS: Stored[string] = {
  default: { metadata: { name: 'default' }, spec: { order: 1_000_000, defaultAction: 'Deny' } },
  'kube-admin': { metadata: { name: 'kube-admin' }, spec: { order: 1000, defaultAction: 'Pass' } },
  'kube-baseline': { metadata: { name: 'kube-baseline' }, spec: { order: 10_000_000, defaultAction: 'Pass' } },
};
const WARNINGS = 'I1121 12:00:00.000000       1 warnings.go:107] "Warning: unknown field \\"status\\""\n'.repeat(3);
const NO_TIERS =
  "failed to apply 'GlobalNetworkPolicy' resource: [resource does not exist: Tier(default) with error: the server could not find the requested resource (get Tiers.crd.projectcalico.org default)]\n";

/**
 * `apply -f FILE`: creates what is missing and replaces what is there, spec, labels and annotations alike (cli notes 1.1, 1.6, 1.7).
 * The words for documents of several kinds were not recorded: such a call fails in words of its own.
 */
const apply: Command = (call, store, state) => {
  if (!call.options.has('--filename')) return failed('Usage:\n');
  const found = documents(call);
  if ('err' in found) return found;
  const [kind = '', ...more] = new Set(found.map((one) => one.kind));
  if (kind === '' || more.length > 0) return failed('the stand-in applies documents of one kind at a time\n');
  const [isNew, inApi] = [state.generation === 'new', store === state.kubernetes];
  if (isNew && !initialised(store, inApi) && kind === 'GlobalNetworkPolicy') return failed(NO_TIERS);
  const applied = found.map((one) => {
    const { metadata, spec } = one;
    const object = isNew && kind === 'GlobalNetworkPolicy' ? inTier(one) : { metadata, ...(spec ? { spec } : {}) };
    return [storedName(kind, metadata.name, store, state), object] as const;
  });
  store.objects[kind] = { ...store.objects[kind], ...Object.fromEntries(applied) };
  const out = `Successfully applied ${found.length} '${kind}' resource(s)\n`;
  return { out, ...(isNew && inApi ? { err: WARNINGS } : {}), exit: 0 };
};

function documents(call: Call): readonly KubeObject[] | (Said & { readonly err: string }) {
  try {
    return documentsOf(call);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown;
    return { err: `failed to execute command: open ${call.options.get('--filename')}: no such file or directory\n`, exit: 1 };
  }
}

/** ClusterInformation, without a version, and the tiers; false if the cluster has no tiers, with ClusterInformation created all the same. */
function initialised(store: StoredIn, inApi: boolean): boolean {
  const spec = { clusterGUID: crypto.randomUUID().replaceAll('-', ''), ...(inApi ? { clusterType: 'kdd' } : {}), datastoreReady: true };
  store.objects.ClusterInformation = { default: information(spec), ...store.objects.ClusterInformation };
  if (store.isServed && !store.isServed('Tier')) return false;
  store.objects.Tier = { ...structuredClone(TIERS), ...store.objects.Tier };
  return true;
}

/** New clients say the tier in the object, old ones in the name under which they store it. */
function inTier({ metadata, spec }: KubeObject): Stored[string][string] {
  const labels = { ...metadata.labels, 'projectcalico.org/tier': 'default' };
  return { metadata: { ...metadata, labels }, spec: { tier: 'default', ...(spec as object | undefined) } };
}

/** What the commands on resources do, once a datastore answers. */
export const commands: Readonly<Record<string, Command>> = { apply, create, get, patch, delete: remove, label };
