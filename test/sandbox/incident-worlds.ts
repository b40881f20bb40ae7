import { K } from '../../src/kernel/kinds.ts';
import type { Kind, KubeObject } from '../../src/kernel/object.ts';
import { ApiFailure } from '../../src/kernel/ports.ts';
import type { SandboxCluster } from '../../src/sandbox/sandbox-cluster.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { createAuthority, type Subject } from '../control-plane/certificates.ts';
import { definition, type GroundName, kindIn, put } from '../support/incident-grounds.ts';
import { objectOf } from '../support/inventory.ts';

/** A cluster like one that broke, and what the program says of it beforehand. */
export interface IncidentWorld {
  /** Rows of the account (incidents-table.ts). */
  readonly rows: readonly number[];
  readonly ground: GroundName;
  /** v3.32.1 unless said. */
  readonly release?: string;
  /** What makes the ground one of those clusters. */
  readonly change: (cluster: SandboxCluster, scenario: Scenario) => unknown;
  /** `run` unless nothing stops. */
  readonly command?: 'preflight';
  readonly flags?: readonly string[];
  readonly check: string;
  /** `ok` says it all the same, in the wide table. */
  readonly severity: 'error' | 'warning' | 'ok';
  /** In the finding: its words, its evidence and what it advises. */
  readonly says: RegExp;
}

const FELIX = 'crd.projectcalico.org/v1';
const OPERATOR = 'operator.tigera.io/v1';
const AT = { namespace: 'kube-system' };
const REASON = { nftables: configMap('kube-proxy', { 'config.conf': 'mode: nftables\n' }) };

function configMap(name: string, data: Readonly<Record<string, string>>): KubeObject {
  return objectOf('v1', 'ConfigMap', name, { metadata: AT, data });
}

const stored = (kind: string, name: string, spec: object, metadata: object = {}) => objectOf(FELIX, kind, name, { spec, metadata });
const felix = (spec: object) => stored('FelixConfiguration', 'default', spec);
const puts =
  (...objects: readonly KubeObject[]) =>
  (cluster: SandboxCluster) =>
    objects.map((one) => put(cluster, one));
const all =
  (...changes: readonly IncidentWorld['change'][]) =>
  (cluster: SandboxCluster, scenario: Scenario) =>
    changes.map((change) => change(cluster, scenario));
/** Behind the server's back, as controllers and kubelets write. */
const laidOver =
  (kind: Kind, name: string, over: Readonly<Record<string, unknown>>, namespace?: string) =>
  ({ store }: Pick<SandboxCluster, 'store'>) => {
    const live = store.get(kind, name, namespace);
    if (!live) throw new Error(`the ground has no ${kind.kind} ${name}`);
    const merged = Object.entries(over).map(([key, value]) => [
      key,
      { ...(live as unknown as Record<string, object>)[key], ...(value as object) },
    ]);
    store.update(kind, { ...live, ...Object.fromEntries(merged) });
  };
const nodeInfo = (info: Readonly<Record<string, string>>) => (cluster: SandboxCluster) => {
  const { nodeInfo: own } = (cluster.store.get(K.Node, 'node-02')?.status ?? {}) as { readonly nodeInfo?: object };
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
const installation = (calicoNetwork: object) => (cluster: SandboxCluster) => {
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
const hostProgram = objectOf('apps/v1', 'DaemonSet', 'tailscale', {
  metadata: AT,
  spec: {
    selector: { matchLabels: { app: 'tailscale' } },
    template: {
      metadata: { labels: { app: 'tailscale' } },
      spec: { hostNetwork: true, containers: [{ name: 'tailscale', image: 'ghcr.io/tailscale/tailscale:v1.90' }] },
    },
  },
});

/** An admission webhook that must be asked about every new pod, and the Service before its own pods. */
function withWebhook(cluster: SandboxCluster): void {
  const service = { namespace: 'kyverno', name: 'kyverno-svc' };
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], scope: '*' }];
  const webhook = { name: 'validate.kyverno.svc', failurePolicy: 'Fail', rules, clientConfig: { service }, sideEffects: 'None' };
  puts(
    objectOf('v1', 'Namespace', 'kyverno'),
    objectOf('v1', 'Service', service.name, { metadata: service, spec: { selector: { app: 'kyverno' }, ports: [{ port: 443 }] } }),
    objectOf('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', 'kyverno', { webhooks: [webhook] }),
  )(cluster);
}

