import { command } from '../kernel/command.ts';
import type { DefectCondition, ReleaseChange } from '../kernel/defect.ts';
import { text } from '../kernel/step.ts';

const ebpf: DefectCondition = { type: 'ebpf' };
const POLICIES = ['globalnetworkpolicies', 'networkpolicies'];
const overVxlan: DefectCondition = { type: 'resource', plurals: ['ippools'], fields: ['vxlanMode'], oneOf: ['Always', 'CrossSubnet'] };
const overIpip: DefectCondition = { type: 'resource', plurals: ['ippools'], fields: ['ipipMode'], oneOf: ['Always', 'CrossSubnet'] };

const advertises: DefectCondition = {
  type: 'resource',
  plurals: ['bgpconfigurations'],
  fields: ['serviceLoadBalancerIPs', 'serviceExternalIPs', 'serviceClusterIPs'],
};
const selectsHosts: DefectCondition = {
  type: 'resource',
  plurals: POLICIES,
  fields: ['ingress.source.selector', 'ingress.destination.selector', 'egress.source.selector', 'egress.destination.selector'],
};

function resource(plurals: readonly string[], fields: readonly string[], ...oneOf: readonly string[]): DefectCondition {
  return { type: 'resource', plurals, fields, ...(oneOf.length > 0 ? { oneOf } : {}) };
}

const unset = (name: string): DefectCondition => ({ type: 'setting', name, absent: true });

type Row = Omit<ReleaseChange, 'effect' | 'severity'> & Partial<Pick<ReleaseChange, 'severity'>>;

