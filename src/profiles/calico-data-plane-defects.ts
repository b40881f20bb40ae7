import type { Defect, DefectCondition } from '../kernel/defect.ts';
import { MANIFESTS, OPERATED } from '../kernel/installation.ts';
import { fixed, open, without } from './defect-lines.ts';
import { DISTRIBUTION_KERNELS } from './distribution-kernels.ts';

const nftables: DefectCondition = { type: 'packetFilter', oneOf: ['nftables'] };
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

const nftOwn: DefectCondition = {
  type: 'resource',
  plurals: ['felixconfigurations'],
  fields: [
    'nftablesFilterAllowAction',
    'nftablesMangleAllowAction',
    'nftablesFilterDenyAction',
    'nftablesMarkMask',
    'nftablesRefreshInterval',
  ],
};
const nftSettings: Omit<Defect, 'id' | 'when'> = {
  of: 'agent',
  lines: [...open('v3.32'), without('v3.33.0')],
  severity: 'warning',
  symptom: 'FelixConfiguration settings nftables… have no effect.',
  happens: 'the agents ignore the nftables settings of the FelixConfiguration while nftablesMode is Auto, and use the iptables settings',
  sources: ['projectcalico/calico#13565'],
};

/** Of a kernel without securityfs, which only a look at the node tells: distributions and clouds build it in. */
const securityfs: Omit<Defect, 'id' | 'when'> = {
  of: 'agent',
  lines: [
    { from: 'v3.31.7', openOn: '2026-08-30' },
    { from: 'v3.32.2', openOn: '2026-08-30' },
  ],
  severity: 'warning',
  symptom: 'calico-node is not created: "mkdir /sys/kernel/security: operation not permitted".',
  happens: 'the agent mounts /sys/kernel/security, and is not created on a kernel that was built without securityfs',
  advice:
    'Look on these nodes: ls -d /sys/kernel/security. Where it is missing, use --release v3.32.1, or drop volume sys-kernel-security in a copy of the manifest.',
  sources: ['projectcalico/calico#13681', 'projectcalico/calico#13142'],
};

