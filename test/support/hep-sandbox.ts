import assert from 'node:assert/strict';
import { K } from '../../src/kernel/kinds.ts';
import type { Kind, KubeObject } from '../../src/kernel/object.ts';
import { storedMetadata } from '../../src/kube/stored-metadata.ts';
import type { SandboxCluster } from '../../src/sandbox/sandbox-cluster.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { installedSandbox } from './sandbox-ports.ts';
import { NETSVC_TARGET } from './target.ts';

const CRD = 'crd.netsvc.io/v1';

/** The kind of stored resources of that name. */
export function kindOf(cluster: SandboxCluster, plural: string): Kind {
  return cluster.kinds().find((one) => one.plural === plural) ?? assert.fail(`the sandbox does not serve ${plural}`);
}

/** A stored resource of the service, as a person made it. */
export function put(scenario: Scenario, kind: string, name: string, spec: object, labels: Readonly<Record<string, string>> = {}): void {
  const { cluster } = scenario;
  const found = cluster.kinds().find((one) => one.kind === kind);
  assert.ok(found);
  cluster.store.insert(found, { apiVersion: CRD, kind, metadata: { name, labels }, spec });
}

export const oldEndpoint = (scenario: Scenario, name: string, node: string, labels = {}) =>
  put(scenario, 'HostEndpoint', name, { node, interfaceName: '*', expectedIPs: ['10.0.0.1'] }, labels);

/** As the service’s CLI labels a node: with the API datastore its labels are in an annotation of the Kubernetes node. */
export function labelByCli({ cluster: { store } }: Scenario, name: string, labels: Readonly<Record<string, string>>): void {
  const node = store.get(K.Node, name);
  assert.ok(node);
  const annotations = { ...node.metadata.annotations, 'netsvc.io/labels': JSON.stringify(labels) };
  store.update(K.Node, { ...node, metadata: { ...node.metadata, annotations } });
}

/** Upgraded already; policies select hosts by the label `role`, which old endpoints have. */
export async function upgraded(nodes = 3): Promise<Scenario> {
  const scenario = await installedSandbox({ nodes, installed: NETSVC_TARGET });
  put(scenario, 'KubeControllersConfiguration', 'default', { controllers: { node: { syncLabels: 'Enabled' } } });
  put(scenario, 'GlobalNetworkPolicy', 'hosts', { selector: 'role == "host"', types: ['Ingress', 'Egress'] });
  for (let index = 1; index <= nodes; index += 1) oldEndpoint(scenario, `old-${index}`, `node-0${index}`, { role: 'host' });
  return scenario;
}

export function endpoints({ cluster }: Scenario): readonly KubeObject[] {
  const kind = kindOf(cluster, 'hostendpoints');
  return cluster.store.list(kind);
}

export const nodeLabels = ({ cluster }: Scenario) => cluster.store.list(K.Node).map(({ metadata }) => metadata.labels ?? {});

/** Endpoints, settings and labels, without what the server sets. */
export function stateOf(scenario: Scenario): unknown {
  const { cluster } = scenario;
  const settings = kindOf(cluster, 'kubecontrollersconfigurations');
  return {
    endpoints: endpoints(scenario).map((one) => [one.metadata.name, storedMetadata(one, 'netsvc.io').labels, one.spec]),
    settings: cluster.store.list(settings).map(({ spec }) => spec),
    labels: nodeLabels(scenario),
  };
}

/** Moments at which a host had no endpoint with its label at all. */
export function watchForGaps(scenario: Scenario): readonly string[] {
  const gaps: string[] = [];
  scenario.cluster.store.listen(({ kind, before }) => {
    if (kind.plural !== 'hostendpoints') return;
    const node = (before?.spec as { readonly node?: string } | undefined)?.node;
    const left = endpoints(scenario).filter(({ spec }) => (spec as { readonly node?: string }).node === node);
    const labelled = left.some((one) => storedMetadata(one, 'netsvc.io').labels.role === 'host');
    if (node !== undefined && !labelled) gaps.push(node);
  });
  return gaps;
}
