import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { openClusterStore } from './stand-in-cli-cluster.ts';
import { askedFor, commands } from './stand-in-cli-resources.ts';
import { type Call, type Choice, chooseDatastore, type Opened, type Said, type StandInState, type StoredIn } from './stand-in-cli-state.ts';
import { openKeyValueStore } from './stand-in-cli-store.ts';

/** Options that take a value without `=`. */
const VALUED = new Set(['--patch', '-p', '--type', '-o', '--output', '--config', '-c', '--context', '-f', '--filename']);

/** A stand-in for the service's CLI: the observable surface of two generations, on a state in memory that it changes. */
export function standInCli(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  state: StandInState,
  stdin = '',
): Said {
  const call = parse(argv);
  const [command = ''] = call.words;
  if (command === '' && call.options.has('--version')) {
    return { out: `stand-in for the service's CLI, for tests only: speaks as ${state.client}, ${state.generation} generation\n`, exit: 0 };
  }
  const choice = chooseDatastore(call.options.get('--config') ?? call.options.get('-c'), env);
  if (command === 'version') return version(call, choice, state);
  if ('refused' in choice || 'undetected' in choice) {
    const why = 'refused' in choice ? choice.refused : 'invalid configuration: no configuration has been provided';
    return { out: `Failed to create Calico API client: ${why}\n`, exit: 1 };
  }
  const store = state[choice.type];
  if (!store.reachable) return unreachable(choice.type, command);
  const refusal = call.options.has('--allow-version-mismatch') ? undefined : mismatch(command, call, state, store);
  if (refusal) return refusal;
  return commands[command]?.({ ...call, stdin }, store, state) ?? { err: `unknown command: "${command}"\nUsage:\n`, exit: 1 };
}

function parse(argv: readonly string[]): Call {
  const words: string[] = [];
  const options = new Map<string, string>();
  const left = [...argv];
  for (let one = left.shift(); one !== undefined; one = left.shift()) {
    const equals = one.indexOf('=');
    if (!one.startsWith('-')) words.push(one);
    else if (one.startsWith('--') && equals > 0) options.set(one.slice(0, equals), one.slice(equals + 1));
    else options.set(one, VALUED.has(one) ? (left.shift() ?? '') : '');
  }
  return { words, options, stdin: '' };
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
  const unable = `${old ? 'Unable' : 'unable'} to retrieve Cluster Version or Type:`;
  if (!store.reachable && choice.type === 'etcdv3') return { out: client, exit: 'hang' };
  if (!store.reachable) return { out: client, err: `${unable} ${REFUSED}\n`, exit: 1 };
  const information = store.clusterInformation;
  if (!information)
    return { out: client, err: `${unable} resource does not exist: ClusterInformation(default) with error: <nil>\n`, exit: 1 };
  const { version: cluster = 'unknown', type = 'unknown' } = information;
  return { out: `${client}Cluster Version:   ${cluster}\nCluster Type:      ${type}\n`, exit: 0 };
}

const REFUSED = 'Get "https://127.0.0.1:6443/apis": dial tcp 127.0.0.1:6443: connect: connection refused';

function unreachable(type: 'kubernetes' | 'etcdv3', command: string): Said {
  if (type === 'etcdv3') return { exit: 'hang' };
  const why = `unable to get Cluster Information to verify version mismatch: ${REFUSED}`;
  return { err: `${command === 'get' ? 'failed to get resources: ' : ''}${why}\nUse --allow-version-mismatch to override\n`, exit: 1 };
}

const plain = (release: string): string => release.replace(/^v/, '').replace(/-.*$/, '');

