import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { KubeObject } from '../../src/kernel/object.ts';

export interface Call {
  readonly words: readonly string[];
  readonly options: ReadonlyMap<string, string>;
  readonly stdin: string;
}

/** Options that take a value without `=`, and the long names of short ones. */
const VALUED = new Set(['--patch', '--type', '--output', '--config', '--context', '--filename']);
const LONG: Readonly<Record<string, string>> = { '-p': '--patch', '-o': '--output', '-c': '--config', '-f': '--filename' };

export function parse(argv: readonly string[], stdin = ''): Call {
  const words: string[] = [];
  const options = new Map<string, string>();
  const left = [...argv];
  for (let one = left.shift(); one !== undefined; one = left.shift()) {
    const equals = one.indexOf('=');
    const name = LONG[one] ?? one;
    if (!one.startsWith('-')) words.push(one);
    else if (one.startsWith('--') && equals > 0) options.set(one.slice(0, equals), one.slice(equals + 1));
    else options.set(name, VALUED.has(name) ? (left.shift() ?? '') : '');
  }
  return { words, options, stdin };
}

export const KINDS: readonly string[] = [
  ...['Node', 'HostEndpoint', 'GlobalNetworkPolicy', 'NetworkPolicy', 'FelixConfiguration', 'Profile', 'Tier', 'IPPool'],
  ...['BGPConfiguration', 'BGPFilter', 'BGPPeer', 'GlobalNetworkSet', 'IPReservation', 'NetworkSet'],
  ...['StagedGlobalNetworkPolicy', 'StagedNetworkPolicy'],
  ...['KubeControllersConfiguration', 'ClusterInformation'],
];
const SHORT: Readonly<Record<string, string>> = {
  hep: 'HostEndpoint',
  gnp: 'GlobalNetworkPolicy',
  kubecontrollersconfig: 'KubeControllersConfiguration',
  clusterinfo: 'ClusterInformation',
};

export function kindOf(word = ''): string | undefined {
  const one = word.toLowerCase().replace(/ies$/, 'y').replace(/s$/, '');
  return SHORT[one] ?? KINDS.find((kind) => kind.toLowerCase() === one);
}

export const pluralOf = (kind: string): string => `${kind.toLowerCase().replace(/y$/, 'ie')}s`;

/** The documents that `-f` names: of a file, or `-` for what comes on stdin. JSON or YAML, several or a List. */
export function documentsOf({ options, stdin }: Call): readonly KubeObject[] {
  const file = options.get('--filename') ?? '';
  return parsed(file === '-' ? stdin : readFileSync(file, 'utf8')).flatMap((one) => one?.items ?? one ?? []);
}

type Parsed = (KubeObject & { readonly items?: readonly KubeObject[] }) | null;

function parsed(text: string): readonly Parsed[] {
  if (/^\s*[{[]/.test(text)) return [JSON.parse(text) as Parsed | Parsed[]].flat();
  // Loaded where it is needed: the stand-in is started for every single call.
  const { parseAllDocuments } = createRequire(import.meta.url)('yaml') as typeof import('yaml');
  return [...parseAllDocuments(text)].map((document) => document.toJS() as Parsed);
}

/** The objects that a call names; no names: all of the kind. */
export interface AskedFor {
  readonly kind: string | undefined;
  readonly names: readonly string[];
}

/** What a call will look at, from its words and its documents alone. */
export function askedFor(call: Call): AskedFor {
  const [command, word, ...names] = call.words;
  if (command !== 'apply' && command !== 'create') return { kind: kindOf(word), names };
  try {
    const documents = documentsOf(call);
    return { kind: documents[0]?.kind, names: documents.map(({ metadata }) => metadata.name) };
  } catch {
    // The command itself will say that it cannot read them.
    return { kind: undefined, names: [] };
  }
}

/** The datastore that arguments and environment choose, or the CLI's words about why there is none. */
export type Choice =
  | { readonly type: 'kubernetes' | 'etcdv3' }
  | { readonly refused: string; readonly on: 'stdout' | 'stderr' }
  /** No configuration at all: `version` says so on stdout and exits 0. */
  | { readonly undetected: true };

/** As the real one: a configuration file alone, else the environment; `CALICO_` names win; stray endpoints mean the key-value store. */
export function chooseDatastore(config: string | undefined, env: NodeJS.ProcessEnv): Choice {
  if (config !== undefined && !existsSync(config)) return { refused: `Error reading config file: ${config}`, on: 'stdout' };
  if (config !== undefined) return known(/datastoreType:\s*["']?(\w+)/.exec(readFileSync(config, 'utf8'))?.[1] ?? 'kubernetes');
  const value = (name: string) => env[`CALICO_${name}`] ?? env[name];
  const endpoints = value('ETCD_ENDPOINTS');
  const choice = known(value('DATASTORE_TYPE') ?? (endpoints ? 'etcdv3' : 'kubernetes'));
  if (!('type' in choice)) return choice;
  if (choice.type === 'etcdv3') return endpoints ? choice : { refused: 'no etcd endpoints specified', on: 'stderr' };
  return existsSync(value('KUBECONFIG') ?? `${env.HOME ?? ''}/.kube/config`) ? choice : { undetected: true };
}

const known = (type: string): Choice =>
  type === 'kubernetes' || type === 'etcdv3' ? { type } : { refused: `unknown datastore type: ${type}`, on: 'stderr' };
