import assert from 'node:assert/strict';
import { K } from '../../src/kernel/kinds.ts';
import { definition } from '../support/incident-grounds.ts';
import { objectOf } from '../support/inventory.ts';
import { type IncidentWorld, on } from './incident.ts';
import { felix, installation, laidOver, NFTABLES, nodeInfo, replaced, stored, windowsNode } from './incident-worlds.ts';
import { incidents } from './incidents-table.ts';

export const of = (thread: string) => [incidents.find(({ threads }) => threads.includes(thread))?.row ?? assert.fail(thread)];
const EBPF = felix({ bpfEnabled: true });
const VXLAN = stored('IPPool', 'pods', { cidr: '10.244.0.0/16', vxlanMode: 'Always' });
const IPIP = stored('IPPool', 'pods', { cidr: '10.244.0.0/16', ipipMode: 'Always' });
const HTTP = stored('GlobalNetworkPolicy', 'http', { ingress: [{ action: 'Allow', http: { methods: ['GET'] } }] });
const ADVERTISED = stored('BGPConfiguration', 'default', { serviceExternalIPs: [{ cidr: '10.9.0.0/24' }] });
const TOR = stored('BGPPeer', 'tor', { peerIP: '192.0.2.1', asNumber: 64512 });
const HOST = stored('HostEndpoint', 'node-02', { node: 'node-02', interfaceName: '*' });
const endpoint = objectOf('v1', 'ConfigMap', 'kubernetes-services-endpoint', {
  metadata: { namespace: 'tigera-operator' },
  data: { KUBERNETES_SERVICE_HOST: 'api.internal.example' },
});
const kubeProxy = objectOf('apps/v1', 'DaemonSet', 'kube-proxy', {
  metadata: { namespace: 'kube-system' },
  spec: {
    selector: { matchLabels: { app: 'p' } },
    template: { metadata: { labels: { app: 'p' } }, spec: { containers: [{ name: 'p', image: 'p' }] } },
  },
  status: { desiredNumberScheduled: 3 },
});
const awsNode = { ...kubeProxy, metadata: { namespace: 'kube-system', name: 'aws-node' } };

