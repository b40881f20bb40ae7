import type { Refusal } from '../kernel/refusal.ts';
import { BGP, IPAM, ipip, is, isNot, NETWORK, notOfCalico, ofCalico, POOLS, plain, v4, v6, vxlan } from './refusal-rules.ts';

const ofPools = (rows: readonly Omit<Refusal, 'items'>[]): readonly Refusal[] => rows.map((row) => ({ ...row, items: POOLS }));

/** Up to v3.27 only the first pool of IPv4 was looked at in many of them. */
export const poolRefusals = ofPools([
  {
    ...{ since: 'v3.15.0', says: 'IPIP encapsulation is not supported by IPv6 pools, but it is set for {cidr}' },
    when: [v6, ipip],
  },
  ...(
    [
      ['IPIP encapsulation requires', ipip],
      ['unencapsulated IP pools require', plain],
    ] as const
  ).flatMap(([what, encapsulation]) =>
    [
      { since: 'v3.16.0', family: v4 },
      { since: 'v3.28.0', family: v6 },
    ].map(({ since, family }) => ({
      since,
      says: `with BIRD cluster routing mode, ${what} that BGP is enabled`,
      when: [ofCalico, is(IPAM, 'Calico'), family, encapsulation, is(BGP, 'Disabled'), isNot(`${NETWORK}/clusterRoutingMode`, 'Felix')],
    })),
  ),
  {
    ...{ since: 'v3.19.0', says: '{encapsulation} is invalid for ipPool.encapsulation with {/cni/type} CNI and {/cni/ipam/type} IPAM' },
    when: [ofCalico, is(IPAM, 'HostLocal'), vxlan],
  },
  {
    ...{ since: 'v3.17.0', says: '{encapsulation} is invalid for ipPool.encapsulation when using non-Calico CNI, should be None' },
    when: [notOfCalico, isNot('encapsulation', 'None')],
  },
  { since: 'v3.17.0', says: 'BGP is not supported when using non-Calico CNI', when: [notOfCalico, is(BGP, 'Enabled')] },
  {
    ...{ since: 'v3.17.0', says: "IP pool nodeSelector ({nodeSelector}) should be 'all()' when using non-Calico CNI plugin" },
    when: [notOfCalico, isNot('nodeSelector', 'all()')],
  },
  { since: 'v3.15.0', says: 'IP pool CIDR ({cidr}) is invalid', when: [{ field: 'cidr', network: 'invalid' }] },
  { since: 'v3.28.0', says: 'IP pool {cidr} is specified more than once', when: [{ field: 'cidr', repeated: true }] },
  { since: 'v3.28.0', says: 'IP pool {name} is specified more than once', when: [{ field: 'name', repeated: true }] },
  ...(
    [
      ['IPv4', v4, 20, 32],
      ['IPv6', v6, 116, 128],
    ] as const
  ).flatMap(([family, ofFamily, least, most]) => {
    const says = `${family} pool block size must be greater than ${least - 1} and less than or equal to ${most}`;
    return [{ below: least }, { above: most }].map((bound) => ({
      ...{ since: 'v3.15.0', says },
      when: [ofFamily, { field: 'blockSize', ...bound }],
    }));
  }),
  {
    ...{ since: 'v3.15.0', says: 'IP pool size is too small. It must be equal to or greater than the block size' },
    when: [{ field: 'cidr', smallerThan: 'blockSize' }],
  },
  ...(
    [
      ['IP pool {name} AllowedUse LoadBalancer cannot be used with Workload/Tunnel', is('allowedUses', 'Workload', 'Tunnel')],
      ['IP pool nodeSelector should be set to all() if allowedUse is LoadBalancer', isNot('nodeSelector', 'all()')],
      ['IP pool encapsulation must be none if allowedUse is LoadBalancer', isNot('encapsulation', 'None')],
      ['IP pool disable bgp export must be false when AllowedUse is LoadBalancer', is('disableBGPExport', 'true')],
    ] as const
  ).map(([says, rule]) => ({ since: 'v3.30.0', says, when: [is('allowedUses', 'LoadBalancer'), rule] })),
]);
