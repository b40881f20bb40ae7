import { execFileSync } from 'node:child_process';
import type { AskedFor, Opened, Stored, StoredIn } from './stand-in-cli-state.ts';

/** Where the stand-in keeps its objects when it works on a cluster: stored custom resources, by kubectl. */
export interface ClusterStore {
  readonly kubectl: string;
  /** v3 group: `projectcalico.org`; the stored one is `crd.` before it. */
  readonly group: string;
}

const PLURALS: Readonly<Record<string, string>> = {
  HostEndpoint: 'hostendpoints',
  GlobalNetworkPolicy: 'globalnetworkpolicies',
  KubeControllersConfiguration: 'kubecontrollersconfigurations',
  Tier: 'tiers',
  ClusterInformation: 'clusterinformations',
};

/** Lists of a large fleet: Node ends a program at 1 MiB of output unless told. */
const OUTPUT_LIMIT = 256 * 1024 * 1024;

interface CustomResource {
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
}

/**
 * The datastore as the CLI would see it through the API. Each kind is read when the call looks at it, and only the objects that it
 * names: `version --client` reads nothing, as the real one (cli notes 1.2).
 */
export function openClusterStore(cluster: ClusterStore, asked: AskedFor): Opened {
  const { group } = cluster;
  const before: Stored = {};
  const now: Stored = {};
  const load = (kind: string, plural: string) => {
    const names = asked.kind === kind ? asked.names : [];
    const found = list(cluster, plural, names).map((one) => [one.metadata.name, served(one, group)] as const);
    now[kind] = Object.fromEntries(found);
    before[kind] = structuredClone(now[kind]);
  };
  const objects = new Proxy(now, {
    get(target, kind) {
      const plural = typeof kind === 'string' ? PLURALS[kind] : undefined;
      if (typeof kind === 'string' && plural !== undefined && !(kind in target)) load(kind, plural);
      return target[String(kind)];
    },
  });
  const information = informationOf(cluster);
  const stored: StoredIn = {
    reachable: true,
    objects,
    isServed: (kind) => isServed(cluster, PLURALS[kind] ?? kind),
    get clusterInformation() {
      return information.now();
    },
    set clusterInformation(value) {
      information.set(value);
    },
  };
  const close = async () => {
    if (information.added()) createInformation(cluster);
    write(before, now, cluster);
  };
  return { stored, close };
}

function list({ kubectl, group }: ClusterStore, plural: string, names: readonly string[]): readonly CustomResource[] {
  const named = names.length > 0 ? [...names, '--ignore-not-found'] : [];
  const args = ['get', `${plural}.crd.${group}`, ...named, '-o', 'json'];
  const text = execFileSync(kubectl, args, { encoding: 'utf8', maxBuffer: OUTPUT_LIMIT });
  if (text.trim() === '') return [];
  const answer = JSON.parse(text) as CustomResource & { readonly items?: readonly CustomResource[] };
  return answer.items ?? [answer];
}

/** Labels of the annotation and of the object, as a new reader merges them. */
function served({ metadata, spec }: CustomResource, group: string): Record<string, unknown> {
  const stored = JSON.parse(metadata.annotations?.[`${group}/metadata`] ?? '{}') as { readonly labels?: Record<string, string> };
  return { metadata: { name: metadata.name, labels: { ...metadata.labels, ...stored.labels } }, spec };
}

function isServed({ kubectl, group }: ClusterStore, plural: string): boolean {
  const names = execFileSync(kubectl, ['api-resources', `--api-group=crd.${group}`, '-o', 'name'], { encoding: 'utf8' });
  return names.split('\n').includes(`${plural}.crd.${group}`);
}

type Information = StoredIn['clusterInformation'];

/** Read once, and only by calls that compare versions. */
function informationOf(cluster: ClusterStore) {
  let read: { readonly found: Information } | undefined;
  let set: Information;
  const found = (): Information => {
    read ??= { found: readInformation(cluster) };
    return read.found;
  };
  return {
    now: (): Information => set ?? found(),
    set: (value: Information) => {
      set = value;
    },
    added: () => set !== undefined && found() === undefined,
  };
}

function readInformation(cluster: ClusterStore): Information {
  const [one] = list(cluster, 'clusterinformations', ['default']);
  const version = Object.entries((one?.spec ?? {}) as Record<string, string>).find(([field]) => /Version$/.test(field))?.[1];
  return one && { ...(version ? { version } : {}), type: 'k8s' };
}

function createInformation({ kubectl, group }: ClusterStore): void {
  const spec = { clusterGUID: crypto.randomUUID().replaceAll('-', ''), clusterType: 'kdd', datastoreReady: true };
  const object = { apiVersion: `crd.${group}/v1`, kind: 'ClusterInformation', metadata: { name: 'default' }, spec };
  execFileSync(kubectl, ['create', '-f', '-'], { input: JSON.stringify(object), stdio: ['pipe', 'ignore', 'inherit'] });
}

/** What a call changed of what it looked at: labels and annotations the new way, in the one annotation. */
function write(before: Stored, now: Stored, { kubectl, group }: ClusterStore): void {
  const call = (args: readonly string[], input?: string) =>
    execFileSync(kubectl, [...args], { input: input ?? '', stdio: ['pipe', 'ignore', 'inherit'] });
  for (const [kind, objects] of Object.entries(now)) {
    const old = before[kind] ?? {};
    const resource = `${PLURALS[kind]}.crd.${group}`;
    for (const name of Object.keys(old)) if (!(name in objects)) call(['delete', resource, name]);
    for (const [name, object] of Object.entries(objects)) {
      const was = old[name];
      const { metadata, spec } = object as unknown as CustomResource;
      const { labels, annotations: own } = metadata;
      const annotations = { [`${group}/metadata`]: JSON.stringify({ labels, annotations: own }) };
      if (was === undefined) {
        call(['create', '-f', '-'], JSON.stringify({ apiVersion: `crd.${group}/v1`, kind, metadata: { name, annotations }, spec }));
      } else if (JSON.stringify(was) !== JSON.stringify(object)) {
        const isSame = JSON.stringify(was.metadata) === JSON.stringify(metadata);
        // As a new one writes: nothing of the labels stays on the object itself (host endpoint notes 3).
        const change = isSame ? { spec } : { metadata: { labels: null, annotations }, spec };
        call(['patch', resource, name, '--type=merge', '-p', JSON.stringify(change)]);
      }
    }
  }
}
