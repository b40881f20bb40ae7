import type { Evidence } from '../../kernel/check.ts';
import { canonicalAddress } from '../../kernel/ip-text.ts';
import { textAt } from '../../kernel/json.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import { type Allocation, allocationsOf } from './blocks.ts';

export const FAULT_KINDS = ['twice-claimed', 'tunnel', 'left-over'] as const;

/** What is wrong in the bookkeeping of addresses. `nodes`: those that it is about. */
export interface IpamFault extends Required<Pick<Evidence, 'text' | 'detail'>>, Pick<Evidence, 'object'> {
  readonly kind: (typeof FAULT_KINDS)[number];
  readonly nodes: readonly string[];
}

/** An affinity that is being given up, or only asked for, gives no address. */
const CONFIRMED = 'confirmed';

/** Blocks that two nodes take addresses from: what one gives, the other may give as well. */
export function twiceClaimed(affinities: readonly KubeObject[]): readonly IpamFault[] {
  const held = affinities.filter(({ spec }) => textAt(spec, 'state') === CONFIRMED && textAt(spec, 'deleted') !== 'true');
  const byBlock = Map.groupBy(held, ({ spec }) => textAt(spec, 'cidr') ?? '');
  return [...byBlock].flatMap(([cidr, claims]) => {
    const nodes = [...new Set(claims.map(({ spec }) => textAt(spec, 'node') ?? ''))].toSorted();
    if (cidr === '' || nodes.length < 2) return [];
    const objects = claims.map((one) => refText(refOf(one))).toSorted();
    return [
      { kind: 'twice-claimed' as const, text: `block ${cidr}`, detail: `claimed by ${nodes.join(' and ')}: ${objects.join(', ')}`, nodes },
    ];
  });
}

/** Annotations of a node in which its agent notes addresses that it has taken for itself. */
const TUNNELS = {
  IPv4IPIPTunnelAddr: 'IPIP',
  IPv4VXLANTunnelAddr: 'VXLAN',
  IPv6VXLANTunnelAddr: 'IPv6 VXLAN',
  IPv4WireguardInterfaceAddr: 'WireGuard',
  IPv6WireguardInterfaceAddr: 'IPv6 WireGuard',
} as const;

/** Tunnel addresses that no block has as given: the next pod there may get them. */
export function looseTunnels(blocks: readonly KubeObject[], nodes: readonly KubeObject[], apiGroup: string): readonly IpamFault[] {
  const noted = nodes.flatMap((node) =>
    Object.entries(TUNNELS).flatMap(([name, title]) => {
      const address = canonicalAddress(node.metadata.annotations?.[`${apiGroup}/${name}`]?.split('/')[0] ?? '');
      return address === undefined ? [] : [{ node, title, address }];
    }),
  );
  const wanted = new Set(noted.map(({ address }) => address));
  for (const block of blocks) for (const { address } of allocationsOf(block)) wanted.delete(address);
  return noted
    .filter(({ address }) => wanted.has(address))
    .map(({ node, title, address }) => ({
      kind: 'tunnel' as const,
      text: `${node.metadata.name} ${address}`,
      detail: `${title} tunnel address without an allocation`,
      nodes: [node.metadata.name],
      object: { apiVersion: 'v1', kind: 'Node', name: node.metadata.name },
    }));
}

export interface Present {
  readonly nodes: ReadonlySet<string>;
  /** `namespace/name`. */
  readonly pods: ReadonlySet<string>;
}

/** Allocations whose pod or node is not there. */
export function lostOwners(blocks: readonly KubeObject[], present: Present): readonly Allocation[] {
  return blocks.flatMap((block) => allocationsOf(block).filter((one) => isLost(one, present)));
}

export function isLost({ node, pod, isOfMachine }: Allocation, { nodes, pods }: Present): boolean {
  const isPodGone = pod !== undefined && !isOfMachine && !pods.has(pod);
  return isPodGone || (node !== '' && !nodes.has(node));
}

export function leftOver({ address, node, pod }: Allocation, { nodes }: Present): IpamFault {
  const whose = pod === undefined ? '' : ` pod ${pod}`;
  const gone =
    node === '' || nodes.has(node) ? `given to${whose}, which is gone` : `given to${whose || ' a tunnel'} of node ${node}, which is gone`;
  return { kind: 'left-over', text: [address, pod].filter(Boolean).join(' '), detail: gone, nodes: node === '' ? [] : [node] };
}
