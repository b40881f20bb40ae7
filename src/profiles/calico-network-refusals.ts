import type { Refusal } from '../kernel/refusal.ts';
import { BGP, DATA_PLANE, is, isNot, isSet, NETWORK, notOfCalico, ofCalico, POOLS, v4, WINDOWS } from './refusal-rules.ts';

export const networkRefusals: readonly Refusal[] = [
  ...(
    [
      ['the VPP dataplane only supports the Calico variant (configured: {/variant})', isNot('/variant', 'Calico')],
      ['the VPP dataplane only supports the Calico CNI (configured: {/cni/type})', notOfCalico],
      ['VPP requires BGP to be enabled', is(BGP, 'Disabled')],
      ["VPP doesn't support disabling HostPorts", is(`${NETWORK}/hostPorts`, 'Disabled')],
    ] as const
  ).map(([says, rule]) => ({ since: 'v3.22.0', says, when: [is(DATA_PLANE, 'VPP'), rule] })),
  ...['nodeAddressAutodetectionV4', 'nodeAddressAutodetectionV6'].flatMap((field): readonly Refusal[] => [
    {
      since: 'v3.15.0',
      says: 'no more than one node address autodetection method can be specified per-family',
      when: [{ field: `${NETWORK}/${field}`, several: ['interface', 'skipInterface', 'canReach', 'firstFound', 'cidrs', 'kubernetes'] }],
    },
    {
      ...{ since: 'v3.16.0', says: 'invalid CIDR provided for node address autodetection: {}' },
      items: `${NETWORK}/${field}/cidrs`,
      when: [{ field: '', network: 'invalid' }],
    },
  ]),
  {
    since: 'v3.16.0',
    says: 'spec.calicoNetwork.hostPorts is supported only for Calico CNI',
    when: [notOfCalico, is(`${NETWORK}/hostPorts`, 'Enabled')],
  },
  {
    since: 'v3.15.0',
    says: '{/calicoNetwork/hostPorts} is invalid for HostPorts, it should be one of Enabled,Disabled',
    when: [isSet(`${NETWORK}/hostPorts`), isNot(`${NETWORK}/hostPorts`, 'Enabled', 'Disabled')],
  },
  ...(
    [
      ['v3.16.0', 'multiInterfaceMode'],
      ['v3.17.0', 'containerIPForwarding'],
    ] as const
  ).map(([since, field]) => ({
    ...{ since, says: `spec.calicoNetwork.${field} is supported only for Calico CNI` },
    when: [notOfCalico, isSet(`${NETWORK}/${field}`)],
  })),
  {
    ...{ since: 'v3.28.0', says: 'key {key} is not allowed in spec.calicoNetwork.sysctl', items: `${NETWORK}/sysctl` },
    when: [isNot('key', ...['intvl', 'probes', 'time'].map((name) => `net.ipv4.tcp_keepalive_${name}`))],
  },
  {
    since: 'v3.28.0',
    says: 'spec.calicoNetwork.linuxPolicySetupTimeoutSeconds negative value is not valid',
    when: [{ field: `${NETWORK}/linuxPolicySetupTimeoutSeconds`, below: 0 }],
  },
  {
    since: 'v3.28.0',
    says: 'spec.calicoNetwork.linuxPolicySetupTimeoutSeconds is supported only for the Iptables, Nftables and BPF Linux dataplanes',
    when: [isSet(`${NETWORK}/linuxPolicySetupTimeoutSeconds`), isNot(DATA_PLANE, 'Iptables', 'Nftables', 'BPF')],
  },
  {
    since: 'v3.31.0',
    says: 'bpfNetworkBootstrap is Enabled but the requirements are not met: bpfNetworkBootstrap is enabled but linuxDataplane is not set to BPF',
    when: [is(`${NETWORK}/bpfNetworkBootstrap`, 'Enabled'), isNot(DATA_PLANE, 'BPF')],
  },
  {
    since: 'v3.31.0',
    says: 'bpfNetworkBootstrap is Enabled but the requirements are not met: kubernetes service endpoint is defined by the kubernetes-service-endpoints ConfigMap',
    when: [is(`${NETWORK}/bpfNetworkBootstrap`, 'Enabled'), isSet('/found/endpoint')],
  },
];

export const layoutRefusals: readonly Refusal[] = [
  {
    since: 'v3.20.0',
    says: 'Error in BGP layout ConfigMap: BGP layout ConfigMap does not have earlyNetworkConfiguration key',
    when: [isSet('/found/bgpLayout'), { field: '/found/bgpLayoutText', empty: true }],
  },
];

export const windowsRefusals: readonly Refusal[] = [
  ...['endpointHost', 'endpointPort'].map((field) => ({
    since: 'v3.27.0',
    says: "services endpoint configmap 'kubernetes-services-endpoint' does not have all required information for Calico Windows daemonset configuration",
    when: [isNot(WINDOWS, 'Disabled'), { field: `/found/${field}`, absent: true }],
  })),
  {
    since: 'v3.27.0',
    says: 'installation spec.ServiceCIDRs must be provided when using Calico CNI on Windows',
    when: [isNot(WINDOWS, 'Disabled'), ofCalico, { field: '/serviceCIDRs', absent: true }],
  },
  {
    since: 'v3.27.0',
    says: 'IPv4 IPPool encapsulation {encapsulation} is not supported by Calico for Windows',
    items: POOLS,
    when: [isNot(WINDOWS, 'Disabled'), ofCalico, v4, isNot('encapsulation', 'VXLAN', 'None')],
  },
  {
    since: 'v3.27.0',
    says: 'installation spec.WindowsNodes is not valid and should not be provided when Calico for Windows is disabled',
    when: [is(WINDOWS, 'Disabled'), isSet('/windowsNodes')],
  },
];
