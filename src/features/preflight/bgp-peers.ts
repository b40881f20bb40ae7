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
}

/** Which nodes the peers connect where there is no mesh, as the agents evaluate it (`updatePeersV1` of the service). */
export function peeringOf(peers: readonly KubeObject[], nodes: readonly KubeObject[], apiGroup: string): Peering {
  const peered = new Set<KubeObject>();
  const idle = peers.flatMap((peer) => {
    const { local, remote, reason } = sidesOf(peer, nodes, apiGroup);
    const outside = remote === 'outside';
    const others = outside ? [] : remote;
    const gained = [
      ...local.filter((node) => outside || others.some((other) => other !== node)),
      ...(jsonAt(peer.spec, 'reversePeering') === 'Manual' ? [] : others.filter((node) => local.some((other) => other !== node))),
    ];
    for (const node of gained) peered.add(node);
    return gained.length > 0 || reason === undefined ? [] : [evidenceOf(peer, reason)];
  });
  return { alone: nodes.filter((node) => !peered.has(node)), idle };
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
