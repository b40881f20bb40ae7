import type { KubeObject } from '../../src/kernel/object.ts';
import { storedMetadata } from '../../src/kube/stored-metadata.ts';
import { type Api, type ApiObject, unlessGone } from '../control-plane/api.ts';
import { until } from '../control-plane/until.ts';

type Labels = Readonly<Record<string, string>>;

interface Host {
  readonly node: string;
  /** Labels that a person gave the node. */
  readonly labels: Labels;
  /** Its old endpoints, and their labels. */
  readonly old: Readonly<Record<string, Labels>>;
}

/** One old endpoint after and one before the automatic one in the order of names, two on one node, one node labelled in part. */
const HOSTS: readonly Host[] = [
  { node: 'node-01', labels: {}, old: { 'zzz-1': { role: 'host', team: 't1' } } },
  { node: 'node-02', labels: { role: 'host' }, old: { 'aaa-2': { role: 'host', team: 't2' } } },
  { node: 'node-03', labels: {}, old: { 'aaa-3': { role: 'host', team: 't3' }, 'zzz-second': { role: 'host', more: 'yes' } } },
];
export const FLEET_NODES: readonly string[] = HOSTS.map(({ node }) => node);
const UNLABELLED = { role: null, team: null, more: null };

/** The renaming of policies is held: the controllers need not look for their agents each time they start. */
const CONTROLLERS = { node: { syncLabels: 'Enabled' }, policyMigration: { enabled: 'Disabled' } };

/** What a service stores of hosts on a real control plane. */
export function storedHosts(api: Api, group: string) {
  const crds = `/apis/crd.${group}/v1`;
  const paths = { endpoints: `${crds}/hostendpoints`, settings: `${crds}/kubecontrollersconfigurations`, nodes: '/api/v1/nodes' };
  const list = async (what: keyof typeof paths) => (await api.get<{ readonly items: readonly KubeObject[] }>(paths[what])).items;
  return {
    paths,
    list,
    make(kind: string, name: string, spec: object, labels: Labels = {}, annotations: Labels = {}): Promise<ApiObject> {
      const plural = `${kind.toLowerCase()}s`.replace(/ys$/, 'ies');
      return api.send('POST', `${crds}/${plural}`, { apiVersion: `crd.${group}/v1`, kind, metadata: { name, labels, annotations }, spec });
    },
    /** The controllers label nodes by themselves, a while after they were made: what is compared later must be at rest. */
    nodesLabelled: () =>
      until('every node has the labels of the controllers', async () =>
        (await list('nodes')).every(({ metadata }) => metadata.labels?.['beta.kubernetes.io/os'] !== undefined),
      ),
    noneAutomatic(): Promise<void> {
      const isAutomatic = ({ metadata }: KubeObject) => metadata.name.endsWith('-auto-hep');
      return until('no automatic endpoint is left', async () => !(await list('endpoints')).some(isAutomatic), 180_000);
    },
    /** Endpoints, labels of nodes, and the setting, without what the server sets. */
    async state() {
      const endpoints = (await list('endpoints')).map((one) => {
        const { labels, annotations } = storedMetadata(one, group);
        return [one.metadata.name, labels, annotations, one.spec];
      });
      const nodes = (await list('nodes')).map(({ metadata }) => [metadata.name, metadata.labels]);
      return { endpoints, nodes, settings: (await list('settings')).map(({ spec }) => spec) };
    },
  };
}

export type HostFleet = Awaited<ReturnType<typeof hostFleet>>;

/**
 * Hosts of a real control plane with old endpoints: they are watched while they are migrated, and made anew for the next time. Old endpoints
 * come with the first `reset`.
 */
