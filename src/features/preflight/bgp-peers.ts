import type { Evidence } from '../../kernel/check.ts';
import { jsonAt, textAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { ownNodeLabels } from '../../kube/stored-metadata.ts';
import { evidenceOf, specOf } from '../survey/index.ts';
import { selectedBy } from './selected.ts';

export interface Peering {
  /** Nodes without any peer. */
  readonly alone: readonly KubeObject[];
  /** Peers that give no node a peer, and why. */
  readonly idle: readonly Evidence[];
  /** Nodes whose peers are some of the other nodes alone, and none of these passes routes on. */
  readonly unreflected: readonly KubeObject[];
}

type Far = readonly KubeObject[] | 'outside';

/** Which nodes the peers connect where there is no mesh, as the agents evaluate it (`updatePeersV1` of the service). */
export function peeringOf(peers: readonly KubeObject[], nodes: readonly KubeObject[], apiGroup: string): Peering {
  const far = new Map<KubeObject, Far[]>(nodes.map((node) => [node, []]));
  const idle = peers.flatMap((peer) => {
    const { local, remote, reason } = sidesOf(peer, nodes, apiGroup);
    const links: readonly (readonly [KubeObject, Far])[] = [
      ...local.map((node) => [node, remote] as const),
      ...(remote === 'outside' || jsonAt(peer.spec, 'reversePeering') === 'Manual' ? [] : remote.map((node) => [node, local] as const)),
    ];
    const gained = links.filter(([node, others]) => hasOther(node, others));
    for (const [node, others] of gained) far.get(node)?.push(others);
    return gained.length > 0 || reason === undefined ? [] : [evidenceOf(peer, reason)];
  });
  const alone = nodes.filter((node) => far.get(node)?.length === 0);
  return { alone, idle, unreflected: unreflectedOf(far, apiGroup) };
}

function hasOther(node: KubeObject, others: Far): boolean {
  return others === 'outside' || others.some((other) => other !== node);
}

/** The annotation by which a node reflects routes; the mesh leaves it out. */
export function isReflector({ metadata: { annotations = {} } }: KubeObject, apiGroup: string): boolean {
  return (annotations[`${apiGroup}/RouteReflectorClusterID`] ?? '') !== '';
}

/** The AS that somebody gave one node. */
export function ownAs({ metadata: { annotations = {} } }: KubeObject, apiGroup: string): string | undefined {
  return annotations[`${apiGroup}/ASNumber`] || undefined;
}

/** A router that is no node of the cluster. */
export function isOuter(peer: KubeObject, nodes: readonly KubeObject[]): boolean {
  const { peerIP = '', localWorkloadSelector = '' } = specOf(peer);
  return localWorkloadSelector === '' && outsideOr(nodes, String(peerIP)) === 'outside';
}

/** Between peers of one AS only a reflector passes routes on. Nodes with an AS of their own pass them on as any router. */
function unreflectedOf(far: ReadonlyMap<KubeObject, readonly Far[]>, apiGroup: string): readonly KubeObject[] {
  const nodes = [...far.keys()];
  if (nodes.some((node) => ownAs(node, apiGroup) !== undefined)) return [];
  const all = new Map<string, ReadonlySet<KubeObject>>();
  const numbers = new Map([...new Set([...far.values()].flat())].map((one, index) => [one, index]));
  return nodes.filter((node) => {
    const own = far.get(node) ?? [];
    if (own.length === 0 || own.includes('outside') || isReflector(node, apiGroup)) return false;
    // Nodes with the same peers have the same neighbours: there are thousands of nodes and few such groups.
    const key = own.map((one) => numbers.get(one)).join();
    const others = all.get(key) ?? new Set(own.flatMap((one) => (one === 'outside' ? [] : one)));
    all.set(key, others);
    return (
      others.size + (others.has(node) ? 0 : 1) < nodes.length && ![...others].some((one) => one !== node && isReflector(one, apiGroup))
    );
  });
}

/** Labels that the service gave a node, and those of Kubernetes over them. */
export function nodeLabels(node: KubeObject, apiGroup: string): Readonly<Record<string, string>> {
  return { ...ownNodeLabels(node, apiGroup), ...node.metadata.labels };
}

interface Sides {
  readonly local: readonly KubeObject[];
  /** `outside`: a router that is no node. */
  readonly remote: readonly KubeObject[] | 'outside';
  /** Why it connects nothing, if it does not. */
  readonly reason?: string;
}

function sidesOf(peer: KubeObject, nodes: readonly KubeObject[], apiGroup: string): Sides {
  const { node = '', nodeSelector = '', peerSelector = '', peerIP = '', localWorkloadSelector = '' } = specOf(peer);
  // Such a peer is a pod of the node: it connects no nodes.
  if (localWorkloadSelector !== '') return { local: [], remote: [] };
  const by = (field: string, text: string) => selectedBy(peer, field, text, nodes, (one) => nodeLabels(one, apiGroup));
  const chosen = nodeSelector === '' ? undefined : by('nodeSelector', String(nodeSelector));
  const local = chosen?.selected ?? nodes.filter(({ metadata }) => node === '' || metadata.name === node);
  const far = peerSelector === '' ? undefined : by('peerSelector', String(peerSelector));
  const remote = far?.selected ?? outsideOr(nodes, String(peerIP));
  const none = local.length === 0 && chosen === undefined ? `node ${node} is no node of the cluster` : undefined;
  const reason = chosen?.reason ?? far?.reason ?? none ?? 'selects no two different nodes';
  return { local, remote, reason };
}

/** The node with the address, or else a router outside. */
function outsideOr(nodes: readonly KubeObject[], peerIP: string): Sides['remote'] {
  if (peerIP === '') return [];
  const address = /^\[(.*)\](?::\d+)?$/.exec(peerIP)?.[1] ?? (peerIP.split(':').length === 2 ? (peerIP.split(':')[0] ?? '') : peerIP);
  const own = nodes.filter((node) => {
    const addresses = jsonAt(node.status, 'addresses');
    return Array.isArray(addresses) && addresses.some((one) => textAt(one, 'address') === address);
  });
  return own.length > 0 ? own : 'outside';
}