const meanings: readonly Row[] = [
  {
    id: 'http-paths',
    releases: { from: 'v3.31.6' },
    crossed: 'into',
    when: [resource(POLICIES, ['ingress.http.paths', 'egress.http.paths'])],
    symptom: 'HTTP rules of policies allow or deny other paths.',
    happens: 'Dikastes normalizes the path of a request before it compares it with HTTP rules, so rules may match otherwise',
    advice: 'Compare the paths in these rules with their normalized form: no "..", no double slash, percent encoding resolved.',
    sources: ['projectcalico/calico#12532', 'projectcalico/calico#12533'],
  },
  {
    id: 'http-enforced-again',
    releases: { from: 'v3.30.0', before: 'v3.32.0' },
    crossed: 'out of',
    when: [resource(POLICIES, ['ingress.http', 'egress.http'])],
    symptom: 'HTTP rules that had no effect deny requests of meshed pods.',
    happens: 'the installed release answers UNKNOWN to each request, so HTTP rules have no effect; the target enforces them again',
    advice: 'Read these rules before the upgrade: requests that passed since v3.30 are denied where no rule allows them.',
    sources: ['projectcalico/calico#11857', 'projectcalico/calico#11986'],
  },
  {
    id: 'cluster-network-policies',
    releases: { from: 'v3.32.0' },
    crossed: 'into',
    when: [{ type: 'crd', name: 'clusternetworkpolicies.policy.networking.k8s.io' }],
    symptom: 'A ClusterNetworkPolicy or AdminNetworkPolicy that had no effect denies traffic.',
    happens: 'from v3.32 the agents enforce ClusterNetworkPolicies, which had no effect until now',
    advice: text`List them: ${command`kubectl get clusternetworkpolicies`}. Delete what must not take effect.`,
    sources: ['projectcalico/calico#11144'],
  },
  {
    id: 'admin-network-policies',
    releases: { from: 'v3.29.0', before: 'v3.32.0' },
    crossed: 'into',
    when: [resource(['adminnetworkpolicies'], ['subject'])],
    symptom: 'A ClusterNetworkPolicy or AdminNetworkPolicy that had no effect denies traffic.',
    happens: 'the agents of v3.29 to v3.31 enforce AdminNetworkPolicies, which had no effect until now',
    advice: text`List them: ${command`kubectl get adminnetworkpolicies`}. Delete what must not take effect.`,
    sources: ['projectcalico/calico#9206'],
  },
  {
    id: 'automatic-endpoint-addresses',
    releases: { from: 'v3.31.0' },
    crossed: 'into',
    when: [resource(['kubecontrollersconfigurations'], ['controllers.node.hostEndpoint.autoCreate'], 'Enabled'), selectsHosts],
    symptom: 'Rules that select host endpoints match more addresses.',
    happens: 'automatic host endpoints get every address of every interface of their node, so selectors in rules match more addresses',
    advice: 'Look at rules whose selectors match host endpoints, such as all(). Limit them with nets where these addresses must not match.',
    sources: ['projectcalico/calico#10672', 'projectcalico/calico#4721'],
  },
  {
    id: 'excluded-nodes',
    releases: { from: 'v3.18.0' },
    crossed: 'into',
    when: [advertises, { type: 'nodeLabel', key: 'node.kubernetes.io/exclude-from-external-load-balancers' }],
    symptom: 'Some nodes advertise no service addresses.',
    happens: 'nodes with the label node.kubernetes.io/exclude-from-external-load-balancers no longer advertise service addresses',
    advice: 'Take the label off nodes that must advertise them, or make sure that enough other nodes do.',
    sources: ['projectcalico/confd#420'],
  },
  {
    id: 'blocks-per-node',
    releases: { from: 'v3.19.0' },
    crossed: 'into',
    when: [resource(['ippools'], ['blockSize'], '30', '31', '32')],
    symptom: 'New pods stay in ContainerCreating: "cannot allocate new block due to per host block limit".',
    happens: 'a node may have 20 blocks of addresses at most, which are fewer addresses than pods with blocks as small as these',
    advice: 'Set maxBlocksPerHost of the IPAM configuration right after the upgrade: calicoctl ipam configure.',
    sources: ['projectcalico/libcalico-go#1368'],
  },
  {
    id: 'floating-ips',
    releases: { from: 'v3.22.2' },
    crossed: 'into',
    when: [
      { type: 'cniConfig', matches: '"floating_ips"\\s*:\\s*true' },
      { type: 'setting', name: 'floatingIPs', absent: true },
    ],
    symptom: 'Floating addresses no longer reach their pods.',
    happens: 'floating addresses of pods work only where floatingIPs of the FelixConfiguration is Enabled, and it is Disabled by default',
    advice: 'Set floatingIPs of the default FelixConfiguration to Enabled as soon as the new CRDs are there.',
    sources: ['projectcalico/calico#5865'],
  },
  {
    id: 'ebpf-host-policies',
    releases: { from: 'v3.18.0' },
    crossed: 'into',
    when: [ebpf, resource(['hostendpoints'], ['node'])],
    symptom: 'eBPF: policies, or untracked ones, that had no effect deny traffic of nodes.',
    happens: 'from v3.18 the agents enforce policies on host endpoints in eBPF mode, which had no effect there until now',
    advice: 'Read the policies that select host endpoints before the upgrade, and allow what the nodes need.',
    sources: ['projectcalico/felix#2664'],
  },
  {
    id: 'ebpf-untracked-policies',
    releases: { from: 'v3.21.0' },
    crossed: 'into',
    when: [ebpf, resource(['globalnetworkpolicies'], ['doNotTrack'], 'true')],
    symptom: 'eBPF: policies, or untracked ones, that had no effect deny traffic of nodes.',
    happens: 'from v3.21 the agents enforce policies with doNotTrack in eBPF mode, egress and allow rules too',
    advice: 'Read these policies before the upgrade. Answers of an allowed connection need an allow rule of their own.',
    sources: ['projectcalico/felix#2905', 'projectcalico/felix#2910'],
  },
  {
    id: 'ebpf-endpoint-to-host',
    releases: { from: 'v3.27.1' },
    crossed: 'into',
    when: [ebpf, resource(['hostendpoints'], ['interfaceName'], '*')],
    symptom: 'Pods reach services of their own node that policies denied.',
    happens:
      'in eBPF mode policies on host endpoints with interfaceName * no longer apply to traffic from a pod to its node: defaultEndpointToHostAction does',
    advice: 'Deny what pods must not reach by egress rules of the pods, or by a policy with preDNAT and applyOnForward.',
    sources: ['projectcalico/calico#8388', 'projectcalico/calico#8459'],
  },
  {
    id: 'ebpf-health-port',
    releases: { from: 'v3.30.4' },
    crossed: 'into',
    when: [
      ebpf,
      { type: 'daemonSet', namespace: 'kube-system', name: 'kube-proxy' },
      { type: 'setting', name: 'bpfKubeProxyHealthzPort', oneOf: ['10256'], absent: true },
    ],
    symptom: 'calico-node or kube-proxy logs that port 10256 is in use; load balancers see unhealthy nodes.',
    happens: 'in eBPF mode the agents answer health checks on port 10256 of each node, which kube-proxy uses and still runs',
    advice:
      'Stop kube-proxy as the eBPF documentation says. If it must run, set bpfKubeProxyHealthzPort of the default FelixConfiguration to another port, or from v3.32 on to 0.',
    sources: ['projectcalico/calico#11264', 'projectcalico/calico#11055', 'projectcalico/calico#12033'],
  },
  {
    id: 'ebpf-loose-rpf',
    releases: { from: 'v3.26.0' },
    crossed: 'into',
    when: [ebpf, unset('bpfEnforceRPF')],
    symptom: 'eBPF: packets with a forged source address are no longer dropped.',
    happens: 'bpfEnforceRPF is Loose by default, and was Strict: a source address with a route by any interface is accepted',
    advice:
      'If you rely on it, set bpfEnforceRPF of the default FelixConfiguration to Strict, with the interfaces that carry traffic in bpfDataIfacePattern.',
    sources: ['projectcalico/calico#7518'],
  },
  {
    id: 'vm-address-handles',
    releases: { from: 'v3.32.0' },
    crossed: 'into',
    when: [{ type: 'crd', name: 'virtualmachineinstances.kubevirt.io' }],
    symptom: 'A virtual machine from before the upgrade cannot migrate live: "migration target pod but no IP allocated to VM handle".',
    happens:
      'the new CNI plugin looks for addresses by virtual machine, and one that was started under an older release has none: it does not migrate live until it is restarted',
    advice: 'Restart virtual machines after the upgrade, and only then drain their nodes.',
    sources: ['projectcalico/calico#11865', 'projectcalico/calico#12038'],
  },
  {
    id: 'ebpf-connect-time-udp',
    releases: { from: 'v3.27.0' },
    crossed: 'into',
    when: [ebpf, unset('bpfConnectTimeLoadBalancing'), unset('bpfConnectTimeLoadBalancingEnabled')],
    symptom: 'eBPF: programs see other addresses of a service on UDP sockets.',
    happens:
      'the load balancer at connect time is for TCP alone by default: UDP packets to services are translated on the interfaces of the node',
    advice: 'If programs depend on it, set bpfConnectTimeLoadBalancing of the default FelixConfiguration to Enabled after the new CRDs.',
    sources: ['projectcalico/calico#8139'],
  },
  {
    id: 'ebpf-bonds',
    releases: { from: 'v3.29.0' },
    crossed: 'into',
    when: [ebpf, unset('bpfDataIfacePattern'), { type: 'resource', plurals: ['hostendpoints'], fields: ['interfaceName'], noneOf: ['*'] }],
    symptom: 'eBPF: policies of host endpoints begin or cease to work on nodes with a bond.',
    happens: 'the agents attach their programs to interfaces bond…, and no longer to the interfaces in such a bond',
    advice: 'On nodes with a bond, name the bond in interfaceName of their host endpoints, or set bpfDataIfacePattern.',
    sources: ['projectcalico/calico#8803'],
  },
  ...(
    [
      ['ebpf-linux-conntrack', overIpip],
      ['ebpf-linux-conntrack-kernel', { type: 'node', field: 'kernelVersion', before: '5.9' }],
    ] as const
  ).map(
    ([id, when]): Row => ({
      id,
      releases: { from: 'v3.30.0' },
      crossed: 'into',
      when: [ebpf, unset('bpfHostConntrackBypass'), when],
      symptom: 'eBPF: rules of other programs against state INVALID drop packets of pods.',
      happens:
        'bpfHostConntrackBypass is off by default: Linux tracks connections of pods too, and with IPIP or a kernel before 5.9 it sees only some of their packets',
      advice: 'If there are such rules, set bpfHostConntrackBypass of the default FelixConfiguration to true.',
      sources: ['projectcalico/calico#9159', 'projectcalico/calico#9157'],
    }),
  ),
  ...(
    [
      ['ebpf-peer-redirect', overIpip],
      ['ebpf-peer-redirect-wireguard', { type: 'setting', name: 'wireguardEnabled', oneOf: ['true'] }],
    ] as const
  ).map(
    ([id, when]): Row => ({
      id,
      releases: { from: 'v3.32.0' },
      crossed: 'into',
      when: [ebpf, { type: 'setting', name: 'bpfRedirectToPeer', oneOf: ['L2Only'], absent: true }, when],
      symptom: 'eBPF: tcpdump and tc programs of others no longer see packets to pods on cali….',
      happens: 'bpfRedirectToPeer is Enabled by default: packets from tunnels go past the interface cali… of a pod, as others do already',
      advice: 'If a tool needs these packets, set bpfRedirectToPeer of the default FelixConfiguration to Disabled.',
      sources: ['projectcalico/calico#11279'],
    }),
  ),
  {
    id: 'bird-templates',
    releases: { from: 'v3.32.0' },
    crossed: 'into',
    severity: 'error',
    // Of confd v3.31.7, and no longer of v3.32.1.
    when: [{ type: 'agentFile', below: '/etc/calico/confd/templates', matches: '\\b(?:getenv|hashToIPv4|bgpFilterFunctionName)\\b' }],
    symptom: 'calico-node stays unready: "unable to process template", "function "getenv" not defined".',
    happens:
      'your templates of BIRD use functions that confd no longer has: it writes no configuration, and the node loses its routes to other nodes',
    advice:
      'Rewrite them after those of the target (confd/etc/calico/confd/templates), and exchange them when the agents are upgraded; or remove them before the upgrade.',
    sources: ['projectcalico/calico#11850', 'projectcalico/calico#11151'],
  },
  {
    id: 'bgp-route-metric',
    releases: { from: 'v3.32.0' },
    crossed: 'into',
    when: [{ type: 'outerPeer' }],
    symptom: 'A node uses another route than the one that it learned by BGP.',
    happens:
      'the agents write routes from BGP into the kernel with a metric (2147483647 less LOCAL_PREF), and had none: other routes of the node to the same network win',
    advice: 'Look on the nodes for other routes to networks that these peers announce, such as a default route of DHCP: ip route show.',
    sources: ['projectcalico/calico#12089', 'projectcalico/calico#12209'],
  },
];

