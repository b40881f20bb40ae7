import type { ComponentStatusName, OperatorCrossings, OperatorEnd } from '../kernel/operator-names.ts';
import type { Sign, Variant } from '../kernel/profile.ts';
import type { ReadyRule, WorkloadName } from '../kernel/rollout.ts';
import { calicoDefaults, calicoFindings } from './calico-filled-in.ts';
import { calicoRefusals } from './calico-refusals.ts';

/** What the document calls 2/2 or 1/2 is 1/1 (canal 2/2) in every release: counts equal, never a literal (domain §0.5). */
export const everyContainer: ReadyRule = { type: 'all-containers' };

function workload(kind: WorkloadName['kind'], name: string, container = name, namespace = 'kube-system'): WorkloadName {
  return { kind, namespace, name, container, ready: everyContainer };
}

const agent = workload('DaemonSet', 'calico-node');
const controllers = workload('Deployment', 'calico-kube-controllers');
const typha = workload('Deployment', 'calico-typha');

const withoutTypha: Sign = { type: 'workload', kind: 'Deployment', name: 'calico-typha', absent: true };
const withTypha: readonly Sign[] = [
  { type: 'workload', kind: 'Deployment', name: 'calico-typha' },
  { type: 'configMapKey', key: 'typha_service_name', noneOf: ['none', ''] },
];
/** Variables of an etcd install beside an API datastore are a migration that needs an explanation (domain §2.3, v). */
const withoutEtcd: Sign = { type: 'env', name: 'ETCD_ENDPOINTS', absent: true };
const backend = (...oneOf: readonly string[]): Sign => ({ type: 'env', name: 'CALICO_NETWORKING_BACKEND', oneOf });
const installsCni: Sign = { type: 'container', name: 'install-cni' };

const networking: readonly Sign[] = [withoutTypha, withoutEtcd, installsCni, backend('bird')];
const etcd: Sign = { type: 'configMapKey', key: 'etcd_endpoints' };

/** `more`: what is not as in the combined manifest. */
function variantOf(id: string, title: string, signs: readonly Sign[], more: Partial<Variant> = {}): Variant {
  return { id, title, file: `${id}.yaml`, datastore: 'api', agent, controllers, configMap: 'calico-config', signs, ...more };
}

const canal = (name: string): Partial<Variant> => ({ agent: workload('DaemonSet', name, 'calico-node'), configMap: 'canal-config' });

/** Order: the combined manifest first; the more specific signs win over it (domain §2.3). */
export const calicoVariants: readonly Variant[] = [
  variantOf('calico', 'policy and networking', networking),
  variantOf('calico-typha', 'policy and networking with Typha', [...withTypha, withoutEtcd, installsCni, backend('bird', 'vxlan')], {
    typha,
  }),
  variantOf('calico-vxlan', 'policy and VXLAN networking without BGP', [withoutTypha, withoutEtcd, installsCni, backend('vxlan')]),
  variantOf('calico-bpf', 'policy and networking in eBPF mode', [
    ...networking,
    { type: 'env', name: 'FELIX_BPFENABLED', oneOf: ['true'] },
    { type: 'env', name: 'CALICO_IPV4POOL_IPIP', oneOf: ['Never'] },
  ]),
  variantOf(
    'calico-policy-only',
    'policy only, with Typha',
    [...withTypha, withoutEtcd, installsCni, backend('none'), { type: 'configMapKey', key: 'calico_backend', absent: true }],
    { typha },
  ),
  variantOf(
    'canal',
    'policy with flannel networking',
    [{ type: 'container', name: 'kube-flannel' }, withoutEtcd, installsCni],
    canal('canal'),
  ),
  variantOf('calico-etcd', 'policy and networking, etcd datastore', [etcd, withoutTypha, installsCni], { datastore: 'kvstore' }),
  variantOf('canal-etcd', 'policy with flannel networking, etcd datastore', [etcd, { type: 'container', name: 'flannel' }, installsCni], {
    ...canal('canal-node'),
    datastore: 'kvstore',
  }),
];

/** What the operator renders, in its own namespace. */
export const calicoOperated = {
  agent: workload('DaemonSet', 'calico-node', 'calico-node', 'calico-system'),
  controllers: workload('Deployment', 'calico-kube-controllers', 'calico-kube-controllers', 'calico-system'),
  typha: workload('Deployment', 'calico-typha', 'calico-typha', 'calico-system'),
  // Up to v3.20 all pods had their own class (pkg/render/priority_class.go of operator v1.20, render.go of v1.42.3; operator#1428).
  priorities: { former: 'calico-priority', agent: 'system-node-critical', others: 'system-cluster-critical' },
  // Until then for eBPF alone (pkg/render/node.go of operator v1.38.0, v1.40.0, v1.40.15 and of its branch v1.42; calico#11764, calico#13681).
  agentMounts: [
    { path: '/sys/fs', type: 'DirectoryOrCreate', propagation: 'Bidirectional', since: ['v3.31.0'] },
    { path: '/sys/fs/bpf', type: 'Directory', since: ['v3.31.0'] },
    { path: '/var/run/calico', type: 'DirectoryOrCreate', propagation: 'Bidirectional', since: ['v3.31.0'] },
    { path: '/sys/kernel/security', type: '', since: ['v3.31.7', 'v3.32.2'] },
  ],
};

