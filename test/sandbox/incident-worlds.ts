import assert from 'node:assert/strict';
import { K } from '../../src/kernel/kinds.ts';
import type { Kind, KubeObject } from '../../src/kernel/object.ts';
import { ApiFailure } from '../../src/kernel/ports.ts';
import { podShape } from '../../src/kube/pod-facts.ts';
import type { SandboxCluster } from '../../src/sandbox/sandbox-cluster.ts';
import { createAuthority, type Subject } from '../control-plane/certificates.ts';
import { definition, kindIn, put } from '../support/incident-grounds.ts';
import { objectOf } from '../support/inventory.ts';
import { CALICO_TARGET, NETSVC_TARGET, pattern } from '../support/target.ts';
import { type IncidentWorld, on } from './incident.ts';

const FELIX = 'crd.projectcalico.org/v1';
const OPERATOR = 'operator.tigera.io/v1';
const AT = { namespace: 'kube-system' };
const configMap = (name: string, data: object) => objectOf('v1', 'ConfigMap', name, { metadata: AT, data });
export const NFTABLES = configMap('kube-proxy', { 'config.conf': 'mode: nftables\n' });
export const stored = (kind: string, name: string, spec: object, metadata: object = {}) => objectOf(FELIX, kind, name, { spec, metadata });
export const felix = (spec: object) => stored('FelixConfiguration', 'default', spec);
/** Behind the server's back, as controllers and kubelets write. */
export const laidOver =
  (kind: Kind, name: string, over: Readonly<Partial<Record<'metadata' | 'spec' | 'status' | 'data', object>>>) =>
  (cluster: SandboxCluster) => {
    const live = named(cluster, kind, name);
    const merged = Object.entries(over).map(([key, value]) => [key, Object.assign({}, Reflect.get(live, key), value)]);
    cluster.store.update(kind, { ...live, ...Object.fromEntries(merged) });
  };
export const replaced = (kind: Kind, name: string, what: RegExp, by: string) => (cluster: SandboxCluster) =>
  cluster.store.update(kind, JSON.parse(JSON.stringify(named(cluster, kind, name)).replaceAll(what, by)) as KubeObject);
const named = ({ store }: SandboxCluster, kind: Kind, name: string): KubeObject =>
  store.list(kind).find(({ metadata }) => metadata.name === name) ?? assert.fail(`the ground has no ${kind.kind} ${name}`);
export const nodeInfo = (info: Readonly<Record<string, string>>) => (cluster: SandboxCluster) => {
  const { nodeInfo: own } = named(cluster, K.Node, 'node-02').status as { readonly nodeInfo?: object };
  laidOver(K.Node, 'node-02', { status: { nodeInfo: { ...own, ...info } } })(cluster);
};
const address = (internal: string) => laidOver(K.Node, 'node-02', { status: { addresses: [{ type: 'InternalIP', address: internal }] } });
/** The server answers dry runs of pods with these words of its own. */
const refusesPods = (words: string) => (cluster: SandboxCluster) => {
  const { dryRunCreate } = cluster;
  Object.assign(cluster, {
    dryRunCreate: async (kind: Kind, object: KubeObject) => {
      if (kind.kind !== 'Pod') return dryRunCreate(kind, object);
      throw new ApiFailure(403, 'Forbidden', `pods "${object.metadata.name}" is forbidden: ${words}`);
    },
  });
};
export const installation = (calicoNetwork: object) => (cluster: SandboxCluster) => {
  const kind = kindIn(cluster, { apiVersion: OPERATOR, kind: 'Installation' });
  laidOver(kind, 'default', { spec: { calicoNetwork } })(cluster);
};
function certificate(secret: string, by: string, subject: Omit<Subject, 'commonName'> = {}): KubeObject {
  const { certificate: pem, key } = createAuthority(by).issue({ commonName: secret, ...subject });
  return objectOf('v1', 'Secret', secret, {
    metadata: { namespace: 'tigera-operator' },
    data: { 'tls.crt': btoa(pem), 'tls.key': btoa(key) },
  });
}
const hostProgram = (name: string, image: string) =>
  objectOf('apps/v1', 'DaemonSet', name, {
    metadata: AT,
    spec: {
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { hostNetwork: true, containers: [{ name, image }] } },
    },
  });

