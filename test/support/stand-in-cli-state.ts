import { CALICO_TARGET } from './target.ts';

/** What one call does: the texts, the exit code, or a wait that only ends with the process. */
export interface Said {
  readonly out?: string;
  readonly err?: string;
  readonly exit: number | 'hang';
}

/** Objects by kind (`HostEndpoint`) and name; what the CLI calls resources. */
export type Stored = Record<string, Record<string, Record<string, unknown>>>;

export interface StoredIn {
  /** False: every call of the key-value store hangs. */
  reachable: boolean;
  objects: Stored;
  /** Where kinds come with definitions: whether one is there; undefined: every kind is. */
  readonly isServed?: (kind: string) => boolean;
}

/** What the stand-in works on: one JSON file. */
export interface StandInState {
  /** `old` is v3.27 and before, `new` is from v3.32 on: texts and options differ. */
  generation: 'old' | 'new';
  client: string;
  kubernetes: StoredIn;
  etcdv3: StoredIn;
}

export function standInState(change: Partial<StandInState> = {}): StandInState {
  const empty = (): StoredIn => ({ reachable: true, objects: {} });
  return { generation: 'new', client: CALICO_TARGET, kubernetes: empty(), etcdv3: empty(), ...change };
}

/** Of stores that are made for a test. */
export const GUID = '0123456789abcdef';

export const information = (spec: object = {}) => ({ metadata: { name: 'default' }, spec: { clusterGUID: GUID, ...spec } });

/** A datastore of a cluster of that release. */
export function ofRelease(calicoVersion: string, objects: Stored = {}, clusterGUID = GUID): StoredIn {
  const said = information({ calicoVersion, clusterType: 'k8s,bgp', clusterGUID });
  return { reachable: true, objects: { ClusterInformation: { default: said }, ...objects } };
}

/** What it says of its cluster; undefined: never initialised. */
export function clusterIn({ objects }: StoredIn) {
  const spec = objects.ClusterInformation?.default?.spec as Readonly<Record<string, string>> | undefined;
  return spec && { version: Object.entries(spec).find(([field]) => /Version$/.test(field))?.[1], type: spec.clusterType };
}