/** Component statuses of the operator of v3.32, and whose generation each one carries. */
const statuses: readonly ComponentStatusName[] = [
  { name: 'calico', generation: 'installation' },
  { name: 'ippools', generation: 'installation' },
  { name: 'tiers', generation: 'none', needs: { kind: 'APIServer', plural: 'apiservers' } },
  { name: 'apiserver', generation: 'own', kind: 'APIServer', plural: 'apiservers' },
  { name: 'goldmane', generation: 'own', kind: 'Goldmane', plural: 'goldmanes' },
  { name: 'whisker', generation: 'own', kind: 'Whisker', plural: 'whiskers' },
];

/** Only the newest writes this one; what it wrote stays. */
const earlierStatuses = statuses.filter(({ name }) => name !== 'tiers');

export const calicoOperatorEnd: OperatorEnd = {
  since: 'v3.32.0',
  statusKind: 'TigeraStatus',
  statusPlural: 'tigerastatuses',
  statuses,
  earlier: [
    { since: 'v3.30.0', statuses: earlierStatuses, apiNamespace: 'calico-apiserver' },
    { since: 'v3.31.0', statuses: earlierStatuses, apiNamespace: 'calico-system' },
  ],
  api: { kind: 'APIServer', service: 'v3.projectcalico.org', namespace: 'calico-system', oldNamespace: 'calico-apiserver' },
};

export const calicoCrossings: OperatorCrossings = {
  guarded: {
    since: 'v3.32.0',
    namespace: 'calico-system',
    tier: 'calico-system',
    // Of the operator v1.42.3, those of the open-source service.
    policies: [
      'default-deny',
      'apiserver-access',
      'kube-controller-access',
      'goldmane',
      'whisker',
      'guardian-access',
      'typha-noncluster-host-access',
      'cluster-dns',
      'node-local-dns',
      'istiod',
      'istio-cni-node',
      'ztunnel',
    ],
    scrapers: 'tigera-prometheus',
    apiPorts: [443, 6443, 12388],
    reachedBy: [
      { apiVersion: 'v1', kind: 'Service', plural: 'services' },
      { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', plural: 'ingresses' },
      { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', plural: 'httproutes' },
      { apiVersion: 'monitoring.coreos.com/v1', kind: 'ServiceMonitor', plural: 'servicemonitors' },
      { apiVersion: 'monitoring.coreos.com/v1', kind: 'PodMonitor', plural: 'podmonitors' },
    ],
  },
  certificates: {
    namespace: 'tigera-operator',
    keys: ['tls.crt', 'cert.crt'],
    signer: 'tigera-operator-signer',
    secrets: ['typha-certs', 'node-certs'],
    api: { secret: 'calico-apiserver-certs', name: 'calico-api.calico-system.svc', since: 'v3.31.0' },
  },
  writes: [
    { plural: 'felixconfigurations', fields: ['nftablesMode', 'bpfEnabled', 'vxlanPort', 'vxlanVNI', 'healthPort'] },
    { plural: 'felixconfigurations', fields: ['programClusterRoutes'], where: ['calicoNetwork', 'clusterRoutingMode'] },
    { plural: 'bgpconfigurations', fields: ['programClusterRoutes'], where: ['calicoNetwork', 'clusterRoutingMode'] },
  ],
  // ValidateImageSet of the operators, and what ResolveImages of v1.42.3 asks of it on every cluster. Later ones have fewer images.
  imageSet: {
    ...{ kind: 'ImageSet', plural: 'imagesets', prefix: 'calico-', folders: ['calico', 'tigera'] },
    wanted: ['node', 'cni', 'pod2daemon-flexvol', 'typha', 'csi', 'node-driver-registrar', 'kube-controllers'].map(
      (one) => `calico/${one}`,
    ),
    until: 'v3.33.0',
  },
  refused: calicoRefusals,
  defaults: calicoDefaults,
  // Operator v1.40.14 and v1.40.15 write it; the CRDs of v1.42.4 and before do not have it.
  unset: [{ field: 'spec.cni.specVersion', value: 'Auto' }],
  findings: calicoFindings,
  pools: {
    plural: 'ippools',
    field: ['calicoNetwork', 'ipPools'],
    label: { key: 'app.kubernetes.io/managed-by', value: 'tigera-operator' },
    familiesSince: 'v3.28.0',
  },
  gateway: {
    kind: 'GatewayAPI',
    plural: 'gatewayapis',
    policy: 'safe-upgrades.gateway.networking.k8s.io',
    field: 'crdManagement',
    value: 'Reconcile',
    definitions: {
      group: 'gateway.networking.k8s.io',
      annotation: 'gateway.networking.k8s.io/bundle-version',
      bundles: [{ since: 'v3.32.0', version: 'v1.5.1' }],
    },
  },
  dataPlane: {
    ...{ field: ['calicoNetwork', 'linuxDataplane'], otherwise: 'Iptables', iptables: 'Iptables', nftables: 'Nftables' },
    // Operators up to v1.40 write nftablesMode Enabled, those of v1.42 Auto (`setNftablesMode`).
    nftablesFollowsProxySince: 'v3.32.0',
    bpf: { value: 'BPF', field: 'bpfEnabled', annotation: 'operator.tigera.io/bpfEnabled' },
  },
};

export const calicoAddOnWorkloads = {
  apiserver: workload('Deployment', 'calico-apiserver', 'calico-apiserver', 'calico-apiserver'),
  csi: workload('DaemonSet', 'csi-node-driver', 'calico-csi', 'calico-system'),
};