/** An admission webhook that must be asked about every new pod, and the Service before its own pods. */
function webhook(): readonly KubeObject[] {
  const service = { namespace: 'kyverno', name: 'kyverno-svc' };
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], scope: '*' }];
  const asked = { name: 'validate.kyverno.svc', failurePolicy: 'Fail', rules, clientConfig: { service }, sideEffects: 'None' };
  return [
    objectOf('v1', 'Namespace', 'kyverno'),
    objectOf('v1', 'Service', service.name, { metadata: service, spec: { selector: { app: 'kyverno' }, ports: [{ port: 443 }] } }),
    objectOf('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', 'kyverno', { webhooks: [asked] }),
  ];
}

const POLICY = { tier: 'default', selector: 'all()' };
const loadBalancers = stored('IPPool', 'lb', { cidr: '10.9.0.0/24', allowedUses: ['LoadBalancer'] });
/** A stored policy keeps the labels that it was given in an annotation. */
const ofArgo = { 'projectcalico.org/metadata': JSON.stringify({ labels: { 'argocd.argoproj.io/instance': 'shop' } }) };

export const windowsNode = objectOf('v1', 'Node', 'win-01', {
  metadata: { labels: { 'kubernetes.io/os': 'windows' } },
  status: {
    conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
    nodeInfo: { operatingSystem: 'windows', architecture: 'amd64', kubeletVersion: 'v1.36.1', kernelVersion: '10.0', osImage: 'Windows' },
  },
});

/** A gateway of the operator beside definitions of an older Gateway API. */
export const oldGateway = [
  definition('operator.tigera.io', 'GatewayAPI'),
  objectOf(OPERATOR, 'GatewayAPI', 'default', { spec: {} }),
  definition('gateway.networking.k8s.io', 'Gateway', 'Namespaced', {
    annotations: { 'gateway.networking.k8s.io/bundle-version': 'v1.2.1' },
  }),
];