const rollouts: readonly Row[] = [
  {
    id: 'ebpf-vxlan-hop',
    releases: { from: 'v3.30.0', before: 'v3.30.7' },
    crossed: 'out of',
    when: [ebpf, overVxlan],
    symptom: 'Pods of the host network do not reach pods on nodes with the other release.',
    happens: 'traffic of host-networked pods through VXLAN is lost between old and new agents until the last node is upgraded',
    advice: 'Upgrade to v3.30.7 first; with an operator, by the instructions of that release.',
    sources: ['projectcalico/calico#11910', 'projectcalico/calico#12054'],
  },
  {
    id: 'ebpf-vxlan-vni',
    releases: { from: 'v3.31.0', before: 'v3.31.4' },
    crossed: 'either way',
    when: [ebpf, overVxlan],
    symptom: 'Pods do not reach pods on nodes with the other release.',
    happens:
      'v3.31.0 to v3.31.3 send VXLAN traffic with VNI 0 and other releases with the configured one, so old and new agents may drop what the other sends',
    advice: 'Choose a window for the whole rollout, and raise maxUnavailable of the agents so that it is short.',
    sources: ['projectcalico/calico#11689', 'projectcalico/calico#11692'],
  },
  {
    id: 'ipam-live-migration',
    releases: { from: 'v3.32.0' },
    crossed: 'into',
    when: [{ type: 'crd', name: 'virtualmachineinstances.kubevirt.io' }],
    symptom: 'A virtual machine that moved to another node loses its address.',
    happens:
      'new agents note in a block of addresses to which pod a virtual machine moves, and old agents drop that when they write the block',
    advice: 'Let no virtual machine migrate live until the last node is upgraded.',
    sources: ['projectcalico/calico#11894'],
  },
  {
    id: 'bgp-local-pref',
    releases: { from: 'v3.32.0' },
    crossed: 'into',
    when: [advertises, { type: 'outerPeer', sameAs: '64512' }],
    symptom: 'Traffic from outside to an advertised service address reaches upgraded nodes alone.',
    happens:
      'peers of the AS of the nodes get LOCAL_PREF 2147482623 from new agents and 100 from old ones: they use upgraded nodes alone, and later prefer these routes to all others',
    advice: 'Have these peers set LOCAL_PREF of routes from the nodes on import, or begin with nodes that can carry all of this traffic.',
    sources: ['projectcalico/calico#12089', 'projectcalico/calico#12584'],
  },
];

/** What releases of Calico understand differently, old × new: what settings and rules mean, and what agents say to each other. */
export const calicoChanges: readonly ReleaseChange[] = [
  ...meanings.map((row) => ({ severity: 'warning', ...row, effect: 'meaning' }) as const),
  ...rollouts.map((row) => ({ severity: 'warning', ...row, effect: 'rollout' }) as const),
];
