import { canonicalAddress } from '../kernel/ip-text.ts';
import type { KubeObject } from '../kernel/object.ts';

/** Annotations of a Kubernetes node in which agents note addresses of its host, in the order of `expectedIPs`. */
const NOTED = [
  'IPv4Address',
  'IPv6Address',
  'IPv4IPIPTunnelAddr',
  'IPv4VXLANTunnelAddr',
  'IPv6VXLANTunnelAddr',
  'IPv4WireguardInterfaceAddr',
  'IPv6WireguardInterfaceAddr',
];

export const addressAnnotations = (apiGroup: string): readonly string[] => NOTED.map((name) => `${apiGroup}/${name}`);

interface Addressed {
  readonly addresses?: readonly { readonly type?: string; readonly address?: string }[] | null;
}

/**
 * Addresses of a node's automatic endpoint with the API datastore: those its agent noted and its internal ones (`getExpectedIPs` of the
 * service). The tunnel address of host-local IPAM is missing, as nobody notes it.
 */
export function nodeAddresses({ metadata, status }: KubeObject, apiGroup: string): readonly string[] {
  const noted = addressAnnotations(apiGroup).map((key) => metadata.annotations?.[key]);
  return distinct([...noted, ...internal(status as Addressed | undefined)]);
}

/** The same of a node of the service in a key-value store. */
export function ownNodeAddresses({ spec }: KubeObject): readonly string[] {
  const { bgp, wireguard, ipv4VXLANTunnelAddr, ipv6VXLANTunnelAddr, ...rest } = (spec ?? {}) as Readonly<
    Record<'bgp' | 'wireguard', Readonly<Record<string, string>> | null | undefined>
  > &
    Readonly<Record<'ipv4VXLANTunnelAddr' | 'ipv6VXLANTunnelAddr', string | undefined>> &
    Addressed;
  return distinct([
    ...['ipv4Address', 'ipv6Address', 'ipv4IPIPTunnelAddr'].map((field) => bgp?.[field]),
    ipv4VXLANTunnelAddr,
    ipv6VXLANTunnelAddr,
    ...['interfaceIPv4Address', 'interfaceIPv6Address'].map((field) => wireguard?.[field]),
    ...internal(rest),
  ]);
}

function internal(part: Addressed | undefined): readonly (string | undefined)[] {
  return (part?.addresses ?? []).filter(({ type }) => type === 'InternalIP').map(({ address }) => address);
}

/** Without masks; what is no address gives none. */
function distinct(texts: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(texts.flatMap((text) => canonicalAddress(text?.split('/')[0] ?? '') ?? []))];
}
