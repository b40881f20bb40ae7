import { apply, type Document, documentsOf } from './stand-in-cli-apply.ts';
import type { AskedFor, Call, Said, StandInState, StoredIn } from './stand-in-cli-state.ts';

const KINDS: Readonly<Record<string, string>> = {
  node: 'Node',
  hostendpoint: 'HostEndpoint',
  hep: 'HostEndpoint',
  globalnetworkpolicy: 'GlobalNetworkPolicy',
  gnp: 'GlobalNetworkPolicy',
  felixconfiguration: 'FelixConfiguration',
  profile: 'Profile',
  tier: 'Tier',
  networkpolicy: 'NetworkPolicy',
  kubecontrollersconfiguration: 'KubeControllersConfiguration',
  kubecontrollersconfig: 'KubeControllersConfiguration',
  clusterinformation: 'ClusterInformation',
  clusterinfo: 'ClusterInformation',
};

type Command = (call: Call, store: StoredIn, state: StandInState) => Said;

const kindOf = (word = ''): string | undefined => KINDS[word.toLowerCase().replace(/ies$/, 'y').replace(/s$/, '')];
const missing = (kind: string, name: string): string => `resource does not exist: ${kind}(${name}) with error: <nil>`;

const POLICIES = new Set(['GlobalNetworkPolicy', 'NetworkPolicy']);
const PREFIX = 'default.';

/** Under which name a client keeps in etcd what a person calls so: the older ones put the tier before names of policies (cli notes 1.7). */
const storedName = (kind: string, name: string, store: StoredIn, { generation, etcdv3 }: StandInState): string =>
  generation === 'old' && store === etcdv3 && POLICIES.has(kind) ? PREFIX + name : name;

/** Every client lists both kinds of names alike. */
const shownName = (kind: string, stored: string): string =>
  POLICIES.has(kind) && stored.startsWith(PREFIX) ? stored.slice(PREFIX.length) : stored;

const get: Command = ({ words: [, word, ...asked], options }, store, state) => {
  const { generation } = state;
  const [kind, format] = [kindOf(word), options.get('-o') ?? options.get('--output')];
  if (!kind) return { err: `failed to get resources: resource type '${word}' is not supported\n`, exit: 1 };
  if (format !== undefined && format !== 'json') return { err: `unrecognized output format '${format}'\n`, exit: 1 };
  const all = store.objects[kind] ?? {};
  const names = asked.map((name) => storedName(kind, name, store, state));
  const absent = names.filter((name) => !(name in all));
  const found = (names.length > 0 ? names : Object.keys(all)).filter((name) => name in all);
  const err = absent.map((name) => `${missing(kind, name)}\n`).join('');
  const exit = absent.length > 0 ? 1 : 0;
  if (format === undefined)
    return { out: exit ? '' : `NAME   \n${found.map((name) => `${shownName(kind, name)}   \n`).join('')}\n`, err, exit };
  const objects = found.map((name) => ({
    kind,
    apiVersion: 'projectcalico.org/v3',
    ...all[name],
    metadata: { ...(all[name]?.metadata as object | undefined), name: shownName(kind, name) },
  }));
  const shown = names.length === 0 ? { kind: `${kind}List`, apiVersion: 'projectcalico.org/v3', items: objects } : objects;
  const value = Array.isArray(shown) && names.length === 1 ? (objects[0] ?? null) : shown;
  return { out: `${JSON.stringify(value, null, 2)}${generation === 'old' ? '\n' : ''}`, err, exit };
};

const patch: Command = ({ words: [, word, name = ''], options }, store, { generation }) => {
  const kind = kindOf(word);
  if (!kind) return { err: `resource type '${word}' is not supported\n`, exit: 1 };
  const hit = generation === 'old' ? 'Hit' : 'hit';
  const live = store.objects[kind]?.[name];
  if (!live) return { err: `${hit} error: ${missing(kind, name)}\n`, exit: 1 };
  try {
    Object.assign(live, merged(live, JSON.parse(options.get('--patch') ?? options.get('-p') ?? '')));
  } catch {
    return { err: `${hit} error: performing strategic merge patch: invalid JSON document\n`, exit: 1 };
  }
  return { out: `Successfully patched 1 '${kind}' resource\n`, exit: 0 };
};