/** The ground itself is one of them. */
export const asItIs = (): void => undefined;
const POLICY = { tier: 'default', selector: 'all()' };
const loadBalancers = stored('IPPool', 'lb', { cidr: '10.9.0.0/24', allowedUses: ['LoadBalancer'] });
/** A stored policy keeps the labels that it was given in an annotation. */
const ofArgo = { 'projectcalico.org/metadata': JSON.stringify({ labels: { 'argocd.argoproj.io/instance': 'shop' } }) };
const warns = { severity: 'warning' } as const;
const stops = { severity: 'error' } as const;

/** By what goes wrong without the check; on the installation by manifest. */
const ofManifests: Readonly<Record<string, IncidentWorld>> = {
  'pod security admission refuses the new pods of the agents': {
    ...{ rows: [108], ground: 'own', check: 'NS-610', ...stops },
    change: laidOver(K.Namespace, 'kube-system', {
      metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    }),
    says: /violates PodSecurity "restricted:latest"[\s\S]*kubectl label namespace kube-system pod-security\.kubernetes\.io\/enforce=privileged/,
  },
  'a quota refuses the new pods of the agents': {
    ...{ rows: [108], ground: 'own', check: 'NS-610', ...stops },
    change: refusesPods('failed quota: tight: must specify limits.memory'),
    says: /failed quota: tight[\s\S]*kubectl -n kube-system describe resourcequotas/,
  },
  'a LimitRange refuses the new pods of the agents': {
    ...{ rows: [108], ground: 'own', check: 'NS-610', ...stops },
    change: refusesPods('minimum cpu usage per Container is 500m, but request is 250m'),
    says: /minimum cpu usage per Container[\s\S]*kubectl -n kube-system describe limitranges/,
  },
  'a webhook on the pod network must admit the pods of the agents': {
    ...{ rows: [107], ground: 'own', check: 'NS-611', ...warns },
    change: withWebhook,
    says: /ValidatingWebhookConfiguration\/kyverno\/validate\.kyverno\.svc[\s\S]*values: \[kube-system\][\s\S]*Exempt the namespace at the webhook/,
  },
  'a namespace cannot be deleted': {
    ...{ rows: [12], ground: 'own', check: 'NS-013', ...warns },
    change: ({ store }) => {
      store.insert(K.Namespace, objectOf('v1', 'Namespace', 'old'));
      laidOver(K.Namespace, 'old', {
        metadata: { name: 'old', deletionTimestamp: '2026-11-20T02:00:00Z' },
        status: { phase: 'Terminating' },
      })({ store });
    },
    says: /Namespace\/old/,
  },
  'agents and controllers run other releases': {
    ...{ rows: [3], ground: 'own', check: 'NS-107', ...stops },
    change: ({ store }) => replaced(store, K.Deployment, 'netsvc-kube-controllers', /:v3\.26\.4/g, ':v3.25.0'),
    says: /v3\.25\.0/,
  },
  'nft of the agents crashes beside the nft of the host': {
    ...{ rows: [43], ground: 'calico', release: 'v3.32.0', check: 'NS-609', ...stops },
    change: all(puts(REASON.nftables), nodeInfo({ osImage: 'Debian GNU/Linux 13 (trixie)' })),
    says: /nft-crash[\s\S]*Node\/node-02 Debian GNU\/Linux 13[\s\S]*--release v3\.32\.1/,
  },
  'agents in nftables mode panic on overlapping addresses': {
    ...{ rows: [90], ground: 'calico', release: 'v3.32.0', check: 'NS-609', ...stops },
    change: puts(REASON.nftables),
    says: /the agent panics in nftables mode where addresses of an IP set overlap[\s\S]*nft-overlap/,
  },
  'agents in nftables mode panic on rules of another program': {
    ...{ rows: [45], ground: 'calico', check: 'NS-609', ...warns },
    change: puts(REASON.nftables, hostProgram),
    says: /nft-foreign-rules[\s\S]*DaemonSet\/kube-system\/tailscale[\s\S]*--netfilter-mode=off/,
  },
  'settings of nftables have no effect': {
    ...{ rows: [46], ground: 'calico', check: 'NS-609', ...warns },
    change: puts(REASON.nftables, felix({ nftablesMarkMask: 65280 })),
    says: /nft-settings-auto[\s\S]*FelixConfiguration\/default[\s\S]*Set nftablesMode/,
  },
  'addresses of a network set are denied': {
    ...{ rows: [90], ground: 'calico', check: 'NS-609', ...warns },
    change: puts(REASON.nftables, stored('GlobalNetworkSet', 'partners', { nets: ['10.0.0.0/8', '10.1.0.0/16'] })),
    says: /nft-overlap-members[\s\S]*GlobalNetworkSet\/partners/,
  },
  'services do not work for new pods beside a kube-proxy that uses nftables': {
    ...{ rows: [47], ground: 'calico', check: 'NS-506', ...warns },
    change: puts(REASON.nftables),
    says: /kube-proxy uses nftables and nftablesMode is not set/,
  },
  'maps of eBPF programs change': {
    ...{ rows: [50, 52], ground: 'calico', check: 'NS-507', ...warns },
    change: puts(felix({ bpfEnabled: true })),
    says: /eBPF/,
  },
  'host-networked traffic through VXLAN is lost between old and new agents': {
    ...{ rows: [51], ground: 'calico v3.30.3', check: 'NS-112', ...warns },
    change: puts(felix({ bpfEnabled: true }), stored('IPPool', 'pods', { cidr: '10.244.0.0/16', vxlanMode: 'Always' })),
    says: /ebpf-vxlan-hop[\s\S]*IPPool\/pods[\s\S]*upgrade to v3\.30\.7 first/,
  },
  'the kernel refuses eBPF programs with debug logs': {
    ...{ rows: [53], ground: 'calico', check: 'NS-609', ...warns },
    change: all(puts(felix({ bpfEnabled: true, bpfLogLevel: 'Debug' })), nodeInfo({ kernelVersion: '5.15.0-91-generic' })),
    says: /ebpf-debug-verifier[\s\S]*5\.15\.0-91-generic/,
  },
  'a WireGuard network of one’s own stops': {
    ...{ rows: [54], ground: 'calico', check: 'NS-609', ...warns },
    change: puts(felix({ bpfEnabled: true, bpfDataIfacePattern: '^eth0' })),
    says: /ebpf-own-wireguard/,
  },
  'the image of the agents lacks a library': {
    ...{ rows: [26], ground: 'old', release: 'v3.27.2', check: 'NS-609', ...stops },
    change: nodeInfo({ architecture: 'arm64' }),
    says: /libpcap-arm64[\s\S]*Node\/node-02 arm64[\s\S]*--release v3\.27\.3/,
  },
  'ipset of the agents is older than the kernel': {
    ...{ rows: [27], ground: 'old', release: 'v3.30.4', check: 'NS-609', ...warns },
    change: nodeInfo({ osImage: 'Debian GNU/Linux 13 (trixie)' }),
    says: /ipset-kernel[\s\S]*Node\/node-02 Debian GNU\/Linux 13/,
  },
  'the kernel refuses eBPF programs of the load balancer': {
    ...{ rows: [55], ground: 'old', release: 'v3.30.4', check: 'NS-609', ...warns },
    change: all(puts(felix({ bpfEnabled: true })), nodeInfo({ kernelVersion: '6.12.53-69.119.amzn2023.x86_64' })),
    says: /ebpf-balancer[\s\S]*Node\/node-02 6\.12\.53/,
  },
  'the controllers crash in a key-value installation': {
    ...{ rows: [109], ground: 'kvstore', release: 'v3.30.4', check: 'NS-609', severity: 'warning' },
    change: asItIs,
    says: /lb-crash-kvstore[\s\S]*--release v3\.30\.7/,
  },
  'the controllers crash where a pool is for load balancers': {
    ...{ rows: [109], ground: 'old', release: 'v3.30.4', check: 'NS-609', ...warns },
    change: puts(loadBalancers),
    says: /lb-crash[\s\S]*IPPool\/lb/,
  },
  'services get a second address': {
    ...{ rows: [109], ground: 'old', release: 'v3.30.4', check: 'NS-609', ...warns },
    change: puts(loadBalancers),
    says: /lb-duplicates[\s\S]*IPPool\/lb/,
  },
  'a kernel is too old for the agents': {
    ...{ rows: [21], ground: 'calico', check: 'NS-424', ...warns },
    change: nodeInfo({ kernelVersion: '3.10.0-1160.el7.x86_64' }),
    says: /node-02/,
  },
  'a Windows node is not upgraded by this procedure': {
    ...{ rows: [32], ground: 'calico', check: 'NS-426', ...warns },
    change: ({ store }) => {
      store.insert(K.Node, {
        ...objectOf('v1', 'Node', 'win-01', { metadata: { labels: { 'kubernetes.io/os': 'windows' } } }),
        status: readyNode,
      } as KubeObject);
    },
    says: /win-01/,
  },
  'the address of a node is routed through the tunnel': {
    ...{ rows: [57], ground: 'calico', check: 'NS-609', ...warns },
    change: all(address('10.244.1.7'), puts(stored('IPPool', 'pods', { cidr: '10.244.0.0/16' }))),
    says: /node-in-pool[\s\S]*Node\/node-02 10\.244\.1\.7 in IPPool\/pods/,
  },
  'a new agent finds another address of its node': {
    ...{ rows: [59], ground: 'calico', check: 'NS-428', ...warns },
    change: all(
      address('10.0.0.2'),
      laidOver(K.Node, 'node-02', { metadata: { annotations: { 'projectcalico.org/IPv4Address': '169.254.25.10/32' } } }),
    ),
    says: /its agent uses 169\.254\.25\.10, Kubernetes has 10\.0\.0\.2/,
  },
  'pods reach addresses of load balancers with their own address': {
    ...{ rows: [58], ground: 'calico', release: 'v3.32.0', check: 'NS-609', ...warns },
    change: puts(loadBalancers),
    says: /lb-pool-snat[\s\S]*IPPool\/lb/,
  },
  'services without an address are given one': {
    ...{ rows: [100], ground: 'calico', check: 'NS-505', ...warns },
    change: puts(loadBalancers),
    says: /IPPool\/lb/,
  },
  'the container runtime does not know the CNI configuration': {
    ...{ rows: [65], ground: 'calico', release: 'v3.32.2', check: 'NS-609', ...stops },
    change: nodeInfo({ containerRuntimeVersion: 'containerd://1.5.9' }),
    says: /cni-1\.0-containerd[\s\S]*Node\/node-02 containerd:\/\/1\.5\.9/,
  },
  'CRI-O does not know the CNI configuration': {
    ...{ rows: [65], ground: 'calico', release: 'v3.32.2', check: 'NS-609', ...stops },
    change: nodeInfo({ containerRuntimeVersion: 'cri-o://1.23.5' }),
    says: /cni-1\.0-crio[\s\S]*Node\/node-02 cri-o:\/\/1\.23\.5/,
  },
  'dockershim does not know the CNI configuration': {
    ...{ rows: [65], ground: 'calico', release: 'v3.32.2', check: 'NS-609', ...stops },
    change: nodeInfo({ containerRuntimeVersion: 'docker://20.10.24' }),
    says: /cni-1\.0-docker[\s\S]*Node\/node-02 docker:\/\/20\.10\.24/,
  },
  'a platform upgrades the service by itself': {
    ...{ rows: [14, 29], ground: 'calico', check: 'NS-109', ...stops },
    change: ({ store }) => {
      laidOver(K.ConfigMap, 'calico-config', { data: { cluster_type: 'kubespray,bgp' } }, 'kube-system')({ store });
    },
    says: /kubespray[\s\S]*playbook/,
  },
  'RKE upgrades the service by itself': {
    ...{ rows: [31], ground: 'calico', check: 'NS-109', ...stops },
    change: puts(configMap('rke-network-plugin', {})),
    says: /RKE1[\s\S]*rke up/,
  },
  'RKE2 upgrades its own chart': {
    ...{ rows: [28], ground: 'calico', check: 'NS-109', ...stops },
    change: laidOver(
      K.DaemonSet,
      'calico-node',
      { metadata: { annotations: { 'meta.helm.sh/release-name': 'rke2-calico' } } },
      'kube-system',
    ),
    says: /RKE2[\s\S]*HelmChartConfig/,
  },
  'RKE2 builds images of its own': {
    ...{ rows: [44], ground: 'calico', check: 'NS-109', ...stops },
    change: ({ store }) => replaced(store, K.DaemonSet, 'calico-node', /docker.io\/calico\/node/g, 'docker.io/rancher/hardened-calico'),
    says: /RKE2[\s\S]*HelmChartConfig/,
  },
  'MicroK8s applies its own manifest again': {
    ...{ rows: [29], ground: 'calico', check: 'NS-109', ...stops },
    change: ({ store }) => replaced(store, K.DaemonSet, 'calico-node', /\/opt\/cni\/bin/g, '/var/snap/microk8s/current/opt/cni/bin'),
    says: /MicroK8s[\s\S]*snap/,
  },
  'Kubernetes is too old for the release': {
    ...{ rows: [20, 110], ground: 'calico', check: 'NS-002', ...stops },
    change: (cluster) => Object.assign(cluster, { version: async () => ({ gitVersion: 'v1.22.17', major: '1', minor: '22' }) }),
    says: /v1\.22\.17/,
  },
  'interfaces of new pods keep the MTU that was set': {
    ...{ rows: [60], ground: 'calico', check: 'NS-607', severity: 'ok' },
    change: laidOver(K.ConfigMap, 'calico-config', { data: { veth_mtu: '1440' } }, 'kube-system'),
    says: /veth_mtu stays 1440/,
  },
  'a mirror does not have the images of the release': {
    ...{ rows: [105], ground: 'calico', check: 'NS-606', ...warns },
    change: ({ store }, { clock }) => {
      replaced(store, K.DaemonSet, 'calico-node', /docker.io\/calico/g, 'mirror.example.org/calico');
      replaced(store, K.Deployment, 'calico-kube-controllers', /docker.io\/calico/g, 'mirror.example.org/calico');
      return clock.sleep(60_000);
    },
    says: /mirror\.example\.org\/calico\/node:v3\.32\.1[\s\S]*--probe-images/,
  },
  'a setting does not pass the stricter definition of the target': {
    ...{ rows: [101], ground: 'calico', check: 'NS-501', ...stops },
    change: puts(felix({ logPrefix: 'calico drop: "' })),
    says: /FelixConfiguration\/default[\s\S]*logPrefix/,
  },
  'a pod with an older CLI stays': {
    ...{ rows: [104], ground: 'calico', check: 'NS-803', ...warns },
    change: puts(
      objectOf('v1', 'Pod', 'calicoctl', {
        metadata: AT,
        spec: { containers: [{ name: 'calicoctl', image: 'docker.io/calico/ctl:v3.20.6' }] },
      }),
    ),
    says: /calicoctl/,
  },
  'server-side apply of a BGPConfiguration is refused': {
    ...{ rows: [89], ground: 'calico', release: 'v3.32.0', check: 'NS-609', ...warns },
    change: puts(stored('BGPConfiguration', 'default', { serviceClusterIPs: [{ cidr: '10.96.0.0/12' }] })),
    says: /server-side apply of a BGPConfiguration[\s\S]*bgp-lists/,
  },
  'the CNI plugin may not read virtual machines': {
    ...{ rows: [92], ground: 'calico', release: 'v3.32.0', check: 'NS-609', ...warns },
    change: puts(definition('kubevirt.io', 'VirtualMachineInstance', 'Namespaced')),
    says: /kubevirt-rights/,
  },
  'policies that nobody enforced take effect': {
    ...{ rows: [93], ground: 'calico', check: 'NS-609', ...warns },
    change: puts(definition('policy.networking.k8s.io', 'ClusterNetworkPolicy')),
    says: /cluster-network-policies/,
  },
  'policies of a removed kind are no longer enforced': {
    ...{ rows: [93], ground: 'calico', check: 'NS-502', ...stops },
    change: puts(
      definition('policy.networking.k8s.io', 'AdminNetworkPolicy'),
      objectOf('policy.networking.k8s.io/v1', 'AdminNetworkPolicy', 'strict', { spec: {} }),
    ),
    says: /AdminNetworkPolicy\/strict/,
  },
  'HTTP rules match other paths': {
    ...{ rows: [102], ground: 'calico', check: 'NS-609', ...warns },
    change: puts(stored('GlobalNetworkPolicy', 'http', { ingress: [{ action: 'Allow', http: { paths: [{ exact: '/a' }] } }] })),
    says: /http-paths[\s\S]*GlobalNetworkPolicy\/http/,
  },
  'a GitOps tool deletes CRDs and all that is stored in them': {
    ...{ rows: [88], ground: 'calico', check: 'NS-111', ...stops },
    change: puts({
      ...definition('policy.networking.k8s.io', 'AdminNetworkPolicy'),
      metadata: { name: 'adminnetworkpolicies.policy.networking.k8s.io', labels: { 'argocd.argoproj.io/instance': 'calico' } },
    }),
    says: /adminnetworkpolicies\.policy\.networking\.k8s\.io[\s\S]*Prune=false/,
  },
  'a GitOps tool creates renamed policies a second time': {
    ...{ rows: [99], ground: 'calico', check: 'NS-710', ...stops },
    change: puts(stored('GlobalNetworkPolicy', 'default.allow', POLICY, { annotations: ofArgo })),
    says: /GlobalNetworkPolicy\/default\.allow[\s\S]*Argo CD: name it allow in Git[\s\S]*argocd app set shop/,
  },
  'a new agent runs out of memory again': {
    ...{ rows: [41], ground: 'calico', check: 'NS-410', ...warns },
    change: ({ store }) => {
      const agent = store.list(K.Pod).find(({ metadata }) => metadata.name.startsWith('calico-node'));
      const { containerStatuses: all = [] } = (agent?.status ?? {}) as { readonly containerStatuses?: readonly object[] };
      const [status, ...others] = all;
      const containerStatuses = [{ ...status, lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } } }, ...others];
      laidOver(K.Pod, agent?.metadata.name ?? '', { status: { containerStatuses } }, 'kube-system')({ store });
    },
    says: /Pod\/kube-system\/calico-node-\S+[\s\S]*was OOMKilled/,
  },
  'the controllers are not there to be upgraded': {
    ...{ rows: [81], ground: 'calico', check: 'NS-402', ...stops },
    change: laidOver(K.Deployment, 'calico-kube-controllers', { spec: { replicas: 0 } }, 'kube-system'),
    says: /calico-kube-controllers/,
  },
  'Typha cannot be replaced on so few nodes': {
    ...{ rows: [35, 36], ground: 'typha', check: 'NS-406', ...stops },
    change: laidOver(
      K.Deployment,
      'calico-typha',
      { spec: { replicas: 3, strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0 } } } },
      'kube-system',
    ),
    says: /3 replicas on 2 open nodes[\s\S]*kubectl scale deployment calico-typha/,
  },
  'policies in a key-value store keep names that nobody finds': {
    ...{ rows: [98], ground: 'kvstore', check: 'NS-707', severity: 'ok' },
    change: asItIs,
    says: /nothing in a key-value store/,
  },
  'the renaming of policies waits for agents of another name for ever': {
    ...{ rows: [97], ground: 'canal', check: 'NS-707', severity: 'ok' },
    change: puts(stored('GlobalNetworkPolicy', 'default.allow', POLICY)),
    says: /the controllers wait for a DaemonSet calico-node before they rename, and the agents here are called canal/,
  },
};