/** Defects of the agents' images: packet filter, routes and what they ask of a node. */
export const calicoDataPlaneDefects: readonly Defect[] = [
  {
    id: 'nft-crash',
    of: 'agent',
    lines: [...open('v3.29', 'v3.30'), fixed('v3.31.0', 'v3.31.6'), fixed('v3.32.0', 'v3.32.1')],
    when: [nftables, { type: 'node', field: 'osImage', startsWith: newerNft }],
    severity: 'error',
    symptom: 'calico-node logs a segmentation fault of nft; pods there have no policy and no service.',
    happens: 'the nft of this image crashes beside the newer nft of the host, and the agent writes no rules',
    sources: ['projectcalico/calico#11750', 'projectcalico/calico#12726', 'projectcalico/calico#13068'],
  },
  {
    id: 'nft-overlap',
    of: 'agent',
    lines: [fixed('v3.32.0', 'v3.32.1')],
    when: [nftables],
    severity: 'error',
    symptom: 'calico-node crash-loops: panic about members of an IP set.',
    happens: 'the agent panics in nftables mode where addresses of an IP set overlap',
    sources: ['projectcalico/calico#12851'],
  },
  {
    id: 'nft-overlap-members',
    of: 'agent',
    lines: [fixed('v3.31.6', 'v3.31.7'), fixed('v3.32.0', 'v3.32.2')],
    when: [nftables, { type: 'resource', plurals: ['globalnetworksets', 'networksets'], fields: ['nets'] }],
    severity: 'warning',
    symptom: 'A policy that allows a network set denies some of its addresses once it changes.',
    happens: 'the agent may remove addresses of a network set in nftables mode where networks in it overlap',
    sources: ['projectcalico/calico#13441', 'projectcalico/calico#13444'],
  },
  {
    ...nftSettings,
    id: 'nft-settings-auto',
    when: [nftables, { type: 'path', oneOf: MANIFESTS }, { type: 'setting', name: 'nftablesMode', oneOf: ['Auto'], absent: true }, nftOwn],
    advice: 'Set nftablesMode of the default FelixConfiguration to Enabled before the upgrade.',
  },
  // The operator writes Auto, whatever stands there.
  {
    ...nftSettings,
    id: 'nft-settings-operator',
    when: [nftables, { type: 'path', oneOf: OPERATED }, nftOwn],
    advice: 'Set the settings iptables… of the same meaning alike: the agents go by them, and the operator sets nftablesMode to Auto.',
  },
  {
    id: 'nft-foreign-rules',
    of: 'agent',
    lines: [...open('v3.29', 'v3.30', 'v3.31', 'v3.32'), without('v3.33.0')],
    when: [nftables, { type: 'hostProgram', images: ['tailscale', 'netbird', 'firewalld'] }],
    severity: 'warning',
    symptom: 'calico-node crash-loops: panic while it reads nftables.',
    happens: 'the agent panics in nftables mode where another program of the node has put rules of its own into the tables filter or nat',
    advice: 'Keep that program from writing rules (of Tailscale: --netfilter-mode=off), or keep the agents at iptables.',
    sources: ['projectcalico/calico#13263', 'projectcalico/calico#13328'],
  },
  {
    id: 'node-in-pool',
    of: 'agent',
    lines: [fixed('v3.32.0', 'v3.32.2')],
    when: [{ type: 'nodeInPool' }],
    severity: 'warning',
    symptom: 'No node reaches a node whose own address lies in a used block.',
    happens:
      'the address of a node lies within a pool of pod addresses, and the agents route it through the tunnel once a block around it is in use',
    sources: ['projectcalico/calico#12847', 'projectcalico/calico#13116'],
  },
  {
    id: 'ipset-kernel',
    of: 'agent',
    lines: [...open('v3.26', 'v3.27', 'v3.28', 'v3.29'), fixed('v3.30.0', 'v3.30.6'), fixed('v3.31.0', 'v3.31.3')],
    when: [
      { type: 'packetFilter', oneOf: ['iptables'] },
      { type: 'node', field: 'osImage', startsWith: ['Debian GNU/Linux 13', 'Ubuntu 24.04'] },
    ],
    severity: 'warning',
    symptom: 'calico-node stays unready: "ipset: Kernel and userspace incompatible".',
    happens: 'the ipset of this image may be older than the sets of the kernel, and the agent then sets up no rules',
    sources: ['projectcalico/calico#8372', 'projectcalico/calico#9551', 'projectcalico/calico#10676', 'projectcalico/calico#11051'],
  },
  {
    id: 'libpcap-arm64',
    of: 'agent',
    lines: [fixed('v3.27.0', 'v3.27.3')],
    when: [{ type: 'node', field: 'architecture', startsWith: ['arm64'] }],
    severity: 'error',
    symptom: 'calico-node crash-loops: on arm64, "error while loading shared libraries: libpcap.so.0.8".',
    happens: 'a library is missing in the image for arm64, and the agent does not start',
    sources: ['projectcalico/calico#8407', 'rancher/rke2#5663'],
  },
  // Boards whose vendor builds the kernel, and kernels of one's own.
  { ...securityfs, id: 'securityfs', when: [{ type: 'node', field: 'kernelVersion', unlike: DISTRIBUTION_KERNELS }] },
  {
    ...securityfs,
    id: 'securityfs-minikube',
    when: [{ type: 'node', field: 'osImage', startsWith: ['Buildroot'] }],
    happens: 'the agent mounts /sys/kernel/security, which the kernel of minikube’s image had not before 2026-08-30',
    sources: ['kubernetes/minikube#23592'],
  },
  {
    id: 'route-sync-disabled',
    of: 'agent',
    lines: [...open('v3.30', 'v3.31'), fixed('v3.32.0', 'v3.32.1')],
    when: [{ type: 'setting', name: 'routeSyncDisabled', oneOf: ['true'] }],
    severity: 'warning',
    symptom: 'Agents write routes or link addresses although routeSyncDisabled is true.',
    happens: 'the agents write addresses of links though routeSyncDisabled is true',
    sources: ['projectcalico/calico#12489', 'projectcalico/calico#12707'],
  },
  {
    id: 'init-user',
    of: 'target',
    lines: [fixed('v3.33.0', 'v3.33.1')],
    when: [{ type: 'path', oneOf: MANIFESTS }],
    severity: 'error',
    symptom: 'calico-node stays in Init:Error: "install-cni: FATAL found no writeable directory".',
    happens: 'the init containers of the manifests run as user 10001, cannot write the CNI plugin, and no agent starts',
    sources: ['projectcalico/calico#13816', 'projectcalico/calico#13665'],
  },
  {
    id: 'advertised-not-ready',
    of: 'agent',
    lines: [...open('v3.28', 'v3.29', 'v3.30'), fixed('v3.31.0', 'v3.31.7'), fixed('v3.32.0', 'v3.32.2')],
    when: [
      {
        type: 'resource',
        plurals: ['bgpconfigurations'],
        fields: ['serviceLoadBalancerIPs', 'serviceExternalIPs', 'serviceClusterIPs'],
      },
    ],
    severity: 'warning',
    symptom: 'Traffic to an advertised service address is lost while pods on a node are unready.',
    happens: 'a node also advertises the addresses of a service with externalTrafficPolicy Local while no endpoint on it is ready',
    sources: ['projectcalico/calico#13246', 'projectcalico/calico#13253', 'projectcalico/calico#13255'],
  },
  {
    id: 'live-migration-lock',
    of: 'agent',
    lines: [fixed('v3.32.0', 'v3.32.2')],
    when: [{ type: 'crd', name: 'virtualmachineinstances.kubevirt.io' }],
    severity: 'warning',
    symptom: 'Where a virtual machine has moved to, the agent applies no policy or route any more.',
    happens: 'the agent of a node may lock up when a virtual machine that moves to it announces its address at the end of the move',
    advice: 'Delete the pod of an agent that has locked up.',
    sources: ['projectcalico/calico#13152'],
  },
  {
    id: 'windows-bgp-template',
    of: 'target',
    lines: [fixed('v3.32.0', 'v3.32.2')],
    when: [
      { type: 'node', field: 'osImage', startsWith: ['Windows'] },
      { type: 'resource', plurals: ['ippools'], fields: ['vxlanMode'], oneOf: ['Never'], absent: true },
    ],
    severity: 'warning',
    symptom: 'Windows nodes announce no BGP routes: confd logs "function "getenv" not defined".',
    happens: 'templates of BGP for Windows use a function that confd no longer has: nodes with Windows get no BGP configuration',
    sources: ['projectcalico/calico#13140'],
  },
];
