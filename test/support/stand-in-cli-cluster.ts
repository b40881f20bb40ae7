import { execFileSync } from 'node:child_process';
import type { Stored, StoredIn } from './stand-in-cli-state.ts';

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
};

interface CustomResource {
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
}

/** The state of the datastore as the CLI would see it through the API. */
export function loadFromCluster({ kubectl, group }: ClusterStore): StoredIn {
  const list = (plural: string): readonly CustomResource[] =>
    JSON.parse(execFileSync(kubectl, ['get', `${plural}.crd.${group}`, '-o', 'json'], { encoding: 'utf8' })).items;
  const objects: Stored = {};
  for (const [kind, plural] of Object.entries(PLURALS)) {
    objects[kind] = Object.fromEntries(list(plural).map((one) => [one.metadata.name, served(one, group)]));
  }
  const information = list('clusterinformations').find(({ metadata }) => metadata.name === 'default');
  const version = Object.entries((information?.spec ?? {}) as Record<string, string>).find(([field]) => /Version$/.test(field))?.[1];
  return { reachable: true, objects, ...(information ? { clusterInformation: { ...(version ? { version } : {}), type: 'k8s' } } : {}) };
}

/** Labels of the annotation and of the object, as a new reader merges them. */
function served({ metadata, spec }: CustomResource, group: string): Record<string, unknown> {
  const stored = JSON.parse(metadata.annotations?.[`${group}/metadata`] ?? '{}') as { readonly labels?: Record<string, string> };
  return { metadata: { name: metadata.name, labels: { ...metadata.labels, ...stored.labels } }, spec };
}

/** Writes what a call changed: new objects the new way, with their labels and annotations in the one annotation. */
export function storeInCluster(before: Stored, after: Stored, { kubectl, group }: ClusterStore): void {
  const call = (args: readonly string[], input?: string) =>
    execFileSync(kubectl, [...args], { input: input ?? '', stdio: ['pipe', 'ignore', 'inherit'] });
  for (const [kind, plural] of Object.entries(PLURALS)) {
    const [old = {}, now = {}] = [before[kind], after[kind]];
    const resource = `${plural}.crd.${group}`;
    for (const name of Object.keys(old)) if (!(name in now)) call(['delete', resource, name]);
    for (const [name, object] of Object.entries(now)) {
      const was = old[name];
      const { metadata, spec } = object as unknown as CustomResource;
      if (was === undefined) {
        const { labels, annotations: own } = metadata;
        const annotations = { [`${group}/metadata`]: JSON.stringify({ labels, annotations: own }) };
        call(['create', '-f', '-'], JSON.stringify({ apiVersion: `crd.${group}/v1`, kind, metadata: { name, annotations }, spec }));
      } else if (JSON.stringify(was) !== JSON.stringify(object)) {
        call(['patch', resource, name, '--type=merge', '-p', JSON.stringify({ spec })]);
      }
    }
  }
}
