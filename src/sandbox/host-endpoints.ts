import { textAt } from '../kernel/json.ts';
import { K } from '../kernel/kinds.ts';
import type { Kind, KubeObject } from '../kernel/object.ts';
import type { Profile } from '../kernel/profile.ts';
import type { VirtualClock } from './clock.ts';
import { type Store, servedKinds } from './store.ts';

const ENDPOINTS = 'hostendpoints';
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
export function startHostEndpoints(store: Store, clock: VirtualClock, profile: Profile, faults: EndpointFaults): void {
  let due = false;
  const watched = [K.Node.plural, ENDPOINTS, profile.controllersConfiguration.plural];
  const look = () => {
    due = false;
    reconcile(store, profile, faults);
  };
  store.listen(({ kind }) => {
    if (due || !watched.includes(kind.plural)) return;
    due = true;
    clock.schedule(DELAY_MS, look);
  });
}

function reconcile(store: Store, profile: Profile, faults: EndpointFaults): void {
  const { labels, controllersConfiguration } = profile;
  const kinds = servedKinds(store).filter(({ group }) => group === profile.crdGroup);
  const kind = kinds.find(({ plural }) => plural === ENDPOINTS);
  const settings = kinds.find(({ plural }) => plural === controllersConfiguration.plural);
  if (!kind || !settings) return;
  const on = isOn(store.get(settings, controllersConfiguration.name), faults);
  const wanted = new Map(on ? store.list(K.Node).map((node) => [node.metadata.name, node]) : []);
  for (const node of faults.never) wanted.delete(node);
  const endpoints = store.list(kind);
  for (const endpoint of endpoints.filter((one) => isAutomatic(one, profile))) {
    const { node } = endpoint.spec as { readonly node?: string };
    if (node === undefined || !wanted.has(node) || endpoint.metadata.name !== `${node}${labels.autoHepSuffix}`)
      store.delete(kind, endpoint.metadata.name);
  }
  for (const node of wanted.values()) write(store, { kind, profile, endpoints }, node);
}

function isOn(configuration: KubeObject | undefined, { variable }: EndpointFaults): boolean {
  if (variable !== undefined) return variable === 'enabled';
  return textAt(configuration, 'spec', 'controllers', 'node', 'hostEndpoint', 'autoCreate') === 'Enabled';
}

function isAutomatic({ metadata }: KubeObject, { labels }: Profile): boolean {
  return metadata.labels?.[labels.createdBy] === labels.createdByValue;
}

interface Found {
  readonly kind: Kind;
  readonly profile: Profile;
  readonly endpoints: readonly KubeObject[];
}

function write(store: Store, { kind, profile, endpoints }: Found, node: KubeObject): void {
  const { apiGroup, labels, allowAllProfile } = profile;
  const name = `${node.metadata.name}${labels.autoHepSuffix}`;
  const there = endpoints.find(({ metadata }) => metadata.name === name);
  if (there && !isAutomatic(there, profile)) return;
  const createdBy = { [labels.createdBy]: labels.createdByValue };
  const endpoint = {
    apiVersion: `${kind.group}/${kind.version}`,
    kind: kind.kind,
    metadata: {
      name,
      labels: createdBy,
      annotations: { [`${apiGroup}/metadata`]: JSON.stringify({ labels: { ...labelsOf(node, apiGroup), ...createdBy } }) },
    },
    spec: { node: node.metadata.name, interfaceName: '*', expectedIPs: ['10.0.0.1'], profiles: [allowAllProfile] },
  };
  if (there) store.update(kind, { ...there, ...endpoint, metadata: { ...there.metadata, ...endpoint.metadata } });
  else store.insert(kind, endpoint);
}

/** Of the service's own node: what its CLI gave it, in an annotation, and over these the Kubernetes node's own. */
function labelsOf({ metadata: { labels, annotations } }: KubeObject, apiGroup: string): object {
  return { ...(JSON.parse(annotations?.[`${apiGroup}/labels`] ?? '{}') as object), ...labels };
}