export async function hostFleet(api: Api, group: string) {
  const hosts = storedHosts(api, group);
  const { paths, list, make } = hosts;
  await make('KubeControllersConfiguration', 'default', { controllers: CONTROLLERS });
  await make('GlobalNetworkPolicy', 'hosts', { selector: 'role == "host"', types: ['Ingress', 'Egress'] });
  await hosts.nodesLabelled();
  const watch = watchHosts(api, paths, group);
  const seen = () => until('the last change was seen', async () => watch.hasSeen([...(await list('endpoints')), ...(await list('nodes'))]));
  return {
    /** Old endpoints, labels and the setting as before the first time. */
    async reset(): Promise<void> {
      watch.rest();
      await api.send('PATCH', `${paths.settings}/default`, { spec: { controllers: { node: { hostEndpoint: null } } } });
      await hosts.noneAutomatic();
      for (const { metadata } of await list('endpoints')) await api.send('DELETE', `${paths.endpoints}/${metadata.name}`).catch(unlessGone);
      for (const { node, labels, old } of HOSTS) {
        await api.send('PATCH', `${paths.nodes}/${node}`, { metadata: { labels: { ...UNLABELLED, ...labels } } });
        const spec = { node, interfaceName: '*', expectedIPs: ['10.0.0.1'] };
        for (const [name, own] of Object.entries(old)) await make('HostEndpoint', name, spec, own);
      }
    },
    /** What hosts lack from now on, at the moment of any change. */
    async watched(): Promise<readonly string[]> {
      await seen();
      return watch.begin();
    },
    /** Resolves once nothing is stored that was not looked at. */
    seen,
    state: hosts.state,
    stop: watch.stop,
  };
}

/** Looks at the hosts at each change of an endpoint or a node, in the order in which the API server tells of them. */
function watchHosts(api: Api, paths: Readonly<Record<'endpoints' | 'nodes', string>>, group: string) {
  const [endpoints, nodes, end] = [new Map<string, KubeObject>(), new Map<string, KubeObject>(), new AbortController()];
  let losses: string[] | undefined;
  const lookAtHosts = () => {
    for (const { node, old } of HOSTS)
      losses?.push(...hostLosses({ name: node, labels: Object.assign({}, ...Object.values(old)) }, [...endpoints.values()], group));
  };
  const endpointSeen = (one: ApiObject) => {
    endpoints.set(one.metadata.name, one as unknown as KubeObject);
    lookAtHosts();
  };
  const endpointGone = ({ metadata }: ApiObject) => {
    endpoints.delete(metadata.name);
    lookAtHosts();
  };
  const nodeSeen = (one: ApiObject) => {
    const live = one as unknown as KubeObject;
    nodes.set(live.metadata.name, live);
    for (const { node, labels } of HOSTS)
      if (node === live.metadata.name) losses?.push(...nodeLosses({ name: node, labels }, live.metadata.labels));
  };
  const { signal } = end;
  const followed = Promise.all([
    api.follow(paths.endpoints, endpointSeen, signal, endpointGone),
    api.follow(paths.nodes, nodeSeen, signal),
  ]);
  return {
    begin: () => {
      losses = [];
      return losses;
    },
    /** What happens from now on is not the program's doing. */
    rest() {
      losses = undefined;
    },
    /** True once all that is stored was looked at. */
    hasSeen(stored: readonly KubeObject[]): boolean {
      const versions = new Set([...endpoints.values(), ...nodes.values()].map(({ metadata }) => metadata.resourceVersion));
      return stored.length === endpoints.size + nodes.size && stored.every(({ metadata }) => versions.has(metadata.resourceVersion));
    },
    async stop(): Promise<void> {
      end.abort();
      await followed;
    },
  };
}

/** A host whose old endpoints had these labels; a policy selects hosts by `role=host`, which every old endpoint has. */
interface WatchedHost {
  readonly name: string;
  readonly labels: Labels;
}

/** What a host lacks at this moment: an endpoint, one in force that the policy reaches, or a label that none of its endpoints has. */
export function hostLosses({ name, labels }: WatchedHost, endpoints: readonly KubeObject[], apiGroup: string): readonly string[] {
  const mine = endpoints.filter(({ spec }) => (spec as { readonly node?: string }).node === name);
  if (mine.length === 0) return [`${name} has no endpoint`];
  const inForce = mine.toSorted((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1))[0];
  const labelsOf = (one: KubeObject) => storedMetadata(one, apiGroup).labels;
  // The agents go by the first name of a node, and the policy by this label: without it the host would be open.
  if (inForce && labelsOf(inForce).role !== 'host') return [`${name} is not policed: ${inForce.metadata.name} is in force`];
  const has = mine.map(labelsOf);
  return Object.entries(labels).flatMap(([key, value]) => (has.some((one) => one[key] === value) ? [] : [`${name} lost ${key}`]));
}

/** Labels of a person that a node had before anything was done, and has no more. */
export function nodeLosses({ name, labels }: WatchedHost, now: Labels = {}): readonly string[] {
  return Object.entries(labels).flatMap(([key, value]) => (now[key] === value ? [] : [`node ${name} lost ${key} of a person`]));
}