function merged(live: unknown, change: unknown): unknown {
  if (!isMap(live) || !isMap(change)) return change;
  return { ...live, ...Object.fromEntries(Object.entries(change).map(([key, value]) => [key, merged(live[key], value)])) };
}

const isMap = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

const remove: Command = ({ words: [, word, ...asked], options }, store, state) => {
  const kind = kindOf(word);
  if (!kind) return { err: `resource type '${word}' is not supported\n`, exit: 1 };
  const all = store.objects[kind] ?? {};
  const names = asked.map((name) => storedName(kind, name, store, state));
  const absent = options.has('--skip-not-exists') ? [] : names.filter((name) => !(name in all));
  for (const name of names) delete all[name];
  const done = names.length - absent.length;
  const out = done > 0 ? `Successfully deleted ${done} '${kind}' resource(s)\n` : '';
  const err = absent.map((name) => `Failed to delete '${kind}' resource: ${missing(kind, name)}\n\n`).join('');
  return { out, err, exit: absent.length > 0 ? 1 : 0 };
};

/** `create -f -` of one object as JSON. */
const create: Command = ({ options, stdin }, store, state) => {
  const { generation } = state;
  if (options.get('-f') !== '-') return { err: 'Usage:\n', exit: 1 };
  const { kind, metadata, spec } = JSON.parse(stdin) as { kind: string; metadata: { name: string }; spec: unknown };
  const failed = generation === 'old' ? 'Failed' : 'failed';
  const all = store.objects[kind] ?? {};
  const stored = storedName(kind, metadata.name, store, state);
  if (stored in all) {
    const end = generation === 'old' ? '' : ' with error: <nil>';
    return { err: `${failed} to create '${kind}' resource: [resource already exists: ${kind}(${metadata.name})${end}]\n`, exit: 1 };
  }
  store.objects[kind] = { ...all, [stored]: { metadata, spec } };
  return { out: `Successfully created 1 '${kind}' resource(s)\n`, exit: 0 };
};

const label: Command = ({ words: [, , node = '', pair = ''], options }, store, { generation }) => {
  const [key = '', value = ''] = pair.split('=');
  const live = store.objects.Node?.[node];
  if (!live) return { err: `nodes ${node} not found\n`, exit: 1 };
  const labels = (isMap(live.labels) ? live.labels : {}) as Record<string, unknown>;
  const there = key in labels;
  if (there && labels[key] !== value && !options.has('--overwrite')) {
    const end = generation === 'old' ? '.' : '';
    const hint = "please use '--overwrite' to set a new value";
    return { err: `failed to update label of nodes ${node}, key ${key} is already present. ${hint}${end}\n`, exit: 1 };
  }
  live.labels = { ...labels, [key]: value };
  return { out: `Successfully ${there ? 'updated' : 'set'} label ${key} on nodes ${node}\n`, exit: 0 };
};

/** What the commands on resources do, once a datastore answers. */
export const commands: Readonly<Record<string, Command>> = {
  apply: (call, store, state) => apply(call, store, state, (kind, name) => storedName(kind, name, store, state)),
  create,
  get,
  patch,
  delete: remove,
  label,
};

/** What a call will look at, from its words and its documents alone. */
export function askedFor(call: Call): AskedFor {
  const [command, word, ...names] = call.words;
  if (command !== 'apply' && command !== 'create') return { ...known(kindOf(word)), names };
  const found = readable(call);
  return { ...known(found[0]?.kind), names: found.map(({ metadata }) => metadata.name) };
}

const known = (kind: string | undefined): Pick<AskedFor, 'kind'> => (kind === undefined ? {} : { kind });

/** None where the command itself will say that it cannot read them. */
function readable(call: Call): readonly Document[] {
  try {
    return documentsOf(call);
  } catch {
    return [];
  }
}
