import type { FieldRule } from '../kernel/refusal.ts';

/** Places of the Installation, and conditions on them, by which its refusals are written. */
export const PROVIDER = '/kubernetesProvider';
export const CNI = '/cni/type';
export const IPAM = '/cni/ipam/type';
export const NETWORK = '/calicoNetwork';
export const POOLS = `${NETWORK}/ipPools`;
export const BGP = `${NETWORK}/bgp`;
export const DATA_PLANE = `${NETWORK}/linuxDataplane`;
export const WINDOWS = `${NETWORK}/windowsDataplane`;

export const is = (field: string, ...oneOf: readonly string[]): FieldRule => ({ field, oneOf });
export const isNot = (field: string, ...noneOf: readonly string[]): FieldRule => ({ field, noneOf });
export const isSet = (field: string): FieldRule => ({ field });
export const v4: FieldRule = { field: 'cidr', network: 'v4' };
export const v6: FieldRule = { field: 'cidr', network: 'v6' };
export const ipip = is('encapsulation', 'IPIP', 'IPIPCrossSubnet');
export const vxlan = is('encapsulation', 'VXLAN', 'VXLANCrossSubnet');
export const plain = is('encapsulation', 'None');
export const ofCalico = is(CNI, 'Calico');
export const notOfCalico = isNot(CNI, 'Calico');
