import type { Profile } from '../kernel/profile.ts';
import { calicoChanges } from './calico-changes.ts';
import { calicoDefects, calicoPlatforms } from './calico-defects.ts';
import { calicoOlderReaders } from './calico-older-readers.ts';
import { calicoProcedures } from './calico-procedures.ts';
import { calicoNewest, calicoOperatorMinors, calicoOperatorTags, calicoTestedLines } from './calico-releases.ts';
import { calicoAddOnWorkloads, calicoCrossings, calicoOperated, calicoOperatorEnd, calicoVariants } from './calico-variants.ts';
import { commonChainedPlugins } from './platforms.ts';

/** What `calicoctl get` shows of the user's own; without what the agents write themselves. */
const storedKinds = {
  cluster: [
    'bgpconfigurations',
    'bgpfilters',
    'bgppeers',
    'felixconfigurations',
    'globalnetworkpolicies',
    'globalnetworksets',
    'hostendpoints',
    'ippools',
    'ipreservations',
    'kubecontrollersconfigurations',
    'nodes',
    'profiles',
    'stagedglobalnetworkpolicies',
    'tiers',
  ],
  namespaced: ['networkpolicies', 'networksets', 'stagedkubernetesnetworkpolicies', 'stagednetworkpolicies'],
};

const mirrored = (...names: readonly string[]): readonly string[] =>
  names.flatMap((name) => [name, `calico-${name}`, `mirrored-calico-${name}`]);

