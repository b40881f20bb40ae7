import type { KubeObject } from '../../src/kernel/object.ts';
import { storedMetadata } from '../../src/kube/stored-metadata.ts';
import { type Api, type ApiList, type ApiObject, unlessGone } from '../control-plane/api.ts';
import { until } from '../control-plane/until.ts';
import { labelsOf, watchHosts } from './host-watch.ts';

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
const SUFFIX = '-auto-hep';

/** The renaming of policies is held: the controllers need not look for their agents each time they start. */
const CONTROLLERS = { node: { syncLabels: 'Enabled' }, policyMigration: { enabled: 'Disabled' } };

/** Hosts of a real control plane with old endpoints: they are watched while they are migrated, and made anew for the next time. */
export class HostFleet {
  readonly #api: Api;
  readonly #group: string;
  readonly #watch: ReturnType<typeof watchHosts>;
  readonly #paths: Readonly<Record<'endpoints' | 'settings' | 'nodes', string>>;

  private constructor(api: Api, group: string) {
    const crds = `/apis/crd.${group}/v1`;
    const paths = { endpoints: `${crds}/hostendpoints`, settings: `${crds}/kubecontrollersconfigurations`, nodes: '/api/v1/nodes' };
    const hosts = HOSTS.map(({ node, labels, old }) => ({ node, labels, copied: Object.assign({}, ...Object.values(old)) as Labels }));
    [this.#api, this.#group, this.#paths] = [api, group, paths];
    this.#watch = watchHosts(api, paths, hosts, group);
  }

  /** With what the migration is judged by; old endpoints come with the first `reset`. */
  static async on(api: Api, group: string): Promise<HostFleet> {
    const fleet = new HostFleet(api, group);
    await fleet.#make('KubeControllersConfiguration', 'kubecontrollersconfigurations', 'default', { controllers: CONTROLLERS });
    await fleet.#make('GlobalNetworkPolicy', 'globalnetworkpolicies', 'hosts', {
      selector: 'role == "host"',
      types: ['Ingress', 'Egress'],
    });
    // The controllers label nodes by themselves, a while after they were made: what is compared later must be at rest.
    await until('every node has the labels of the controllers', async () =>
      (await fleet.#list('nodes')).every((node) => labelsOf(node)['beta.kubernetes.io/os'] !== undefined),
    );
    return fleet;
  }

  /** Old endpoints, labels and the setting as before the first time. */
  async reset(): Promise<void> {
    this.#watch.rest();
    const { endpoints, settings, nodes } = this.#paths;
    await this.#api.send('PATCH', `${settings}/default`, { spec: { controllers: { node: { hostEndpoint: null } } } });
    await until('no automatic endpoint is left', async () =>
      (await this.#list('endpoints')).every(({ metadata }) => !metadata.name.endsWith(SUFFIX)),
    );
    for (const { metadata } of await this.#list('endpoints'))
      await this.#api.send('DELETE', `${endpoints}/${metadata.name}`).catch(unlessGone);
    for (const { node, labels, old } of HOSTS) {
      await this.#api.send('PATCH', `${nodes}/${node}`, { metadata: { labels: { ...UNLABELLED, ...labels } } });
      const spec = { node, interfaceName: '*', expectedIPs: ['10.0.0.1'] };
      for (const [name, own] of Object.entries(old)) await this.#make('HostEndpoint', 'hostendpoints', name, spec, own);
    }
  }

  /** What hosts lack from now on, at the moment of any change. */
  async watched(): Promise<readonly string[]> {
    await this.seen();
    return this.#watch.begin();
  }

  /** Resolves once nothing is stored that was not looked at. */
  async seen(): Promise<void> {
    await until('the last change was seen', async () => this.#watch.hasSeen(await this.#list('endpoints'), await this.#list('nodes')));
  }

  /** Endpoints, labels of nodes, and the setting, without what the server sets. */
  async state(): Promise<unknown> {
    const endpoints = (await this.#list('endpoints')) as unknown as readonly KubeObject[];
    return {
      endpoints: endpoints.map((one) => [one.metadata.name, storedMetadata(one, this.#group).labels, one.spec]),
      nodes: (await this.#list('nodes')).map((one) => [one.metadata.name, labelsOf(one)]),
      settings: (await this.#list('settings')).map(({ spec }) => spec),
    };
  }

  stop(): Promise<void> {
    return this.#watch.stop();
  }

  async #list(what: 'endpoints' | 'settings' | 'nodes'): Promise<readonly ApiObject[]> {
    return (await this.#api.get<ApiList>(this.#paths[what])).items;
  }

  async #make(kind: string, plural: string, name: string, spec: object, labels: Labels = {}): Promise<void> {
    const body = { apiVersion: `crd.${this.#group}/v1`, kind, metadata: { name, labels }, spec };
    await this.#api.send('POST', `/apis/crd.${this.#group}/v1/${plural}`, body);
  }
}
