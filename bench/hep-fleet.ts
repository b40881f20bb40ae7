import type { KubeObject } from '../src/kernel/object.ts';
import type { Api } from '../test/control-plane/api.ts';

/** A fleet as both benches have it: every node with an old endpoint, and policies of every kind of selector. */
export interface BenchFleet {
  readonly nodes: readonly { readonly name: string; readonly labels: Readonly<Record<string, string>> }[];
  readonly endpoints: readonly { readonly name: string; readonly node: string; readonly labels: Readonly<Record<string, string>> }[];
  readonly policies: readonly { readonly name: string; readonly selector: string; readonly order: number }[];
}

export function benchFleet(nodes: number, policies: number): BenchFleet {
  const names = Array.from({ length: nodes }, (_, index) => `node-${index}`);
  return {
    nodes: names.map((name, index) => ({
      name,
      labels: { env: index % 3 === 0 ? 'test' : 'prod', rack: `r${index % 40}`, zone: `z${index % 6}` },
    })),
    endpoints: names.map((node, index) => ({
      name: `old-${index}`,
      node,
      labels: { role: index % 7 === 0 ? 'core' : 'edge', team: `t${index % 50}` },
    })),
    policies: Array.from({ length: policies }, (_, index) => ({ name: `p${index}`, selector: selectorOf(index), order: index })),
  };
}

const SELECTORS: readonly ((index: number) => string)[] = [
  (index) => `role == "edge" && team in {"t${index % 50}", "t${(index + 1) % 50}"}`,
  (index) => `rack == "r${index % 40}" || zone starts with "z${index % 6}"`,
  () => '!has(env) && has(team)',
  (index) => `team contains "t${index}"`,
];

const selectorOf = (index: number): string => SELECTORS[index % SELECTORS.length]?.(index) ?? 'all()';

const WIDTH = 24;

/** As the user would write them, the controllers' configuration included. No agent is for these nodes: they say of no operating system. */
export function fleetObjects({ nodes, endpoints, policies }: BenchFleet, group: string): readonly KubeObject[] {
  const apiVersion = `crd.${group}/v1`;
  const types = { types: ['Ingress', 'Egress'], ingress: [{ action: 'Deny' }], egress: [{ action: 'Deny' }] };
  return [
    ...nodes.map(({ name, labels }) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels } })),
    ...endpoints.map(({ name, node, labels }) => {
      const spec = { node, interfaceName: '*', expectedIPs: ['10.0.0.1'] };
      return { apiVersion, kind: 'HostEndpoint', metadata: { name, labels }, spec };
    }),
    ...policies.map(({ name, ...rest }) => ({
      apiVersion,
      kind: 'GlobalNetworkPolicy',
      metadata: { name },
      spec: { ...rest, ...types },
    })),
    {
      apiVersion,
      kind: 'KubeControllersConfiguration',
      metadata: { name: 'default' },
      spec: { controllers: { node: { syncLabels: 'Enabled' } } },
    },
  ];
}

const COLLECTIONS: Readonly<Record<string, string>> = {
  HostEndpoint: 'hostendpoints',
  GlobalNetworkPolicy: 'globalnetworkpolicies',
  KubeControllersConfiguration: 'kubecontrollersconfigurations',
};

/** Into a real API server. */
export async function createFleet(api: Api, group: string, fleet: BenchFleet): Promise<void> {
  await each(fleetObjects(fleet, group), (object) => {
    const plural = COLLECTIONS[object.kind];
    return api.send('POST', plural === undefined ? '/api/v1/nodes' : `/apis/crd.${group}/v1/${plural}`, object);
  });
}

async function each<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const queue = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: WIDTH }, worker));
}
