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

/** Blocks that two nodes take addresses from, by the claims of nodes and the block's own word: what one gives, the other may give as well. */
export function twiceClaimed(affinities: readonly KubeObject[], blocks: readonly KubeObject[]): readonly IpamFault[] {
  const held = affinities.filter(({ spec }) => textAt(spec, 'state') === CONFIRMED && textAt(spec, 'deleted') !== 'true');
  const claims = [
    ...held.map((one) => ({ one, node: textAt(one.spec, 'node') ?? '' })).filter(({ node }) => node !== ''),
    ...blocks.flatMap((one) => {
      const [, node] = /^host:(.+)$/.exec(textAt(one.spec, 'affinity') ?? '') ?? [];
      return node === undefined ? [] : [{ one, node }];
    }),
  ];
  const byBlock = Map.groupBy(claims, ({ one }) => textAt(one.spec, 'cidr') ?? '');
  return [...byBlock].flatMap(([cidr, all]) => {
    const nodes = [...new Set(all.map(({ node }) => node))].toSorted();
    if (cidr === '' || nodes.length < 2) return [];
    const objects = all.map(({ one }) => refText(refOf(one))).toSorted();
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

/** Tunnel addresses that no block has as given to that node: a pod there has it, or the next one may get it. */
export function looseTunnels(blocks: readonly KubeObject[], nodes: readonly KubeObject[], apiGroup: string): readonly IpamFault[] {
  const noted = nodes.flatMap((node) =>
    Object.entries(TUNNELS).flatMap(([name, title]) => {
      const address = canonicalAddress(node.metadata.annotations?.[`${apiGroup}/${name}`]?.split('/')[0] ?? '');
      return address === undefined ? [] : [{ node: node.metadata.name, title, address }];
    }),
  );
  const wanted = new Set(noted.map(({ address }) => address));
  const given = new Map(blocks.flatMap(allocationsOf).flatMap((one) => (wanted.has(one.address) ? [[one.address, one]] : [])));
  return noted.flatMap(({ node, title, address }) => {
    const allocation = given.get(address);
    // Old releases do not say whose it is.
    if (allocation && allocation.pod === undefined && ['', node].includes(allocation.node)) return [];
    const whose = allocation && (allocation.pod === undefined ? `node ${allocation.node}` : `pod ${allocation.pod}`);
    return [
      {
        kind: 'tunnel' as const,
        text: `${node} ${address}`,
        detail:
          whose === undefined ? `${title} tunnel address without an allocation` : `${title} tunnel address, but it is given to ${whose}`,
        nodes: [node],
        object: { apiVersion: 'v1', kind: 'Node', name: node },
      },
    ];
  });
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