/** Whole releases are compared, patch included; a cluster without a version is not. */
function mismatch(command: string, { words }: Call, { generation, client }: StandInState, store: StoredIn): Said | undefined {
  const cluster = store.clusterInformation?.version;
  if (!cluster || plain(cluster) === plain(client)) return undefined;
  const [m, f, end] = generation === 'old' ? ['Version', 'Failed', '.\n\n'] : ['version', 'failed', '\n'];
  const heads: Readonly<Record<string, string>> = { get: `${f} to get resources: `, label: `${f} to get nodes ${words[2] ?? ''}, error ` };
  const text = `${heads[command] ?? ''}${m} mismatch.\nClient Version:   ${client}\nCluster Version:  ${cluster.replace(/^v/, '')}\nUse --allow-version-mismatch to override${end}`;
  return { err: text, exit: 1 };
}

/** The real one's usual file, where there is one, is used like a named one (cli notes 1.3). */
function withUsualConfig(argv: readonly string[]): readonly string[] {
  const { STAND_IN_CLI_USUAL_CONFIG: usual } = process.env;
  const isNamed = argv.some((one) => one === '-c' || /^--config(=|$)/.test(one));
  return usual === undefined || isNamed || !existsSync(usual) ? argv : [...argv, `--config=${usual}`];
}

/** A file that names the API datastore names its kubeconfig too, and nothing else counts then. */
function useKubeconfigOf(config: string): void {
  const kubeconfig = /^\s*kubeconfig:\s*["']?([^"'\s]+)/m.exec(readFileSync(config, 'utf8'))?.[1];
  if (kubeconfig === undefined) delete process.env.KUBECONFIG;
  else process.env.KUBECONFIG = kubeconfig;
}

/**
 * Runs as a program: state from the file that the environment names, changes written back. With STAND_IN_CLI_KUBECTL the objects of the
 * API are those of the cluster, with STAND_IN_CLI_ETCD those of the other datastore are in the store that its configuration file names.
 * @public The installed script calls it.
 */
export async function main(given: readonly string[]): Promise<void> {
  const argv = withUsualConfig(given);
  const file = process.env.STAND_IN_CLI_STATE ?? '';
  const before = readFileSync(file, 'utf8');
  const state = JSON.parse(before) as StandInState;
  const call = parse(argv);
  const stdin = ['create', 'apply'].includes(call.words[0] ?? '') && call.options.get('-f') === '-' ? readFileSync(0, 'utf8') : '';
  const opened = await openedBy({ ...call, stdin }, state);
  const { out = '', err = '', exit } = standInCli(argv, process.env, state, stdin);
  process.stdout.write(out);
  process.stderr.write(err);
  if (exit === 'hang') {
    setInterval(() => undefined, 60_000);
    return;
  }
  if (opened) await opened.close();
  // Calls that only read run beside others: none of them is to find half a file.
  else if (JSON.stringify(state) !== before) writeFileSync(file, JSON.stringify(state));
  process.exitCode = exit;
}

/** The real datastore of the call, put into the state; undefined: the file is all there is. */
async function openedBy(call: Call, state: StandInState): Promise<Opened | undefined> {
  const { STAND_IN_CLI_KUBECTL: kubectl, STAND_IN_CLI_GROUP: group = 'projectcalico.org', STAND_IN_CLI_ETCD: etcd } = process.env;
  const config = call.options.get('--config') ?? call.options.get('-c');
  if (kubectl !== undefined) {
    // The real one calls no kubectl: a person's defaults for it do not count.
    process.env.KUBERC = 'off';
    if (config !== undefined && existsSync(config)) useKubeconfigOf(config);
    const opened = openClusterStore({ kubectl, group }, askedFor(call));
    state.kubernetes = opened.stored;
    return opened;
  }
  // The release of a new client is told without a connection (cli notes 1.2).
  if (etcd === undefined || config === undefined || call.options.has('--client')) return undefined;
  const opened = await openKeyValueStore(config);
  state.etcdv3 = opened.stored;
  return opened;
}

/** Puts the stand-in at `file` as an executable program of this very Node. */
export function installStandIn(file: string): void {
  const module = JSON.stringify(import.meta.url);
  writeFileSync(file, `#!${process.execPath}\nimport(${module}).then(({ main }) => main(process.argv.slice(2)));\n`);
  chmodSync(file, 0o755);
}
