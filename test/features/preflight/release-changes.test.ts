import { netsvc } from '../../../src/profiles/netsvc.ts';
import { contextOf, daemonSet, found, node, object, resource, resources } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';
import { CALICO_TARGET, pattern } from '../../support/target.ts';

const from = (release: string) => ({ detection: found({ release }) });
const to = (release: string) => contextOf({ release });
const plainEbpf = resource('FelixConfiguration/default', { bpfEnabled: true });
/** Nothing is left to defaults that move. */
const eBpf = resource('FelixConfiguration/default', {
  ...{ bpfEnabled: true, bpfConnectTimeLoadBalancing: 'TCP', bpfDataIfacePattern: '^eth0$' },
  ...{ bpfHostConntrackBypass: true, bpfRedirectToPeer: 'Enabled' },
});
const ipip = resource('IPPool/pods', { ipipMode: 'Always' });
const tor = (spec: object = {}) => resource('BGPPeer/tor', { peerIP: '192.0.2.1', asNumber: 64512, ...spec });
const overVxlan = { resources: resources(eBpf, resource('IPPool/pods', { vxlanMode: 'Always' })) };
const http = (rule: object) => ({
  resources: resources(resource('NetworkPolicy/a/http', { ingress: [{ action: 'Allow' }, { http: rule }] })),
});
const automatic = resource('KubeControllersConfiguration/default', { controllers: { node: { hostEndpoint: { autoCreate: 'Enabled' } } } });
const selecting = resource('GlobalNetworkPolicy/hosts', { ingress: [{ action: 'Allow', source: { selector: 'all()' } }] });
const advertising = resource('BGPConfiguration/default', { serviceExternalIPs: [{ cidr: '10.9.0.0/24' }] });
const excluded = node('n1', { labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': '' } });
const proxy = (desiredNumberScheduled: number) =>
  object('apps/v1', 'DaemonSet/kube-system/kube-proxy', { spec: {}, status: { desiredNumberScheduled } });

checkCases('NS-112', {
  'passes from a release without one': { is: 'ok' },
  'does not apply to a profile without a table': { context: contextOf({}, netsvc), is: 'not-applicable' },
  'does not apply where the installed release is not known': {
    facts: { detection: found({ release: undefined, components: [] }) },
    is: 'not-applicable',
  },
  'names the patch to step by': {
    facts: { ...from('v3.30.2'), ...overVxlan },
    is: 'warning',
    says: pattern`^from v3\.30\.2 to ${CALICO_TARGET}: traffic of host-networked pods`,
    hint: /^Upgrade to v3\.30\.7 first; with an operator, by the instructions of that release\.$/,
    about: ['ebpf-vxlan-hop'],
    details: [/Seen on: IPPool\/pods\. See projectcalico\/calico#11910/],
  },
  'passes from that patch': { facts: { ...from('v3.30.7'), ...overVxlan }, is: 'ok' },
  'passes where both releases are so': { context: to('v3.30.6'), facts: { ...from('v3.30.2'), ...overVxlan }, is: 'ok' },
  'warns of releases that send another VNI': { facts: { ...from('v3.31.2'), ...overVxlan }, is: 'warning', about: ['ebpf-vxlan-vni'] },
  'warns on the way to them too': {
    context: to('v3.31.1'),
    facts: { ...from('v3.29.1'), ...overVxlan },
    is: 'warning',
    about: ['ebpf-vxlan-vni'],
  },
  'passes from the release that sends the right one': { facts: { ...from('v3.31.4'), ...overVxlan }, is: 'ok' },
  'warns where some nodes alone have eBPF, and names them': {
    facts: {
      ...from('v3.31.2'),
      resources: resources(resource('FelixConfiguration/node.n2', { bpfEnabled: true }), resource('IPPool/pods', { vxlanMode: 'Always' })),
    },
    is: 'warning',
    about: ['ebpf-vxlan-vni'],
    details: [/Seen on: Node\/n2, IPPool\/pods/],
  },
  'passes without eBPF': {
    facts: { ...from('v3.31.2'), resources: resources(resource('IPPool/pods', { vxlanMode: 'Always' })) },
    is: 'ok',
  },
  'warns of virtual machines that move during the rollout': {
    facts: { crds: { value: [{ name: 'virtualmachineinstances.kubevirt.io', group: 'kubevirt.io' }] } },
    is: 'warning',
    about: ['ipam-live-migration'],
  },
  'warns of routers of the same AS that get service addresses': {
    facts: { resources: resources(advertising, tor()) },
    is: 'warning',
    about: ['bgp-local-pref'],
    details: [/Seen on: BGPConfiguration\/default, BGPPeer\/tor\. See/],
  },
  'warns where the AS of one node is that of the router': {
    facts: {
      resources: resources(advertising, tor({ asNumber: 65001 })),
      nodes: { value: [{ ...node('n1'), metadata: { name: 'n1', annotations: { 'projectcalico.org/ASNumber': '65001' } } }] },
    },
    is: 'warning',
    about: ['bgp-local-pref'],
  },
  'passes with routers of another AS, which get no LOCAL_PREF': {
    facts: { resources: resources(advertising, tor({ asNumber: 65001 })) },
    is: 'ok',
  },
  'passes where the cluster has another AS': {
    facts: {
      resources: resources(resource('BGPConfiguration/default', { asNumber: 65000, serviceExternalIPs: [{ cidr: '10.9.0.0/24' }] }), tor()),
    },
    is: 'ok',
  },
  'passes where no service address is announced': { facts: { resources: resources(tor()) }, is: 'ok' },
  'cannot tell it where resources could not be read': {
    facts: { ...from('v3.31.2'), resources: { unread: 'forbidden' } },
    is: 'warning',
    says: /forbidden/,
  },
});

const withTemplates = (text: string) => {
  const mount = { name: 'templates', mountPath: '/etc/calico/confd/templates/bird.cfg.template', subPath: 'bird.cfg.template' };
  const containers = [{ name: 'calico-node', volumeMounts: [mount, { name: 'modules', mountPath: '/lib/modules' }] }];
  const volumes = [
    { name: 'templates', configMap: { name: 'bird-templates' } },
    { name: 'modules', hostPath: { path: '/lib/modules' } },
  ];
  return {
    daemonSets: { value: [daemonSet({ template: { spec: { containers, volumes } } })] },
    configMaps: { value: [object('v1', 'ConfigMap/kube-system/bird-templates', { data: { 'bird.cfg.template': text } })] },
  };
};

checkCases('NS-508', {
  'passes where nothing is in use that changes': { is: 'ok' },
  'warns of HTTP rules with paths': { facts: http({ paths: [{ exact: '/a' }] }), is: 'warning', about: ['http-paths'] },
  'passes with them from a patch that has the change': {
    facts: { ...from('v3.31.6'), ...http({ paths: [{ exact: '/a' }] }) },
    is: 'warning',
    about: ['http-enforced-again'],
  },
  'warns of HTTP rules that had no effect': {
    facts: { ...from('v3.30.4'), ...http({ methods: ['GET'] }) },
    is: 'warning',
    says: /enforces them again$/,
    about: ['http-enforced-again'],
  },
  'passes with HTTP rules that always had effect': { facts: { ...from('v3.29.4'), ...http({ methods: ['GET'] }) }, is: 'ok' },
  'warns of rules beside automatic host endpoints': {
    facts: { resources: resources(automatic, selecting) },
    is: 'warning',
    about: ['automatic-endpoint-addresses'],
    details: [/KubeControllersConfiguration\/default, GlobalNetworkPolicy\/hosts/],
  },
  'passes where they have these addresses already': { facts: { ...from('v3.31.0'), resources: resources(automatic, selecting) }, is: 'ok' },
  'passes without rules that select': { facts: { resources: resources(automatic) }, is: 'ok' },
  'warns of a kube-proxy that runs beside eBPF': {
    facts: { daemonSets: { value: [daemonSet(), proxy(2)] }, resources: resources(eBpf) },
    is: 'warning',
    about: ['ebpf-health-port'],
    details: [/DaemonSet\/kube-system\/kube-proxy/],
  },
  'passes where kube-proxy has no pods': {
    facts: { daemonSets: { value: [daemonSet(), proxy(0)] }, resources: resources(eBpf) },
    is: 'ok',
  },
  'warns of looser checks of sources': {
    facts: { ...from('v3.25.2'), resources: resources(eBpf) },
    is: 'warning',
    about: ['ebpf-loose-rpf'],
  },
  'passes where they are set, strict or not': {
    facts: { ...from('v3.25.2'), resources: resources({ ...eBpf, spec: { ...(eBpf.spec as object), bpfEnforceRPF: 'Strict' } }) },
    is: 'ok',
  },
  'warns of virtual machines from before': {
    facts: { crds: { value: [{ name: 'virtualmachineinstances.kubevirt.io', group: 'kubevirt.io' }] } },
    is: 'warning',
    about: ['vm-address-handles'],
  },
  'warns of settings of eBPF that are left to defaults': {
    facts: {
      ...from('v3.26.1'),
      resources: resources(plainEbpf, ipip, resource('HostEndpoint/n1', { node: 'n1', interfaceName: 'eth0' })),
    },
    is: 'warning',
    about: ['ebpf-connect-time-udp', 'ebpf-bonds', 'ebpf-linux-conntrack', 'ebpf-peer-redirect'],
  },
  'warns of them on old kernels and beside WireGuard': {
    facts: {
      nodes: { value: [node('n1', { info: { kernelVersion: '5.4.0-216-generic' } })] },
      resources: resources(resource('FelixConfiguration/default', { bpfEnabled: true, wireguardEnabled: true })),
    },
    is: 'warning',
    about: ['ebpf-linux-conntrack-kernel', 'ebpf-peer-redirect-wireguard'],
  },
  'passes without both': { facts: { resources: resources(plainEbpf) }, is: 'ok' },
  'passes where they are set': {
    facts: { ...from('v3.27.3'), resources: resources(eBpf, ipip, resource('HostEndpoint/n1', { node: 'n1', interfaceName: 'eth0' })) },
    is: 'ok',
  },
  'passes where the installed release has these defaults': {
    facts: { ...from('v3.32.0'), resources: resources(plainEbpf, ipip) },
    is: 'ok',
  },
  'stops before templates of BIRD that the new confd cannot read': {
    facts: withTemplates('{{getenv "NODENAME"}}'),
    is: 'error',
    about: ['bird-templates'],
    details: [/Seen on: ConfigMap\/kube-system\/bird-templates/],
  },
  'stops before templates that are not known': { facts: { ...withTemplates(''), configMaps: { value: [] } }, is: 'error' },
  'passes with templates that it can read': { facts: withTemplates('{{getv "/bgp/v1/global/as_num"}}'), is: 'ok' },
  'passes with them from v3.32 on': { facts: { ...from('v3.32.0'), ...withTemplates('{{getenv "NODENAME"}}') }, is: 'ok' },
  'warns of routes from routers, which get a metric': {
    facts: { resources: resources(tor({ asNumber: 65001 })) },
    is: 'warning',
    about: ['bgp-route-metric'],
    details: [/Seen on: BGPPeer\/tor/],
  },
  'passes with peers that are nodes or pods': {
    facts: {
      nodes: { value: [{ ...node('n1'), status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] } }] },
      resources: resources(tor({ peerIP: '10.0.0.1' }), resource('BGPPeer/pods', { localWorkloadSelector: 'all()' })),
    },
    is: 'ok',
  },
  'warns of nodes that are excluded from load balancers': {
    facts: { ...from('v3.17.4'), nodes: { value: [excluded] }, resources: resources(advertising) },
    is: 'warning',
    about: ['excluded-nodes'],
  },
  'passes where they have been excluded before': {
    facts: { ...from('v3.18.0'), nodes: { value: [excluded] }, resources: resources(advertising) },
    is: 'ok',
  },
  'warns of small blocks': {
    facts: { ...from('v3.18.1'), resources: resources(resource('IPPool/pods', { blockSize: 31 })) },
    is: 'warning',
    about: ['blocks-per-node'],
  },
  'warns of floating addresses': {
    facts: {
      ...from('v3.21.1'),
      configMaps: {
        value: [
          object('v1', 'ConfigMap/kube-system/calico-config', {
            data: { cni_network_config: '{"feature_control": {"floating_ips": true}}' },
          }),
        ],
      },
    },
    is: 'warning',
    about: ['floating-ips'],
  },
  'warns of policies that eBPF begins to enforce': {
    facts: {
      ...from('v3.17.4'),
      resources: resources(eBpf, resource('HostEndpoint/n1', { node: 'n1' }), resource('GlobalNetworkPolicy/raw', { doNotTrack: true })),
    },
    is: 'warning',
    says: pattern`^from v3\.17\.4 to ${CALICO_TARGET}: ebpf-host-policies, ebpf-untracked-policies, ebpf-loose-rpf$`,
    about: ['ebpf-host-policies', 'ebpf-untracked-policies', 'ebpf-loose-rpf'],
  },
  'warns of a policy kind that takes effect': {
    facts: { crds: { value: [{ name: 'clusternetworkpolicies.policy.networking.k8s.io', group: 'policy.networking.k8s.io' }] } },
    is: 'warning',
    about: ['cluster-network-policies'],
  },
});
