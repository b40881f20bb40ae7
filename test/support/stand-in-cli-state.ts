import { existsSync, readFileSync } from 'node:fs';

/** What one call does: the texts, the exit code, or a wait that only ends with the process. */
export interface Said {
  readonly out?: string;
  readonly err?: string;
  readonly exit: number | 'hang';
}

export interface Call {
  readonly words: readonly string[];
  readonly options: ReadonlyMap<string, string>;
  readonly stdin: string;
}

/** Objects by kind (`HostEndpoint`) and name; what the CLI calls resources. */
export type Stored = Record<string, Record<string, Record<string, unknown>>>;

export interface StoredIn {
  /** False: the key-value store hangs, the API refuses. */
  reachable: boolean;
  /** Undefined: never initialised; without a version: `unknown`. */
  clusterInformation?: { version?: string; type?: string };
  objects: Stored;
  /** Where kinds come with definitions: whether one is there; undefined: every kind is. */
  readonly isServed?: (kind: string) => boolean;
}

/** A datastore that one call works on; `close` writes what the call changed. */
export interface Opened {
  readonly stored: StoredIn;
  close(): Promise<void>;
}

/** The objects that a call names; no names: all of the kind. */
export interface AskedFor {
  readonly kind?: string;
  readonly names: readonly string[];
}

/** What the stand-in works on: one JSON file, named by STAND_IN_CLI_STATE. */
export interface StandInState {
  /** `old` is v3.27 and before, `new` is v3.32: texts and options differ. */
  generation: 'old' | 'new';
  client: string;
  kubernetes: StoredIn;
  etcdv3: StoredIn;
}

export function standInState(change: Partial<StandInState> = {}): StandInState {
  const empty = (): StoredIn => ({ reachable: true, objects: {} });
  return { generation: 'new', client: 'v3.32.1', kubernetes: empty(), etcdv3: empty(), ...change };
}

/** The datastore that arguments and environment choose, or the CLI's words about why there is none. */
export type Choice =
  | { readonly type: 'kubernetes' | 'etcdv3' }
  | { readonly refused: string; readonly on: 'stdout' | 'stderr' }
  /** No configuration at all: `version` says so on stdout and exits 0. */
  | { readonly undetected: true };

type Environment = Readonly<Record<string, string | undefined>>;

/** As the real one: a configuration file alone, else the environment; `CALICO_` names win; stray endpoints mean the key-value store. */
export function chooseDatastore(config: string | undefined, env: Environment): Choice {
  if (config !== undefined) return fromFile(config);
  const value = (name: string) => env[`CALICO_${name}`] ?? env[name];
  const endpoints = value('ETCD_ENDPOINTS');
  const type = value('DATASTORE_TYPE') ?? (endpoints ? 'etcdv3' : 'kubernetes');
  if (type === 'etcdv3') return endpoints ? { type } : { refused: 'no etcd endpoints specified', on: 'stderr' };
  if (type !== 'kubernetes') return { refused: `unknown datastore type: ${type}`, on: 'stderr' };
  const kubeconfig = value('KUBECONFIG') ?? `${env.HOME ?? ''}/.kube/config`;
  return existsSync(kubeconfig) ? { type } : { undetected: true };
}

function fromFile(file: string): Choice {
  if (!existsSync(file)) return { refused: `Error reading config file: ${file}`, on: 'stdout' };
  const type = /datastoreType:\s*["']?(\w+)/.exec(readFileSync(file, 'utf8'))?.[1] ?? 'kubernetes';
  if (type === 'kubernetes' || type === 'etcdv3') return { type };
  return { refused: `unknown datastore type: ${type}`, on: 'stderr' };
}