/** What single releases do wrong, and what old and new ones understand differently. */
export const releaseWorlds: Readonly<Record<string, IncidentWorld>> = {
  'the kernel of a node may be without securityfs': on('calico', of('calico#13681'), { release: 'v3.32.2' })
    .after(nodeInfo({ kernelVersion: '5.10.160-vendor-rk3588' }))
    .warns('NS-609', /securityfs[\s\S]*Node\/node-02 5\.10\.160-vendor-rk3588[\s\S]*--release v3\.32\.1/),
  'settings of nftables have no effect under an operator either': on('operator', of('calico#13565'))
    .after(NFTABLES, installation({ linuxDataplane: 'Nftables' }), felix({ nftablesMarkMask: 65280, nftablesMode: 'Enabled' }))
    .warns('NS-609', /nft-settings-operator[\s\S]*FelixConfiguration\/default[\s\S]*iptables…/),
  'the kernel of minikube’s image may be without it': on('calico', of('minikube#23592'), { release: 'v3.32.2' })
    .after(nodeInfo({ osImage: 'Buildroot 2025.02' }))
    .warns('NS-609', /securityfs-minikube[\s\S]*Node\/node-02 Buildroot/),
  'the API server is reached by a name, and the new agents ask the DNS of the cluster': on('operator', of('operator#5246'))
    .after(endpoint)
    .stops('NS-609', /cluster-dns[\s\S]*api\.internal\.example[\s\S]*dnsPolicy/),
  'the init containers may not write to the node': on('calico', of('calico#13816'), { release: 'v3.33.0' }).stops(
    'NS-609',
    /init-user[\s\S]*v3\.33\.1[\s\S]*--release v3\.32\.1/,
  ),
  'releases send another VNI': on('calico v3.31.2', of('calico#11689'))
    .after(EBPF, VXLAN)
    .warns('NS-112', /ebpf-vxlan-vni[\s\S]*IPPool\/pods/),
  'a virtual machine moves in the middle of the rollout': on('calico', of('calico#11894'))
    .after(definition('kubevirt.io', 'VirtualMachineInstance', 'Namespaced'))
    .warns('NS-112', /ipam-live-migration/),
  'HTTP rules are not enforced': on('old', of('calico#11857'), { release: 'v3.30.4' })
    .after(HTTP)
    .stops('NS-609', /http-not-enforced[\s\S]*GlobalNetworkPolicy\/http/),
  'HTTP rules are enforced again': on('calico v3.30.3', of('calico#11857'))
    .after(HTTP)
    .warns('NS-508', /http-enforced-again[\s\S]*GlobalNetworkPolicy\/http/),
  'selectors of rules match more addresses of nodes': on('calico', of('calico#10672'))
    .after(
      stored('KubeControllersConfiguration', 'default', { controllers: { node: { hostEndpoint: { autoCreate: 'Enabled' } } } }),
      stored('GlobalNetworkPolicy', 'hosts', { ingress: [{ action: 'Allow', source: { selector: 'all()' } }] }),
    )
    .warns('NS-508', /automatic-endpoint-addresses[\s\S]*GlobalNetworkPolicy\/hosts/),
  'agents and kube-proxy want one port': on('calico', of('calico#11264'))
    .after(EBPF, kubeProxy)
    .warns('NS-508', /ebpf-health-port[\s\S]*DaemonSet\/kube-system\/kube-proxy/),
  'agents write what is left to others': on('calico', of('calico#12489'), { release: 'v3.32.0' })
    .after(felix({ routeSyncDisabled: true }))
    .warns('NS-609', /route-sync-disabled[\s\S]*--release v3\.32\.1/),
  'no new policy can be applied': on('operator', of('calico#12906'), { release: 'v3.32.0' }).warns(
    'NS-609',
    /new-policy-not-found[\s\S]*--release v3\.32\.1/,
  ),
  'nodes advertise services that are not ready': on('calico', of('calico#13246'))
    .after(ADVERTISED)
    .warns('NS-609', /advertised-not-ready[\s\S]*BGPConfiguration\/default/),
  'agents lose the API server after an outage': on('operator', of('calico#13060'))
    .after(installation({ linuxDataplane: 'BPF', bpfNetworkBootstrap: 'Enabled' }))
    .warns('NS-609', /ebpf-bootstrap-api/),
  'two services share one NAT id': on('operator', of('calico#13279'))
    .after(installation({ linuxDataplane: 'BPF', bpfNetworkBootstrap: 'Enabled' }))
    .warns('NS-609', /ebpf-shared-nat-id/),
  'eBPF programs wait for the address of the node': on('calico', of('calico#12642'), { release: 'v3.32.0' })
    .after(EBPF)
    .warns('NS-609', /ebpf-host-address/),
  'policies of administrators take effect': on('old', of('calico#9206'), { release: 'v3.30.4' })
    .after(
      definition('policy.networking.k8s.io', 'AdminNetworkPolicy'),
      objectOf('policy.networking.k8s.io/v1', 'AdminNetworkPolicy', 'strict', { spec: { subject: { namespaces: {} } } }),
    )
    .warns('NS-508', /admin-network-policies[\s\S]*AdminNetworkPolicy\/strict/),
  'excluded nodes advertise nothing': on('old', of('confd#420'))
    .after(
      ADVERTISED,
      laidOver(K.Node, 'node-02', { metadata: { labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': '' } } }),
    )
    .warns('NS-508', /excluded-nodes[\s\S]*Node\/node-02/),
  'a node may not have enough small blocks': on('old', of('libcalico-go#1368'))
    .after(stored('IPPool', 'pods', { cidr: '10.244.0.0/16', blockSize: 31 }))
    .warns('NS-508', /blocks-per-node[\s\S]*IPPool\/pods/),
  'floating addresses stop': on('old', of('calico#5865'))
    .after(
      replaced(
        K.ConfigMap,
        'calico-config',
        /\\"type\\": \\"calico\\",/g,
        String.raw`\"type\": \"calico\", \"feature_control\": {\"floating_ips\": true},`,
      ),
    )
    .warns('NS-508', /floating-ips[\s\S]*ConfigMap\/kube-system\/calico-config/),
  'eBPF begins to protect nodes': on('old', of('felix#2664'))
    .after(EBPF, HOST)
    .warns('NS-508', /ebpf-host-policies[\s\S]*HostEndpoint\/node-02/),
  'eBPF begins to enforce untracked policies': on('old', of('felix#2905'))
    .after(EBPF, stored('GlobalNetworkPolicy', 'raw', { doNotTrack: true }))
    .warns('NS-508', /ebpf-untracked-policies[\s\S]*GlobalNetworkPolicy\/raw/),
  'policies of nodes no longer apply to pods beside eBPF': on('old', of('calico#8388'))
    .after(EBPF, HOST)
    .warns('NS-508', /ebpf-endpoint-to-host[\s\S]*HostEndpoint\/node-02/),
  'templates of BIRD are of another confd': on('calico', of('calico#11850'))
    .after(
      objectOf('v1', 'ConfigMap', 'bird', {
        metadata: { namespace: 'kube-system' },
        data: { 'bird.cfg.template': '{{getenv "NODENAME"}}' },
      }),
      replaced(
        K.DaemonSet,
        'calico-node',
        /"volumeMounts":\[/g,
        '"volumeMounts":[{"name":"bird","mountPath":"/etc/calico/confd/templates"},',
      ),
      replaced(K.DaemonSet, 'calico-node', /"volumes":\[/g, '"volumes":[{"name":"bird","configMap":{"name":"bird"}},'),
    )
    .stops('NS-508', /bird-templates[\s\S]*ConfigMap\/kube-system\/bird/),
  'packets of pods leave by the wrong interface': on('calico', of('calico#13256'))
    .after(EBPF, awsNode, nodeInfo({ kernelVersion: '6.12.53-69.amzn2023' }))
    .stops('NS-609', /ebpf-vpc-cni-routes[\s\S]*DaemonSet\/kube-system\/aws-node[\s\S]*--release v3\.32\.2/),
  'an agent locks up at the end of a move': on('calico', of('calico#13152'))
    .after(definition('kubevirt.io', 'VirtualMachineInstance', 'Namespaced'))
    .warns('NS-609', /live-migration-lock[\s\S]*--release v3\.32\.2/),
  'nodes with Windows announce no routes': on('calico', of('calico#13140'))
    .after(({ store }) => store.insert(K.Node, windowsNode), IPIP)
    .warns('NS-609', /windows-bgp-template[\s\S]*Node\/win-01/),
  'routers of the same AS use upgraded nodes alone': on('calico', of('calico#12584'))
    .after(ADVERTISED, TOR)
    .warns('NS-112', /bgp-local-pref[\s\S]*BGPPeer\/tor/),
  'another route of a node wins over the one from BGP': on('calico', of('calico#12209'))
    .after(TOR)
    .warns('NS-508', /bgp-route-metric[\s\S]*BGPPeer\/tor/),
  'policies of equal order change places': on('calico', of('calico#11232'))
    .after(
      stored('GlobalNetworkPolicy', 'default.zone', { ingress: [{ action: 'Deny' }] }),
      stored('GlobalNetworkPolicy', 'default.zone-a', { ingress: [{ action: 'Allow' }] }),
    )
    .warns('NS-513', /GlobalNetworkPolicy\/default\.zone-a/),
  'the sources of packets are checked loosely': on('old', of('calico#7518'))
    .after(EBPF)
    .warns('NS-508', /ebpf-loose-rpf/),
  'a virtual machine from before the upgrade cannot migrate': on('calico', of('calico#11865'))
    .after(definition('kubevirt.io', 'VirtualMachineInstance', 'Namespaced'))
    .warns('NS-508', /vm-address-handles/),
  'UDP to services is no longer translated at connect time': on('old', of('calico#8139'))
    .after(EBPF)
    .warns('NS-508', /ebpf-connect-time-udp/),
  'eBPF programs move to the bond': on('calico', of('calico#8803'))
    .after(EBPF, stored('HostEndpoint', 'node-02', { node: 'node-02', interfaceName: 'eth0' }))
    .warns('NS-508', /ebpf-bonds[\s\S]*HostEndpoint\/node-02/),
  'Linux tracks connections beside eBPF': on('calico', of('calico#9159'))
    .after(EBPF, IPIP, nodeInfo({ kernelVersion: '5.4.0-216-generic' }))
    .warns('NS-508', /ebpf-linux-conntrack[\s\S]*IPPool\/pods[\s\S]*ebpf-linux-conntrack-kernel[\s\S]*Node\/node-02/),
  'packets go past the interfaces of pods': on('calico', of('calico#11279'))
    .after(felix({ bpfEnabled: true, wireguardEnabled: true }), IPIP)
    .warns('NS-508', /ebpf-peer-redirect[\s\S]*IPPool\/pods[\s\S]*ebpf-peer-redirect-wireguard/),
  'a packet that is sent again skips a policy': on('calico', of('calico#13356'))
    .after(EBPF)
    .warns('NS-609', /ebpf-retransmitted-syn[\s\S]*v3\.32\.2/),
  'virtual machines get nothing from pods of their node': on('calico', of('calico#13334'))
    .after(EBPF, definition('kubevirt.io', 'VirtualMachineInstance', 'Namespaced'))
    .warns('NS-609', /ebpf-virtual-machine/),
};