/** Project Calico: the same procedure by its public names (domain §1). */
export const calico: Profile = {
  name: 'calico',
  title: 'Project Calico',
  short: 'Calico',
  apiGroup: 'projectcalico.org',
  crdGroup: 'crd.projectcalico.org',
  operatorGroup: 'operator.tigera.io',
  defaultRelease: calicoNewest,
  minimumSource: 'v3.15.0',
  manifestUrl: 'https://raw.githubusercontent.com/projectcalico/calico',
  publishedAt:
    'SHA256SUMS of https://github.com/projectcalico/calico/releases/tag/{release} for programs, and the folder manifests of its release-{release}.tgz for manifests',
  registries: ['quay.io/calico', 'docker.io/calico', 'calico', 'quay.io/tigera', 'docker.io/rancher', 'rancher'],
  images: {
    agent: [...mirrored('node'), 'hardened-calico'],
    cni: mirrored('cni'),
    controllers: mirrored('kube-controllers'),
    typha: mirrored('typha'),
    apiserver: mirrored('apiserver'),
    csi: mirrored('csi'),
    operator: [...mirrored('operator'), 'tigera-operator'],
    sidecar: mirrored('dikastes'),
  },
  variants: calicoVariants,
  addOns: [
    { id: 'apiserver', file: 'apiserver.yaml', workload: calicoAddOnWorkloads.apiserver, otherNamespaces: ['calico-system'] },
    { id: 'csi', file: 'csi-driver.yaml', workload: calicoAddOnWorkloads.csi, otherNamespaces: ['kube-system'] },
  ],
  operator: {
    namespace: 'tigera-operator',
    deployment: 'tigera-operator',
    installationKind: { group: 'operator.tigera.io', version: 'v1', plural: 'installations', kind: 'Installation' },
    workloadNamespace: 'calico-system',
    file: 'tigera-operator.yaml',
    chart: 'tigera-operator',
    chartNames: {
      repository: 'https://docs.tigera.io/calico/charts',
      manageCrds: 'manageCRDs',
      pins: ['tigeraOperator.version', 'tigeraOperator.image'],
      additions: [
        { value: 'goldmane.enabled', kind: 'Goldmane' },
        { value: 'whisker.enabled', kind: 'Whisker' },
      ],
      csi: { value: 'installation.kubeletVolumePluginPath', off: 'None' },
    },
    releases: calicoOperatorMinors,
    exactReleases: calicoOperatorTags,
    ...calicoOperated,
    // Of every release of the operator from v1.3 on.
    ignores: { annotation: 'unsupported.operator.tigera.io/ignore', value: 'true' },
    agentStrategy: ['nodeUpdateStrategy'],
    labels: { 'k8s-app': 'tigera-operator', name: 'tigera-operator' },
    versionEnv: 'TIGERA_OPERATOR_INIT_IMAGE_VERSION',
    statusVersionField: 'calicoVersion',
    flowLogs: ['Goldmane', 'Whisker'],
    hostedConsole: 'ManagementClusterConnection',
    sharedMount: { since: 'v3.31.0', path: '/sys' },
    endpoint: {
      configMap: 'kubernetes-services-endpoint',
      hostKey: 'KUBERNETES_SERVICE_HOST',
      portKey: 'KUBERNETES_SERVICE_PORT',
      podsSuffix: '_POD_NETWORK',
    },
    end: calicoOperatorEnd,
    crossings: calicoCrossings,
    // Newer agents of Calico Enterprise are called `node` as well: only their own registry differs.
    otherProducts: { variantField: 'variant', variant: 'Calico', agentImages: ['cnx-node', 'quay.io/tigera/node'] },
    migrationLabel: { key: 'projectcalico.org/operator-node-migration', pending: 'pre-operator' },
    imageListArgs: ['--print-images=list'],
    // Of the operators v1.38 and newer, which watch their CRDs.
    crdsArg: '-manage-crds=true',
  },
  crdFile: 'v1_crd_projectcalico_org.yaml',
  crdChart: 'crd.projectcalico.org.v1',
  datastore: {
    env: 'DATASTORE_TYPE',
    api: ['kubernetes'],
    kvstore: ['etcdv3'],
    endpointsEnv: ['ETCD_ENDPOINTS', 'ETCD_DISCOVERY_SRV'],
    endpointsKey: 'etcd_endpoints',
    tlsKeys: ['etcd_ca', 'etcd_cert', 'etcd_key'],
    secret: 'calico-etcd-secrets',
    secretKeys: ['etcd-ca', 'etcd-cert', 'etcd-key'],
    placeholders: ['<ETCD_IP>', '<ETCD_PORT>'],
    resourcesKey: '/calico/resources/v3/projectcalico.org',
    snapshot: {
      command: 'ETCDCTL_API=3 etcdctl snapshot save store.db',
      endpointFlag: '--endpoints',
      tlsFlags: ['--cacert', '--cert', '--key'],
    },
  },
  platforms: calicoPlatforms,
  cniInstaller: 'install-cni',
  nativeApiEnv: { name: 'CALICO_API_GROUP', value: 'projectcalico.org/v3' },
  clusterInformation: {
    plural: 'clusterinformations',
    kind: 'ClusterInformation',
    name: 'default',
    versionField: 'calicoVersion',
    guidField: 'clusterGUID',
  },
  cli: {
    program: 'calicoctl',
    kubectlPlugin: 'kubectl-calico',
    images: mirrored('ctl'),
    artifact: 'https://github.com/projectcalico/calico/releases/download/{release}/calicoctl-{os}-{arch}',
    environment: ['DATASTORE_TYPE', 'KUBECONFIG', 'ETCD_*', 'CALICO_*'],
    configFile: '/etc/calico/calicoctl.cfg',
    config: {
      apiVersion: 'projectcalico.org/v3',
      kind: 'CalicoAPIConfig',
      datastoreField: 'datastoreType',
      kubeconfigField: 'kubeconfig',
      endpointsField: 'etcdEndpoints',
      tlsFields: ['etcdCACertFile', 'etcdCertFile', 'etcdKeyFile'],
    },
    kinds: storedKinds,
  },
  typhaRefusesAgentsBefore: 'v3.32.0',
  ebpfTablesSince: 'v3.31.0',
  policyRenaming: {
    since: 'v3.32.0',
    prefix: 'default.',
    switchField: 'spec.controllers.policyMigration.enabled',
    waitsFor: 'calico-node',
  },
  olderReaders: calicoOlderReaders,
  uidChange: 'v3.28.0',
  uidBackports: ['v3.27.5'],
  leftovers: {
    containers: ['flexvol-driver', 'mount-bpffs'],
    env: ['FELIX_LOGSEVERITYSCREEN'],
    volumes: ['flexvol-driver-host', 'sysfs'],
  },
  merge: {
    commaLists: ['ENABLED_CONTROLLERS', 'CLUSTER_TYPE'],
    renames: [
      { list: 'initContainers', from: 'mount-bpffs', to: 'ebpf-bootstrap' },
      { list: 'volumes', from: 'sysfs', to: 'sys-fs' },
    ],
  },
  removedKinds: [
    {
      group: 'policy.networking.k8s.io',
      plural: 'adminnetworkpolicies',
      kind: 'AdminNetworkPolicy',
      since: 'v3.32.0',
      replacement: 'ClusterNetworkPolicy',
    },
    {
      group: 'policy.networking.k8s.io',
      plural: 'baselineadminnetworkpolicies',
      kind: 'BaselineAdminNetworkPolicy',
      since: 'v3.32.0',
      replacement: 'ClusterNetworkPolicy',
    },
  ],
  testedLines: calicoTestedLines,
  olderRules: [
    // Typha and agents of v3.29 to v3.31: no syncer is in sync without both.
    { group: 'policy.networking.k8s.io', resource: 'adminnetworkpolicies' },
    { group: 'policy.networking.k8s.io', resource: 'baselineadminnetworkpolicies' },
    // Agents of v3.23 to v3.25: install-cni ends without a token of its own account.
    { group: '', resource: 'serviceaccounts/token', name: 'calico-node' },
  ],
  versionCommands: {
    node: ['/bin/calico-node', '-v'],
    typha: ['/usr/bin/calico-typha', '--version'],
    'kube-controllers': ['/usr/bin/kube-controllers', '--version'],
  },
  labels: { createdBy: 'projectcalico.org/created-by', createdByValue: 'calico-kube-controllers', autoHepSuffix: '-auto-hep' },
  allowAllProfile: 'projectcalico-default-allow',
  derivedProfiles: {
    namespace: { prefix: 'kns.', labelPrefix: 'pcns.' },
    serviceAccount: { prefix: 'ksa.', labelPrefix: 'pcsa.' },
  },
  automaticEndpointsEnv: 'AUTO_HOST_ENDPOINTS',
  failsafePorts: {
    inbound: ['tcp:22', 'udp:68', 'tcp:179', 'tcp:2379', 'tcp:2380', 'tcp:5473', 'tcp:6443', 'tcp:6666', 'tcp:6667'],
    outbound: ['udp:53', 'udp:67', 'tcp:179', 'tcp:2379', 'tcp:2380', 'tcp:5473', 'tcp:6443', 'tcp:6666', 'tcp:6667'],
  },
  temporaryPolicy: 'allow-all-upgrade',
  controllersConfiguration: { plural: 'kubecontrollersconfigurations', kind: 'KubeControllersConfiguration', name: 'default' },
  sidecar: {
    container: 'dikastes',
    injectorNamespace: 'istio-system',
    injectorConfigMap: 'istio-sidecar-injector',
    syncEnv: 'FELIX_POLICYSYNCPATHPREFIX',
    flexDriver: 'nodeagent/uds',
    meshImage: 'pilot',
    template: 'manifests/alp/istio-inject-configmap-{version}.yaml',
    templateVersions: ['1.1.0 to 1.1.17', '1.2.0 to 1.2.9', '1.3.0 to 1.3.5', '1.4.0 to 1.4.2', '1.6', '1.7', '1.9', '1.10', '1.15'],
  },
  tierRename: {
    since: 'v3.32.0',
    from: 'allow-tigera',
    to: 'calico-system',
    others: ['default', 'kube-admin', 'kube-baseline', 'adminnetworkpolicy', 'baselineadminnetworkpolicy'],
  },
  registryMove: { since: 'v3.31.0', from: 'docker.io/calico', to: 'quay.io/calico' },
  flexvolUntil: 'v3.23',
  // Felix serves the health check of kube-proxy (calico#11264).
  agentPorts: [{ port: 10256, since: 'v3.31.0', ebpf: true }],
  procedures: calicoProcedures,
  ipam: {
    plugin: 'calico-ipam',
    blocks: { kind: 'IPAMBlock', plural: 'ipamblocks' },
    affinities: { kind: 'BlockAffinity', plural: 'blockaffinities' },
    handles: { kind: 'IPAMHandle', plural: 'ipamhandles' },
    ownAddresses: 'cni.projectcalico.org/ipAddrsNoIpam',
  },
  chainedPlugins: commonChainedPlugins,
  defects: calicoDefects,
  changes: calicoChanges,
};
