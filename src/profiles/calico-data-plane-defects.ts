import type { Defect, DefectCondition } from '../kernel/defect.ts';

const nftables: DefectCondition = { type: 'packetFilter', oneOf: ['nftables'] };
const ebpf: DefectCondition = { type: 'setting', name: 'bpfEnabled', oneOf: ['true'] };
/** Hosts whose own nft writes rules that the nft of older images cannot read; only reported ones. */
const newerNft = [
  'Debian GNU/Linux 13',
  'Ubuntu 26.04',
  'Fedora Linux 42',
  'Fedora Linux 43',
  'Red Hat Enterprise Linux 10',
  'Rocky Linux 10',
  'AlmaLinux 10',
  'CentOS Stream 10',
];

/** A defect between two releases, the second of which has the fix. */
export function fixed<Of extends Defect['of']>(of: Of, severity: Defect['severity'], from: string, before: string) {
  return { of, severity, releases: { from, before }, fixedIn: before };
}

/** Defects of the agents' images: packet filter and eBPF programs. */
export const calicoDataPlaneDefects: readonly Defect[] = [
  {
    id: 'nft-crash',
    ...fixed('agent', 'error', 'v3.29.0', 'v3.32.1'),
    when: [nftables, { type: 'node', field: 'osImage', startsWith: newerNft }],
    symptom: 'calico-node logs that nft ended by a segmentation fault; pods on the node have no policy and no service.',
    happens: 'the nft of this image crashes beside the newer nft of the host, and the agent writes no rules',
    sources: ['projectcalico/calico#11750', 'projectcalico/calico#12726', 'projectcalico/calico#13068'],
  },
  {
    id: 'nft-overlap',
    ...fixed('agent', 'error', 'v3.32.0', 'v3.32.1'),
    when: [nftables],
    symptom: 'calico-node crash-loops with a panic about members of an IP set.',
    happens: 'the agent panics in nftables mode where addresses of an IP set overlap',
    sources: ['projectcalico/calico#12851'],
  },
  {
    id: 'nft-overlap-members',
    ...fixed('agent', 'warning', 'v3.32.0', 'v3.32.2'),
    when: [nftables, { type: 'resource', plurals: ['globalnetworksets', 'networksets'], fields: ['nets'] }],
    symptom: 'A policy that allows a network set denies some of its addresses after the set was changed.',
    happens: 'the agent may remove addresses of a network set in nftables mode where networks in it overlap',
    sources: ['projectcalico/calico#13441', 'projectcalico/calico#13444'],
  },
  {
    id: 'nft-settings-auto',
    of: 'agent',
    releases: { from: 'v3.32.0', before: 'v3.32.2' },
    when: [
      nftables,
      { type: 'setting', name: 'nftablesMode', oneOf: ['Auto'], absent: true },
      {
        type: 'resource',
        plurals: ['felixconfigurations'],
        fields: [
          'nftablesFilterAllowAction',
          'nftablesMangleAllowAction',
          'nftablesFilterDenyAction',
          'nftablesMarkMask',
          'nftablesRefreshInterval',
        ],
      },
    ],
    severity: 'warning',
    symptom: 'Settings nftables… of the FelixConfiguration have no effect.',
    happens: 'the agents ignore the nftables settings of the FelixConfiguration while nftablesMode is Auto, and use the iptables settings',
    advice: 'Set nftablesMode of the default FelixConfiguration to Enabled before the upgrade.',
    sources: ['projectcalico/calico#13565'],
  },
  {
    id: 'nft-foreign-rules',
    of: 'agent',
    releases: { from: 'v3.29.0', before: 'v3.33.0' },
    when: [nftables, { type: 'hostProgram', images: ['tailscale', 'netbird', 'firewalld'] }],
    severity: 'warning',
    symptom: 'calico-node crash-loops with a panic while it reads tables of nftables.',
    happens: 'the agent panics in nftables mode where another program of the node has put rules of its own into the tables filter or nat',
    advice: 'Keep that program from writing rules (of Tailscale: --netfilter-mode=off), or keep the agents at iptables.',
    sources: ['projectcalico/calico#13263', 'projectcalico/calico#13328'],
  },
  {
    id: 'node-in-pool',
    ...fixed('agent', 'warning', 'v3.32.0', 'v3.32.2'),
    when: [{ type: 'nodeInPool' }],
    symptom: 'Other nodes cannot reach a node, or its kubelet, once a block of addresses around the address of the node is in use.',
    happens:
      'the address of a node lies within a pool of pod addresses, and the agents route it through the tunnel once a block around it is in use',
    sources: ['projectcalico/calico#12847', 'projectcalico/calico#13116'],
  },
  {
    id: 'ebpf-vxlan-hop',
    ...fixed('source', 'warning', 'v3.30.0', 'v3.30.7'),
    when: [ebpf, { type: 'resource', plurals: ['ippools'], fields: ['vxlanMode'], oneOf: ['Always', 'CrossSubnet'] }],
    symptom: 'During the rollout, pods on the network of the nodes cannot reach pods on nodes with the other release.',
    happens: 'traffic of host-networked pods through VXLAN is lost between old and new agents until the last node is upgraded',
    sources: ['projectcalico/calico#11910', 'projectcalico/calico#12054'],
  },
  {
    id: 'ebpf-debug-verifier',
    of: 'agent',
    releases: { from: 'v3.30.0' },
    when: [
      ebpf,
      { type: 'setting', name: 'bpfLogLevel', oneOf: ['Debug', 'debug'] },
      { type: 'node', field: 'kernelVersion', from: '5.15', before: '5.16' },
    ],
    severity: 'warning',
    symptom: 'calico-node logs that the verifier of the kernel refuses a program, and does not become ready.',
    happens: 'kernels 5.15 may refuse the eBPF programs that are built with bpfLogLevel Debug',
    advice: 'Set bpfLogLevel of the default FelixConfiguration to Off before the upgrade.',
    sources: ['projectcalico/calico#10911'],
  },
  {
    id: 'ebpf-own-wireguard',
    of: 'agent',
    releases: { from: 'v3.32.0', before: 'v3.33.0' },
    when: [ebpf, { type: 'setting', name: 'bpfDataIfacePattern' }],
    severity: 'warning',
    symptom: 'A WireGuard network of your own between the nodes stops when the new agent starts.',
    happens: 'eBPF programs on interfaces of bpfDataIfacePattern drop WireGuard traffic on UDP port 51820 that is not of Calico',
    advice: 'If the nodes have a WireGuard network of their own, move it to another UDP port before the upgrade.',
    sources: ['projectcalico/calico#12900'],
  },
  {
    id: 'ebpf-balancer',
    of: 'agent',
    releases: { from: 'v3.29.0', before: 'v3.31.3', backports: ['v3.29.7', 'v3.30.5'] },
    when: [ebpf, { type: 'node', field: 'kernelVersion', from: '6.12' }],
    severity: 'warning',
    symptom: 'calico-node crash-loops: "Failed to attach connect-time load balancer"; libbpf logs that calico_sendmsg_v46 failed to load.',
    happens: 'kernels since 6.12.53 and 6.17.5 refuse the eBPF programs of the connect-time load balancer, and the agent does not start',
    fixedIn: 'v3.31.3',
    sources: ['projectcalico/calico#11302', 'awslabs/amazon-eks-ami#2511'],
  },
  {
    id: 'ipset-kernel',
    ...fixed('agent', 'warning', 'v3.26.0', 'v3.31.3'),
    when: [
      { type: 'packetFilter', oneOf: ['iptables'] },
      { type: 'node', field: 'osImage', startsWith: ['Debian GNU/Linux 13', 'Ubuntu 24.04'] },
    ],
    symptom:
      'calico-node does not become ready: "ipset: Kernel and userspace incompatible: settype hash:ip with revision 6 not supported".',
    happens: 'the ipset of this image may be older than the sets of the kernel, and the agent then sets up no rules',
    sources: ['projectcalico/calico#8372', 'projectcalico/calico#9551', 'projectcalico/calico#10676', 'projectcalico/calico#11051'],
  },
  {
    id: 'libpcap-arm64',
    ...fixed('agent', 'error', 'v3.27.0', 'v3.27.3'),
    when: [{ type: 'node', field: 'architecture', startsWith: ['arm64'] }],
    symptom: 'calico-node crash-loops on arm64: "error while loading shared libraries: libpcap.so.0.8".',
    happens: 'a library is missing in the image for arm64, and the agent does not start',
    sources: ['projectcalico/calico#8407', 'rancher/rke2#5663'],
  },
];