/** By what goes wrong without the check. */
export const incidentWorlds: Readonly<Record<string, IncidentWorld>> = {
  'pod security admission refuses the new pods of the agents': on('own', [108])
    .after(laidOver(K.Namespace, 'kube-system', { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } }))
    .stops(
      'NS-610',
      /violates PodSecurity "restricted:latest"[\s\S]*kubectl label namespace kube-system pod-security\.kubernetes\.io\/enforce=privileged/,
    ),
  'a quota refuses the new pods of the agents': on('own', [108])
    .after(refusesPods('failed quota: tight: must specify limits.memory'))
    .stops('NS-610', /failed quota: tight[\s\S]*kubectl -n kube-system describe resourcequotas/),
  'a LimitRange refuses the new pods of the agents': on('own', [108])
    .after(refusesPods('minimum cpu usage per Container is 500m, but request is 250m'))
    .stops('NS-610', /minimum cpu usage per Container[\s\S]*kubectl -n kube-system describe limitranges/),
  'a webhook on the pod network must admit the pods of the agents': on('own', [107])
    .after(...webhook())
    .warns(
      'NS-611',
      /ValidatingWebhookConfiguration\/kyverno\/validate\.kyverno\.svc[\s\S]*values: \[kube-system\][\s\S]*Exempt the namespace at the webhook/,
    ),
  'a namespace cannot be deleted': on('own', [12])
    .after(({ store }) => {
      const metadata = { deletionTimestamp: '2026-11-20T02:00:00Z' };
      store.insert(K.Namespace, objectOf('v1', 'Namespace', 'old', { metadata, status: { phase: 'Terminating' } }));
    })
    .warns('NS-013', /Namespace\/old/),
  'agents and controllers run other releases': on('own', [3])
    .after(replaced(K.Deployment, 'netsvc-kube-controllers', /:v3\.26\.4/g, ':v3.25.0'))
    .stops('NS-107', /v3\.25\.0/),
  'nft of the agents crashes beside the nft of the host': on('calico', [43], { release: 'v3.32.0' })
    .after(NFTABLES, nodeInfo({ osImage: 'Debian GNU/Linux 13 (trixie)' }))
    .stops('NS-609', /nft-crash[\s\S]*Node\/node-02 Debian GNU\/Linux 13[\s\S]*--release v3\.32\.1/),
  'agents in nftables mode panic on overlapping addresses': on('calico', [90], { release: 'v3.32.0' })
    .after(NFTABLES)
    .stops('NS-609', /the agent panics in nftables mode where addresses of an IP set overlap[\s\S]*nft-overlap/),
  'agents in nftables mode panic on rules of another program': on('calico', [45])
    .after(NFTABLES, hostProgram('tailscale', 'ghcr.io/tailscale/tailscale:v1.90'))
    .warns('NS-609', /nft-foreign-rules[\s\S]*DaemonSet\/kube-system\/tailscale[\s\S]*--netfilter-mode=off/),
  'settings of nftables have no effect': on('calico', [46])
    .after(NFTABLES, felix({ nftablesMarkMask: 65280 }))
    .warns('NS-609', /nft-settings-auto[\s\S]*FelixConfiguration\/default[\s\S]*Set nftablesMode/),
  'addresses of a network set are denied': on('calico', [90])
    .after(NFTABLES, stored('GlobalNetworkSet', 'partners', { nets: ['10.0.0.0/8', '10.1.0.0/16'] }))
    .warns('NS-609', /nft-overlap-members[\s\S]*GlobalNetworkSet\/partners/),
  'services do not work for new pods beside a kube-proxy that uses nftables': on('calico', [47])
    .after(NFTABLES)
    .warns('NS-506', /kube-proxy uses nftables and nftablesMode is not set/),
  'maps of eBPF programs change': on('calico', [50, 52])
    .after(felix({ bpfEnabled: true }))
    .warns('NS-507', /eBPF/),
  'host-networked traffic through VXLAN is lost between old and new agents': on('calico v3.30.3', [51])
    .after(felix({ bpfEnabled: true }), stored('IPPool', 'pods', { cidr: '10.244.0.0/16', vxlanMode: 'Always' }))
    .warns('NS-112', /ebpf-vxlan-hop[\s\S]*IPPool\/pods[\s\S]*Upgrade to v3\.30\.7 first/),
  'the kernel refuses eBPF programs with debug logs': on('calico', [53])
    .after(felix({ bpfEnabled: true, bpfLogLevel: 'Debug' }), nodeInfo({ kernelVersion: '5.15.0-91-generic' }))
    .warns('NS-609', /ebpf-debug-verifier[\s\S]*5\.15\.0-91-generic/),
  'a WireGuard network of one’s own stops': on('calico', [54])
    .after(felix({ bpfEnabled: true }), hostProgram('mesh', 'example.net/wireguard-mesh:1.4'))
    .warns('NS-609', /ebpf-own-wireguard[\s\S]*DaemonSet\/kube-system\/mesh/),
  'the image of the agents lacks a library': on('old', [26], { release: 'v3.27.2' })
    .after(nodeInfo({ architecture: 'arm64' }))
    .stops('NS-609', /libpcap-arm64[\s\S]*Node\/node-02 arm64[\s\S]*--release v3\.27\.3/),
  'ipset of the agents is older than the kernel': on('old', [27], { release: 'v3.30.4' })
    .after(nodeInfo({ osImage: 'Debian GNU/Linux 13 (trixie)' }))
    .warns('NS-609', /ipset-kernel[\s\S]*Node\/node-02 Debian GNU\/Linux 13/),
  'the kernel refuses eBPF programs of the load balancer': on('old', [55], { release: 'v3.30.4' })
    .after(felix({ bpfEnabled: true }), nodeInfo({ kernelVersion: '6.12.53-69.119.amzn2023.x86_64' }))
    .warns('NS-609', /ebpf-balancer[\s\S]*Node\/node-02 6\.12\.53/),
  'the controllers crash in a key-value installation': on('kvstore', [109], { release: 'v3.30.4' }).warns(
    'NS-609',
    /lb-crash-kvstore[\s\S]*--release v3\.30\.7/,
  ),
  'the controllers crash where a pool is for load balancers': on('old', [109], { release: 'v3.30.4' })
    .after(loadBalancers)
    .warns('NS-609', /lb-crash[\s\S]*IPPool\/lb/),
  'services get a second address': on('old', [109], { release: 'v3.30.4' })
    .after(loadBalancers)
    .warns('NS-609', /lb-duplicates[\s\S]*IPPool\/lb/),
  'a kernel is too old for the agents': on('calico', [21])
    .after(nodeInfo({ kernelVersion: '3.10.0-1160.el7.x86_64' }))
    .warns('NS-424', /node-02/),
  'a Windows node is not upgraded by this procedure': on('calico', [32])
    .after(({ store }) => store.insert(K.Node, windowsNode))
    .warns('NS-426', /win-01/),
  'the address of a node is routed through the tunnel': on('calico', [57])
    .after(address('10.244.1.7'), stored('IPPool', 'pods', { cidr: '10.244.0.0/16' }))
    .warns('NS-609', /node-in-pool[\s\S]*Node\/node-02 10\.244\.1\.7 in IPPool\/pods/),
  'a new agent finds another address of its node': on('calico', [59])
    .after(
      address('10.0.0.2'),
      laidOver(K.Node, 'node-02', { metadata: { annotations: { 'projectcalico.org/IPv4Address': '169.254.25.10/32' } } }),
    )
    .warns('NS-428', /its agent uses 169\.254\.25\.10, Kubernetes has 10\.0\.0\.2/),
  'pods reach addresses of load balancers with their own address': on('calico', [58], { release: 'v3.32.0' })
    .after(loadBalancers)
    .warns('NS-609', /lb-pool-snat[\s\S]*IPPool\/lb/),
  'services without an address are given one': on('calico', [100])
    .after(loadBalancers)
    .warns('NS-505', /IPPool\/lb/),
  'the container runtime does not know the CNI configuration': on('calico', [65], { release: NETSVC_TARGET })
    .after(nodeInfo({ containerRuntimeVersion: 'containerd://1.5.9' }))
    .stops('NS-609', /cni-1\.0-containerd[\s\S]*Node\/node-02 containerd:\/\/1\.5\.9/),
  'CRI-O does not know the CNI configuration': on('calico', [65], { release: NETSVC_TARGET })
    .after(nodeInfo({ containerRuntimeVersion: 'cri-o://1.23.5' }))
    .stops('NS-609', /cni-1\.0-crio[\s\S]*Node\/node-02 cri-o:\/\/1\.23\.5/),
  'dockershim does not know the CNI configuration': on('calico', [65], { release: NETSVC_TARGET })
    .after(nodeInfo({ containerRuntimeVersion: 'docker://20.10.24' }))
    .stops('NS-609', /cni-1\.0-docker[\s\S]*Node\/node-02 docker:\/\/20\.10\.24/),
  'an old containerd beside a configuration that an operator writes': on('operator', [65], { release: NETSVC_TARGET })
    .after(nodeInfo({ containerRuntimeVersion: 'containerd://1.5.9' }))
    .stops('NS-609', /cni-1\.0-containerd-operator[\s\S]*Node\/node-02[\s\S]*specVersion of the Installation/),
  'an old CRI-O beside a configuration that an operator writes': on('operator', [65], { release: NETSVC_TARGET })
    .after(nodeInfo({ containerRuntimeVersion: 'cri-o://1.23.5' }))
    .stops('NS-609', /cni-1\.0-crio-operator[\s\S]*Node\/node-02[\s\S]*specVersion of the Installation/),
  'dockershim beside a configuration that an operator writes': on('operator', [65], { release: NETSVC_TARGET })
    .after(nodeInfo({ containerRuntimeVersion: 'docker://20.10.24' }))
    .stops('NS-609', /cni-1\.0-docker-operator[\s\S]*Node\/node-02[\s\S]*specVersion of the Installation/),
  'a platform upgrades the service by itself': on('calico', [14, 29])
    .after(laidOver(K.ConfigMap, 'calico-config', { data: { cluster_type: 'kubespray,bgp' } }))
    .stops('NS-109', /kubespray[\s\S]*playbook/),
  'RKE upgrades the service by itself': on('calico', [31])
    .after(configMap('rke-network-plugin', {}))
    .stops('NS-109', /RKE1[\s\S]*rke up/),
  'RKE2 upgrades its own chart': on('calico', [28])
    .after(laidOver(K.DaemonSet, 'calico-node', { metadata: { annotations: { 'meta.helm.sh/release-name': 'rke2-calico' } } }))
    .stops('NS-109', /RKE2[\s\S]*HelmChartConfig/),
  'RKE2 builds images of its own': on('calico', [44])
    .after(replaced(K.DaemonSet, 'calico-node', /docker.io\/calico\/node/g, 'docker.io/rancher/hardened-calico'))
    .stops('NS-109', /RKE2[\s\S]*HelmChartConfig/),
  'MicroK8s applies its own manifest again': on('calico', [29])
    .after(replaced(K.DaemonSet, 'calico-node', /\/opt\/cni\/bin/g, '/var/snap/microk8s/current/opt/cni/bin'))
    .stops('NS-109', /MicroK8s[\s\S]*snap/),
  'Kubernetes is too old for the release': on('calico', [20, 110])
    .after((cluster) => Object.assign(cluster, { version: async () => ({ gitVersion: 'v1.22.17', major: '1', minor: '22' }) }))
    .stops('NS-002', /v1\.22\.17/),
  'interfaces of new pods keep the MTU that was set': on('calico', [60])
    .after(laidOver(K.ConfigMap, 'calico-config', { data: { veth_mtu: '1440' } }))
    .notes('NS-607', /veth_mtu stays 1440/),
  'a mirror does not have the images of the release': on('calico', [105])
    .after(
      replaced(K.DaemonSet, 'calico-node', /docker.io\/calico/g, 'mirror.example.org/calico'),
      replaced(K.Deployment, 'calico-kube-controllers', /docker.io\/calico/g, 'mirror.example.org/calico'),
      (_, { clock }) => clock.sleep(60_000),
    )
    .warns('NS-606', pattern`mirror\.example\.org/calico/node:${CALICO_TARGET}[\s\S]*--probe-nodes all`),
  'a setting does not pass the stricter definition of the target': on('calico', [101])
    .after(felix({ logPrefix: 'calico drop: "' }))
    .stops('NS-501', /FelixConfiguration\/default[\s\S]*logPrefix/),
  'a pod with an older CLI stays': on('calico', [104])
    .after(
      objectOf('v1', 'Pod', 'ctl', { metadata: AT, spec: { containers: [{ name: 'calicoctl', image: 'docker.io/calico/ctl:v3.20.6' }] } }),
    )
    .warns('NS-803', /calicoctl/),
  'server-side apply of a BGPConfiguration is refused': on('calico', [89], { release: 'v3.32.0' })
    .after(stored('BGPConfiguration', 'default', { communities: [{ name: 'a', value: '64512:1' }] }))
    .warns('NS-609', /server-side apply of a BGPConfiguration[\s\S]*bgp-lists/),
  'the CNI plugin may not read virtual machines': on('calico', [92], { release: 'v3.32.0' })
    .after(definition('kubevirt.io', 'VirtualMachineInstance', 'Namespaced'))
    .warns('NS-609', /kubevirt-rights/),
  'policies that nobody enforced take effect': on('calico', [93])
    .after(definition('policy.networking.k8s.io', 'ClusterNetworkPolicy'))
    .warns('NS-508', /cluster-network-policies/),
  'policies of a removed kind are no longer enforced': on('calico', [93])
    .after(
      definition('policy.networking.k8s.io', 'AdminNetworkPolicy'),
      objectOf('policy.networking.k8s.io/v1', 'AdminNetworkPolicy', 'strict', { spec: {} }),
    )
    .stops('NS-502', /AdminNetworkPolicy\/strict/),
  'HTTP rules match other paths': on('calico', [102])
    .after(stored('GlobalNetworkPolicy', 'http', { ingress: [{ action: 'Allow', http: { paths: [{ exact: '/a' }] } }] }))
    .warns('NS-508', /http-paths[\s\S]*GlobalNetworkPolicy\/http/),
  'a GitOps tool deletes CRDs and all that is stored in them': on('calico', [88])
    .after(definition('policy.networking.k8s.io', 'AdminNetworkPolicy', 'Cluster', { labels: { 'argocd.argoproj.io/instance': 'calico' } }))
    .stops('NS-111', /adminnetworkpolicies\.policy\.networking\.k8s\.io[\s\S]*Prune=false/),
  'a GitOps tool creates renamed policies a second time': on('calico', [99])
    .after(stored('GlobalNetworkPolicy', 'default.allow', POLICY, { annotations: ofArgo }))
    .stops('NS-710', /GlobalNetworkPolicy\/default\.allow[\s\S]*Argo CD: name it allow in Git[\s\S]*argocd app set shop/),
  'a new agent runs out of memory again': on('calico', [41])
    .after((cluster) => {
      const agent = cluster.store.list(K.Pod).find(({ metadata }) => metadata.name.startsWith('calico-node')) ?? assert.fail();
      const [status, ...others] = podShape(agent).status?.containerStatuses ?? [];
      const containerStatuses = [{ ...status, lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } } }, ...others];
      laidOver(K.Pod, agent.metadata.name, { status: { containerStatuses } })(cluster);
    })
    .warns('NS-410', /Pod\/kube-system\/calico-node-\S+[\s\S]*was OOMKilled/),
  'the controllers are not there to be upgraded': on('calico', [81])
    .after(laidOver(K.Deployment, 'calico-kube-controllers', { spec: { replicas: 0 } }))
    .stops('NS-402', /calico-kube-controllers/),
  'Typha cannot be replaced on so few nodes': on('typha', [35, 36])
    .after(
      laidOver(K.Deployment, 'calico-typha', {
        spec: { replicas: 3, strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0 } } },
      }),
    )
    .stops('NS-406', /3 replicas on 2 open nodes[\s\S]*kubectl scale deployment calico-typha/),
  'policies in a key-value store get names that old clients do not find': on('kvstore', [98]).notes(
    'NS-707',
    /policies in the key-value store will be renamed/,
  ),
  'the renaming of policies waits for agents of another name for ever': on('canal', [97])
    .after(stored('GlobalNetworkPolicy', 'default.allow', POLICY))
    .notes('NS-707', /the controllers wait for a DaemonSet calico-node before they rename, and the agents here are called canal/),
  'two installations run beside each other': on('operator', [15, 82], { command: 'preflight' })
    .after((cluster) => put(cluster, { ...named(cluster, K.DaemonSet, 'calico-node'), metadata: { name: 'calico-node', ...AT } }))
    .stops('NS-103', /kube-system/),
  'AKS upgrades the operator by itself': on('operator', [30])
    .after(laidOver(K.Deployment, 'tigera-operator', { metadata: { labels: { 'kubernetes.azure.com/managedby': 'aks' } } }))
    .stops('NS-109', /AKS[\s\S]*Azure/),
  'the operator and a GitOps tool overwrite each other': on('operator', [49])
    .after((cluster) => {
      const kind = kindIn(cluster, { apiVersion: FELIX, kind: 'FelixConfiguration' });
      cluster.registry.create(kind, felix({ nftablesMode: 'Disabled' }), { manager: 'argocd-controller' });
    })
    .warns('NS-113', /argocd-controller writes nftablesMode/),
  'the operator keeps the agents at iptables beside nftables': on('operator', [47])
    .after(NFTABLES, installation({ linuxDataplane: 'Iptables' }))
    .warns('NS-506', /Installation\/default[\s\S]*linuxDataplane":"Nftables/),
  'the operator changes pools that were made by hand': on('operator', [67])
    .after(
      installation({ ipPools: [{ name: 'pods', cidr: '10.244.0.0/16', blockSize: 26 }] }),
      stored('IPPool', 'pods', { cidr: '10.244.0.0/16', blockSize: 26, disabled: true }),
    )
    .stops('NS-624', /disableNewAllocations is true, and false in the Installation/),
  'the operator deletes a pool that is only spelled otherwise': on('operator', [68])
    .after(
      installation({ ipPools: [{ name: 'pods', cidr: 'fd00:10:0::/56', blockSize: 122 }] }),
      stored('IPPool', 'pods', { cidr: 'fd00:10::/56', blockSize: 122 }),
    )
    .stops('NS-624', /one network written in two ways/),
  'the operator refuses a pool outside the pod network': on('operator', [69])
    .after(
      (cluster) => {
        const pools = kindIn(cluster, { apiVersion: FELIX, kind: 'IPPool' });
        for (const { metadata } of cluster.store.list(pools)) cluster.store.delete(pools, metadata.name);
      },
      installation({ ipPools: [{ cidr: '192.168.0.0/16' }] }),
      configMap('kubeadm-config', { ClusterConfiguration: 'networking:\n  podSubnet: 10.244.0.0/16\n' }),
    )
    .stops('NS-628', /10\.244\.0\.0\/16\): 192\.168\.0\.0\/16/),
  'a certificate of the API server names the old namespace': on('operator', [72])
    .after(certificate('calico-apiserver-certs', 'Example CA', { hosts: ['calico-api.calico-apiserver.svc'] }))
    .stops('NS-630', /signed by Example CA[\s\S]*kubectl -n tigera-operator describe secret calico-apiserver-certs/),
  'agents that restart are refused: a certificate of Typha is over': on('operator', [74])
    .after(certificate('typha-certs', 'Example CA', { isExpired: true }))
    .stops('NS-631', /Secret\/tigera-operator\/typha-certs: ended/),
  'the flow logs do not trust a certificate of an earlier operator': on('operator', [73], { flags: '--enable-flow-logs' })
    .after(certificate('node-certs', 'tigera-operator-signer@1611111111'))
    .warns('NS-631', /Secret\/tigera-operator\/node-certs: signed by tigera-operator-signer@1611111111/),
  'others no longer reach pods in the namespace of the operator': on('operator', [77])
    .after(
      definition('monitoring.coreos.com', 'ServiceMonitor', 'Namespaced'),
      objectOf('monitoring.coreos.com/v1', 'ServiceMonitor', 'controllers', { metadata: { namespace: 'calico-system' }, spec: {} }),
    )
    .warns('NS-632', /ServiceMonitor\/calico-system\/controllers/),
  'a policy of one’s own keeps the moved API server away for good': on('operator', [78])
    .after(stored('GlobalNetworkPolicy', 'default.deny', { ...POLICY, types: ['Ingress', 'Egress'] }))
    .warns(
      'NS-633',
      /GlobalNetworkPolicy\/default\.deny[\s\S]*all ingress and egress of pods of the API server in calico-system is dropped/,
    ),
  'the aggregated API does not answer': on('operator', [84])
    .after(
      laidOver(K.APIService, 'v3.projectcalico.org', { status: { conditions: [{ type: 'Available', status: 'False', message: 'none' }] } }),
    )
    .stops('NS-008', /v3\.projectcalico\.org/),
  'the controllers may not read what addresses of load balancers need': on('operator', [91], { release: 'v3.32.0' })
    .after(loadBalancers)
    .warns('NS-609', /lb-rights[\s\S]*IPPool\/lb/),
  'a tier is renamed, and policies around it are not': on('operator', [94])
    .after(
      stored('Tier', 'allow-tigera', { order: 100 }),
      stored('NetworkPolicy', 'allow-tigera.mine', { tier: 'allow-tigera' }, { namespace: 'default' }),
    )
    .warns('NS-625', /allow-tigera/),
  'a status stays degraded without an API server': on('operator', [71])
    .after((cluster) => cluster.store.delete(kindIn(cluster, { apiVersion: OPERATOR, kind: 'APIServer' }), 'default'))
    .warns('NS-627', /APIServer\/default/),
  'definitions of the Gateway API stay old': on('operator', [85])
    .after(...oldGateway)
    .warns('NS-626', /gateways\.gateway\.networking\.k8s\.io/),
};