const readyNode = {
  conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
  nodeInfo: { operatingSystem: 'windows', architecture: 'amd64', kubeletVersion: 'v1.36.1', kernelVersion: '10.0', osImage: 'Windows' },
};

/** On the installation by operator. */
const ofOperators: Readonly<Record<string, IncidentWorld>> = {
  'two installations run beside each other': {
    ...{ rows: [15, 82], ground: 'operator', check: 'NS-103', ...stops, command: 'preflight' },
    change: (cluster) => {
      const live = cluster.store.get(K.DaemonSet, 'calico-node', 'calico-system');
      if (live) put(cluster, { ...live, metadata: { name: 'calico-node', namespace: 'kube-system' } });
    },
    says: /kube-system/,
  },
  'AKS upgrades the operator by itself': {
    ...{ rows: [30], ground: 'operator', check: 'NS-109', ...stops },
    change: laidOver(
      K.Deployment,
      'tigera-operator',
      { metadata: { labels: { 'kubernetes.azure.com/managedby': 'aks' } } },
      'tigera-operator',
    ),
    says: /AKS[\s\S]*Azure/,
  },
  'the operator and a GitOps tool overwrite each other': {
    ...{ rows: [49], ground: 'operator', check: 'NS-113', ...warns },
    change: (cluster) => {
      const kind = kindIn(cluster, { apiVersion: FELIX, kind: 'FelixConfiguration' });
      cluster.registry.create(kind, felix({ nftablesMode: 'Disabled' }), { manager: 'argocd-controller' });
    },
    says: /argocd-controller writes nftablesMode/,
  },
  'the operator keeps the agents at iptables beside nftables': {
    ...{ rows: [47], ground: 'operator', check: 'NS-506', ...warns },
    change: all(puts(REASON.nftables), installation({ linuxDataplane: 'Iptables' })),
    says: /Installation\/default[\s\S]*linuxDataplane":"Nftables/,
  },
  'the operator changes pools that were made by hand': {
    ...{ rows: [67], ground: 'operator', check: 'NS-624', ...warns },
    change: all(
      installation({ ipPools: [{ name: 'pods', cidr: '10.244.0.0/16', blockSize: 26 }] }),
      puts(stored('IPPool', 'pods', { cidr: '10.244.0.0/16', blockSize: 26, disabled: true })),
    ),
    says: /IPPool\/pods/,
  },
  'the operator deletes a pool that is only spelled otherwise': {
    ...{ rows: [68], ground: 'operator', check: 'NS-624', ...warns },
    change: all(
      installation({ ipPools: [{ name: 'pods', cidr: 'fd00:10:0::/56', blockSize: 122 }] }),
      puts(stored('IPPool', 'pods', { cidr: 'fd00:10::/56', blockSize: 122 })),
    ),
    says: /IPPool\/pods/,
  },
  'the operator refuses a pool outside the pod network': {
    ...{ rows: [69], ground: 'operator', check: 'NS-628', ...stops },
    change: all(
      installation({ ipPools: [{ cidr: '192.168.0.0/16' }] }),
      puts(configMap('kubeadm-config', { ClusterConfiguration: 'networking:\n  podSubnet: 10.244.0.0/16\n' })),
    ),
    says: /10\.244\.0\.0\/16\): 192\.168\.0\.0\/16/,
  },
  'a certificate of the API server names the old namespace': {
    ...{ rows: [72], ground: 'operator', check: 'NS-630', ...stops },
    change: puts(certificate('calico-apiserver-certs', 'Example CA', { hosts: ['calico-api.calico-apiserver.svc'] })),
    says: /signed by Example CA[\s\S]*kubectl -n tigera-operator describe secret calico-apiserver-certs/,
  },
  'agents that restart are refused: a certificate of Typha is over': {
    ...{ rows: [74], ground: 'operator', check: 'NS-631', ...stops },
    change: puts(certificate('typha-certs', 'Example CA', { isExpired: true })),
    says: /Secret\/tigera-operator\/typha-certs: ended/,
  },
  'the flow logs do not trust a certificate of an earlier operator': {
    ...{ rows: [73], ground: 'operator', check: 'NS-631', ...warns, flags: ['--enable-flow-logs'] },
    change: puts(certificate('node-certs', 'tigera-operator-signer@1611111111')),
    says: /Secret\/tigera-operator\/node-certs: signed by tigera-operator-signer@1611111111/,
  },
  'others no longer reach pods in the namespace of the operator': {
    ...{ rows: [77], ground: 'operator', check: 'NS-632', ...warns },
    change: puts(
      definition('monitoring.coreos.com', 'ServiceMonitor', 'Namespaced'),
      objectOf('monitoring.coreos.com/v1', 'ServiceMonitor', 'controllers', { metadata: { namespace: 'calico-system' }, spec: {} }),
    ),
    says: /ServiceMonitor\/calico-system\/controllers/,
  },
  'a policy of one’s own keeps the moved API server away for good': {
    ...{ rows: [78], ground: 'operator', check: 'NS-633', ...warns },
    change: puts(stored('GlobalNetworkPolicy', 'default.deny', { ...POLICY, types: ['Ingress', 'Egress'] })),
    says: /GlobalNetworkPolicy\/default\.deny[\s\S]*all ingress and egress of pods of the API server in calico-system is dropped/,
  },
  'the aggregated API does not answer': {
    ...{ rows: [84], ground: 'operator', check: 'NS-008', ...stops },
    change: laidOver(K.APIService, 'v3.projectcalico.org', {
      status: { conditions: [{ type: 'Available', status: 'False', message: 'FailedDiscoveryCheck' }] },
    }),
    says: /v3\.projectcalico\.org/,
  },
  'the controllers may not read what addresses of load balancers need': {
    ...{ rows: [91], ground: 'operator', release: 'v3.32.0', check: 'NS-609', ...warns },
    change: puts(loadBalancers),
    says: /lb-rights[\s\S]*IPPool\/lb/,
  },
  'a tier is renamed, and policies around it are not': {
    ...{ rows: [94], ground: 'operator', check: 'NS-625', ...warns },
    change: puts(
      stored('Tier', 'allow-tigera', { order: 100 }),
      stored('NetworkPolicy', 'allow-tigera.mine', { tier: 'allow-tigera' }, { namespace: 'default' }),
    ),
    says: /allow-tigera/,
  },
  'a status stays degraded without an API server': {
    ...{ rows: [71], ground: 'operator', check: 'NS-627', ...warns },
    change: (cluster) => {
      const kind = kindIn(cluster, { apiVersion: OPERATOR, kind: 'APIServer' });
      cluster.store.delete(kind, 'default');
    },
    says: /APIServer\/default/,
  },
  'definitions of the Gateway API stay old': {
    ...{ rows: [85], ground: 'operator', check: 'NS-626', ...warns },
    change: puts(definition(OPERATOR.split('/')[0] ?? '', 'GatewayAPI'), objectOf(OPERATOR, 'GatewayAPI', 'default', { spec: {} }), {
      ...definition('gateway.networking.k8s.io', 'Gateway', 'Namespaced'),
      metadata: { name: 'gateways.gateway.networking.k8s.io', annotations: { 'gateway.networking.k8s.io/bundle-version': 'v1.2.1' } },
    }),
    says: /gateways\.gateway\.networking\.k8s\.io/,
  },
};

export const incidentWorlds: Readonly<Record<string, IncidentWorld>> = { ...ofManifests, ...ofOperators };

function replaced(store: SandboxCluster['store'], kind: Kind, name: string, what: RegExp, by: string): void {
  const live = store.get(kind, name, 'kube-system');
  if (live) store.update(kind, JSON.parse(JSON.stringify(live).replaceAll(what, by)) as KubeObject);
}
