const GROUP = 'crd.projectcalico.org/v1';

/** What Calico's IPAM stores of a node with a block of its own, as its agents write it: the first address is that of its tunnel. */
export function addressesOf(
  node: string,
  index: number,
  { isLoose }: { readonly isLoose: boolean },
): readonly { readonly plural: string; readonly object: object }[] {
  const [cidr, handle] = [`10.244.${index}.0/26`, `vxlan-tunnel-addr-${node}`];
  const name = cidr.replace(/[./]/g, '-');
  const given = isLoose ? [] : [0];
  const attribute = { handle_id: handle, secondary: { node, type: 'vxlanTunnelAddress' } };
  const spec = {
    ...{ affinity: `host:${node}`, cidr, strictAffinity: false, deleted: false },
    allocations: Array.from({ length: 64 }, (_, ordinal) => given[ordinal] ?? null),
    attributes: isLoose ? [] : [attribute],
    unallocated: Array.from({ length: 64 }, (_, ordinal) => ordinal).slice(given.length),
  };
  const affinity = { cidr, node, state: 'confirmed', deleted: 'false' };
  return [
    { plural: 'ipamblocks', object: { apiVersion: GROUP, kind: 'IPAMBlock', metadata: { name }, spec } },
    {
      plural: 'blockaffinities',
      object: { apiVersion: GROUP, kind: 'BlockAffinity', metadata: { name: `${node}-${name}` }, spec: affinity },
    },
    {
      plural: 'ipamhandles',
      object: { apiVersion: GROUP, kind: 'IPAMHandle', metadata: { name: handle }, spec: { handleID: handle, block: { [cidr]: 1 } } },
    },
  ];
}

export const TUNNEL = 'projectcalico.org/IPv4VXLANTunnelAddr';
