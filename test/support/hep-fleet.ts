import type { KubeObject } from '../../src/core/object.ts';
import { storedMetadata } from '../../src/core/stored-metadata.ts';
import { type Api, type ApiList, type ApiObject, unlessGone } from '../control-plane/api.ts';
import { until } from '../control-plane/until.ts';
import { hostLosses, nodeLosses } from './host-losses.ts';

interface Host {
  readonly node: string;
  /** Labels that a person gave the node. */
  readonly labels: Readonly<Record<string, string>>;
  /** Its old endpoints, and their labels. */
  readonly old: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** One old endpoint after and one before the automatic one in the order of names, two on one node, one node labelled in part. */
const HOSTS: readonly Host[] = [
  { node: 'node-01', labels: {}, old: { 'zzz-1': { role: 'host', team: 't1' } } },
  { node: 'node-02', labels: { role: 'host' }, old: { 'aaa-2': { role: 'host', team: 't2' } } },
  { node: 'node-03', labels: {}, old: { 'aaa-3': { role: 'host', team: 't3' }, 'zzz-second': { role: 'host', more: 'yes' } } },
];
const COPIED = ['role', 'team', 'more'];
const SUFFIX = '-auto-hep';

/** Hosts of a real control plane with old endpoints: they are watched while they are migrated, and made anew for the next time. */
export interface HostFleet {
  /** Old endpoints and labels as before the first time. */
  reset(): Promise<void>;
  /** From now on: what a host lacks at the moment of any change. */
  watch(): Promise<readonly string[]>;
  /** True once nothing is stored that was not looked at. */
  hasSeenAll(): Promise<boolean>;
  /** Endpoints, labels of nodes, and the setting, without what the server sets. */
  state(): Promise<unknown>;
  stop(): Promise<void>;
}

export async function hostFleet(api: Api, group: string): Promise<HostFleet> {
  const path = (plural: string) => `/apis/crd.${group}/v1/${plural}`;
  const [endpointsPath, settingsPath, nodesPath] = [path('hostendpoints'), path('kubecontrollersconfigurations'), '/api/v1/nodes'];
  const list = async (at: string) => (await api.get<ApiList>(at)).items;
  const make = (kind: string, plural: string, name: string, spec: object, labels: object = {}) =>
    api.send('POST', path(plural), { apiVersion: `crd.${group}/v1`, kind, metadata: { name, labels }, spec });

  // The renaming of policies is held: the controllers need not look for their agents each time they start.
  const controllers = { node: { syncLabels: 'Enabled' }, policyMigration: { enabled: 'Disabled' } };
  await make('KubeControllersConfiguration', 'kubecontrollersconfigurations', 'default', { controllers });
  await make('GlobalNetworkPolicy', 'globalnetworkpolicies', 'hosts', { selector: 'role == "host"', types: ['Ingress', 'Egress'] });
  await until('every node has the labels of the controllers', async () =>
    (await list(nodesPath)).every((node) => labelsOf(node)['beta.kubernetes.io/os'] !== undefined),
  );

  const endpoints = new Map<string, ApiObject>();
  const nodes = new Map<string, ApiObject>();
  let losses: string[] | undefined;
  const look = () => {
    const all = [...endpoints.values()] as unknown as readonly KubeObject[];
    for (const { node: name, old } of HOSTS) {
      losses?.push(...hostLosses({ name, labels: Object.assign({}, ...Object.values(old)) }, all, group));
    }
  };
  const end = new AbortController();
  const followed = [
    api.follow(
      endpointsPath,
      (one) => {
        endpoints.set(one.metadata.name, one);
        look();
      },
      end.signal,
      ({ metadata }) => {
        endpoints.delete(metadata.name);
        look();
      },
    ),
    api.follow(
      nodesPath,
      (one) => {
        nodes.set(one.metadata.name, one);
        const host = HOSTS.find(({ node }) => node === one.metadata.name);
        if (host) losses?.push(...nodeLosses({ name: host.node, labels: host.labels }, labelsOf(one)));
      },
      end.signal,
    ),
  ];

  const hasSeenAll = async () => {
    const [storedEndpoints, storedNodes] = await Promise.all([list(endpointsPath), list(nodesPath)]);
    const isSeen = (stored: readonly ApiObject[], seen: ReadonlyMap<string, ApiObject>) =>
      stored.length === seen.size &&
      stored.every(({ metadata }) => seen.get(metadata.name)?.metadata.resourceVersion === metadata.resourceVersion);
    return isSeen(storedEndpoints, endpoints) && isSeen(storedNodes, nodes);
  };

  return {
    async reset() {
      losses = undefined;
      await api.send('PATCH', `${settingsPath}/default`, { spec: { controllers: { node: { hostEndpoint: null } } } });
      // None is left that the controllers made, nor will they make one: what they delete is theirs.
      await until('no automatic endpoint is left', async () =>
        (await list(endpointsPath)).every(({ metadata }) => !metadata.name.endsWith(SUFFIX)),
      );
      for (const { metadata } of await list(endpointsPath)) await api.send('DELETE', `${endpointsPath}/${metadata.name}`).catch(unlessGone);
      for (const { node, labels, old } of HOSTS) {
        const none = Object.fromEntries(COPIED.map((key) => [key, null]));
        await api.send('PATCH', `${nodesPath}/${node}`, { metadata: { labels: { ...none, ...labels } } });
        for (const [name, own] of Object.entries(old))
          await make('HostEndpoint', 'hostendpoints', name, { node, interfaceName: '*', expectedIPs: ['10.0.0.1'] }, own);
      }
    },
    async watch() {
      await until('what was made is seen', hasSeenAll);
      losses = [];
      return losses;
    },
    hasSeenAll,
    async state() {
      const settings = await list(settingsPath);
      return {
        endpoints: (await list(endpointsPath)).map((one) => {
          const { metadata, spec } = one as unknown as KubeObject;
          return [metadata.name, storedMetadata(one as unknown as KubeObject, group).labels, spec];
        }),
        nodes: (await list(nodesPath)).map((one) => [one.metadata.name, labelsOf(one)]),
        settings: settings.map(({ spec }) => spec),
      };
    },
    async stop() {
      end.abort();
      await Promise.all(followed);
    },
  };
}

const labelsOf = ({ metadata }: ApiObject): Readonly<Record<string, string>> => (metadata.labels ?? {}) as Readonly<Record<string, string>>;
