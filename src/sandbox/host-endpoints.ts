import { textAt } from '../kernel/json.ts';
import { K } from '../kernel/kinds.ts';
import type { Kind, KubeObject } from '../kernel/object.ts';
import type { VirtualClock } from './clock.ts';
import { type Store, servedKinds } from './store.ts';

const GROUP = 'netsvc.io';
const CREATED_BY = { 'netsvc.io/created-by': 'netsvc-kube-controllers' };
const SUFFIX = '-auto-hep';
/** The controllers check again this long after a change. Virtual milliseconds. */
const DELAY_MS = 1000;

/** Nodes that the controllers treat otherwise: for tests of what lags. */
export interface EndpointFaults {
  /** Nodes that get no automatic endpoint. */
  readonly never: Set<string>;
  /** Variable of the controllers, which beats the setting: `enabled`, `disabled`. */
  variable?: string | undefined;
}

/**
 * The controllers' automatic host endpoints: one per node while the setting is on, known by the label alone, with labels in the annotation.
 * Those of other names are deleted; a node whose name a manual endpoint has gets none.
 */
export function startHostEndpoints(store: Store, clock: VirtualClock, faults: EndpointFaults): void {
  let due = false;
  const look = () => {
    due = false;
    reconcile(store, faults);
  };
  store.listen(({ kind }) => {
    if (due || ![K.Node.plural, 'hostendpoints', 'kubecontrollersconfigurations'].includes(kind.plural)) return;
    due = true;
    clock.schedule(DELAY_MS, look);
  });
}

function reconcile(store: Store, faults: EndpointFaults): void {
  const kinds = servedKinds(store);
  const kind = kinds.find(({ plural }) => plural === 'hostendpoints');
  const settings = kinds.find(({ plural }) => plural === 'kubecontrollersconfigurations');
  if (!kind || !settings) return;
  const wanted = new Map(isOn(store.get(settings, 'default'), faults) ? store.list(K.Node).map((node) => [node.metadata.name, node]) : []);
  for (const node of faults.never) wanted.delete(node);
  const endpoints = store.list(kind);
  for (const endpoint of endpoints.filter(isAutomatic)) {
    const { node } = endpoint.spec as { readonly node?: string };
    if (node === undefined || !wanted.has(node) || endpoint.metadata.name !== `${node}${SUFFIX}`)
      store.delete(kind, endpoint.metadata.name);
  }
  for (const node of wanted.values()) write(store, kind, node, endpoints);
}

function isOn(configuration: KubeObject | undefined, { variable }: EndpointFaults): boolean {
  if (variable !== undefined) return variable === 'enabled';
  return textAt(configuration, 'spec', 'controllers', 'node', 'hostEndpoint', 'autoCreate') === 'Enabled';
}

function isAutomatic({ metadata }: KubeObject): boolean {
  return Object.entries(CREATED_BY).every(([key, value]) => metadata.labels?.[key] === value);
}

function write(store: Store, kind: Kind, node: KubeObject, endpoints: readonly KubeObject[]): void {
  const name = `${node.metadata.name}${SUFFIX}`;
  const there = endpoints.find(({ metadata }) => metadata.name === name);
  if (there && !isAutomatic(there)) return;
  const endpoint = {
    apiVersion: `${kind.group}/${kind.version}`,
    kind: kind.kind,
    metadata: {
      name,
      labels: CREATED_BY,
      annotations: { [`${GROUP}/metadata`]: JSON.stringify({ labels: { ...labelsOf(node), ...CREATED_BY } }) },
    },
    spec: { node: node.metadata.name, interfaceName: '*', expectedIPs: ['10.0.0.1'], profiles: ['netsvc-default-allow'] },
  };
  if (there) store.update(kind, { ...there, ...endpoint, metadata: { ...there.metadata, ...endpoint.metadata } });
  else store.insert(kind, endpoint);
}

/** Of the service's own node: what its CLI gave it, in an annotation, and over these the Kubernetes node's own. */
function labelsOf({ metadata: { labels, annotations } }: KubeObject): object {
  return { ...(JSON.parse(annotations?.[`${GROUP}/labels`] ?? '{}') as object), ...labels };
}
