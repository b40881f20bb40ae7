import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { askedFor, type Call, type Choice, chooseDatastore, parse } from './stand-in-cli-call.ts';
import { commands } from './stand-in-cli-resources.ts';
import { clusterIn, type Said, type StandInState, type StoredIn, standInState } from './stand-in-cli-state.ts';
import { type Opened, openClusterStore, openKeyValueStore } from './stand-in-cli-stores.ts';

/** A stand-in for the service's CLI: the observable surface of two generations, on a state in memory that it changes. */
export function standInCli(argv: readonly string[], env: NodeJS.ProcessEnv, state: StandInState, stdin = ''): Said {
  const call = parse(argv, stdin);
  const [command = ''] = call.words;
  if (command === '' && call.options.has('--version')) {
    return { out: `stand-in for the service's CLI, for tests only: speaks as ${state.client}, ${state.generation} generation\n`, exit: 0 };
  }
  const choice = chooseDatastore(call.options.get('--config'), env);
  if (command === 'version') return version(call, choice, state);
  if ('refused' in choice || 'undetected' in choice) {
    const why = 'refused' in choice ? choice.refused : 'invalid configuration: no configuration has been provided';
    return { out: `Failed to create Calico API client: ${why}\n`, exit: 1 };
  }
  const store = state[choice.type];
  if (!store.reachable) return { exit: 'hang' };
  const refusal = call.options.has('--allow-version-mismatch') ? undefined : mismatch(command, call, state, store);
  if (refusal) return refusal;
  return commands[command]?.(call, store, state) ?? { err: `unknown command: "${command}"\nUsage:\n`, exit: 1 };
}

function version({ options }: Call, choice: Choice, state: StandInState): Said {
  const old = state.generation === 'old';
  const client = `Client Version:    ${state.client}\nGit commit:        0000000\n`;
  if (options.has('--client'))
    return old ? { err: 'Usage:\n  calicoctl version [--config=<CONFIG>]\n', exit: 1 } : { out: client, exit: 0 };
  if ('undetected' in choice) return { out: `${client}Unable to detect installed Calico version\n`, exit: 0 };
  if ('refused' in choice) {
    return choice.on === 'stdout' ? { out: `${client}${choice.refused}\n`, exit: 1 } : { out: client, err: `${choice.refused}\n`, exit: 1 };
  }
  const store = state[choice.type];
  if (!store.reachable) return { out: client, exit: 'hang' };
  const information = clusterIn(store);
  if (!information) {
    const unable = `${old ? 'Unable' : 'unable'} to retrieve Cluster Version or Type:`;
    return { out: client, err: `${unable} resource does not exist: ClusterInformation(default) with error: <nil>\n`, exit: 1 };
  }
  const { version: cluster = 'unknown', type = 'unknown' } = information;
  return { out: `${client}Cluster Version:   ${cluster}\nCluster Type:      ${type}\n`, exit: 0 };
}

const plain = (release: string): string => release.replace(/^v/, '').replace(/-.*$/, '');

/** Whole releases are compared, patch included; a cluster without a version is not. */
function mismatch(command: string, { words }: Call, { generation, client }: StandInState, store: StoredIn): Said | undefined {
  const cluster = clusterIn(store)?.version;
  if (!cluster || plain(cluster) === plain(client)) return undefined;
  const [m, f, end] = generation === 'old' ? ['Version', 'Failed', '.\n\n'] : ['version', 'failed', '\n'];
  const heads: Readonly<Record<string, string>> = { get: `${f} to get resources: `, label: `${f} to get nodes ${words[2] ?? ''}, error ` };
  const text = `${heads[command] ?? ''}${m} mismatch.\nClient Version:   ${client}\nCluster Version:  ${cluster.replace(/^v/, '')}\nUse --allow-version-mismatch to override${end}`;
  return { err: text, exit: 1 };
}

/** Where the installed program keeps what it knows. */
interface Settings {
  /** The file of its state; calls that change something write it back. */
  readonly state: string;
  /** The objects of the API are those of the cluster, in this v3 group. */
  readonly cluster?: { readonly kubectl: string; readonly group: string };
  /** The objects of the other datastore are in the store that its configuration file names. */
  readonly etcd?: true;
  /** The configuration file that it looks for by itself: where it is there, it is used like a named one (cli notes 1.3). */
  readonly usualConfig?: string;
}

/**
 * Runs as a program.
 * @public The installed script calls it.
 */
export async function main(given: readonly string[], settings: Settings): Promise<void> {
  const { usualConfig = '' } = settings;
  const isNamed = parse(given).options.has('--config');
  const argv = isNamed || !existsSync(usualConfig) ? given : [...given, `--config=${usualConfig}`];
  const before = readFileSync(settings.state, 'utf8');
  const state = JSON.parse(before) as StandInState;
  const { words, options } = parse(argv);
  const stdin = ['create', 'apply'].includes(words[0] ?? '') && options.get('--filename') === '-' ? readFileSync(0, 'utf8') : '';
  const opened = await openedBy({ words, options, stdin }, state, settings);
  const { out = '', err = '', exit } = standInCli(argv, process.env, state, stdin);
  process.stdout.write(out);
  process.stderr.write(err);
  if (exit === 'hang') {
    setInterval(() => undefined, 60_000);
    return;
  }
  if (opened) await opened.close();
  // Calls that only read run beside others: none of them is to find half a file.
  else if (JSON.stringify(state) !== before) writeFileSync(settings.state, JSON.stringify(state));
  process.exitCode = exit;
}

/** The real datastore of the call, put into the state; undefined: the file is all there is. */
async function openedBy(call: Call, state: StandInState, { cluster, etcd }: Settings): Promise<Opened | undefined> {
  const config = call.options.get('--config');
  if (cluster !== undefined) {
    // The real one calls no kubectl: a person's defaults for it do not count.
    process.env.KUBERC = 'off';
    if (config !== undefined && existsSync(config)) useKubeconfigOf(config);
    const opened = openClusterStore(cluster, askedFor(call));
    state.kubernetes = opened.stored;
    return opened;
  }
  // The release of a new client is told without a connection (cli notes 1.2).
  if (!etcd || config === undefined || call.options.has('--client')) return undefined;
  const choice = chooseDatastore(config, process.env);
  // This program's own file names the API datastore.
  if (!('type' in choice) || choice.type !== 'etcdv3') return undefined;
  const opened = await openKeyValueStore(config);
  state.etcdv3 = opened.stored;
  return opened;
}

/** A file that names the API datastore names its kubeconfig too, and nothing else counts then. */
function useKubeconfigOf(config: string): void {
  const kubeconfig = /^\s*kubeconfig:\s*["']?([^"'\s]+)/m.exec(readFileSync(config, 'utf8'))?.[1];
  if (kubeconfig === undefined) delete process.env.KUBECONFIG;
  else process.env.KUBECONFIG = kubeconfig;
}

/** Puts the stand-in at `file` as an executable program of this very Node, which names all that it needs; its state is beside it. */
export function installStandIn(file: string, change: Partial<StandInState>, more: Omit<Settings, 'state'> = {}): void {
  const settings: Settings = { state: `${file}.json`, ...more };
  writeFileSync(settings.state, JSON.stringify(standInState(change)));
  const [module, told] = [import.meta.url, settings].map((one) => JSON.stringify(one));
  writeFileSync(file, `#!${process.execPath}\nimport(${module}).then(({ main }) => main(process.argv.slice(2), ${told}));\n`);
  chmodSync(file, 0o755);
}
