import type { Profile, Sign, Variant } from '../kernel/profile.ts';
import type { WorkloadName } from '../kernel/rollout.ts';
import { commonChainedPlugins, commonPlatforms } from './platforms.ts';

/** READY as the document gives it: 2/2 with the API datastore, 1/2 in key-value mode, controllers 1/1 (§3). */
function agentOf(ready: string, namespace = 'kube-system'): WorkloadName {
  const name = 'netsvc-node';
  return { kind: 'DaemonSet', namespace, name, container: name, ready: { type: 'literal', ready } };
}

function controllersOf(namespace = 'kube-system'): WorkloadName {
  const name = 'netsvc-kube-controllers';
  return { kind: 'Deployment', namespace, name, container: name, ready: { type: 'literal', ready: '1/1' } };
}

function variantOf(id: string, title: string, datastore: Variant['datastore'], ...signs: readonly Sign[]): Variant {
  const workloads = { agent: agentOf(datastore === 'api' ? '2/2' : '1/2'), controllers: controllersOf() };
  return { id, title, file: `${id}.yaml`, datastore, ...workloads, configMap: 'netsvc-config', signs };
}

// Ours: the variable and its values, and the name of the container that is the overlay.
const backend = { type: 'env', name: 'NETWORKING_BACKEND' } as const;
const overlay: Sign = { type: 'container', name: 'overlay' };
const noOverlay: readonly Sign[] = [
  { ...backend, noneOf: ['overlay'] },
  { ...overlay, absent: true },
];
const endpoints: Sign = { type: 'configMapKey', key: 'kvstore_endpoints' };

/** Agents have one name in all of them (§2): the overlay is found by its own container. Ours: the files of the overlay variants. */
const netsvcVariants: readonly Variant[] = [
  variantOf('netsvc', 'policy and networking', 'api', { ...backend, noneOf: ['none'] }, ...noOverlay),
  variantOf('netsvc-overlay', 'policy with overlay networking', 'api', overlay),
  variantOf('netsvc-policy-only', 'policy only', 'api', { ...backend, oneOf: ['none'] }, ...noOverlay),
  variantOf('netsvc-kvstore', 'policy and networking, key-value datastore', 'kvstore', endpoints, ...noOverlay),
  variantOf('netsvc-overlay-kvstore', 'policy with overlay networking, key-value datastore', 'kvstore', endpoints, overlay),
];

/** What the procedure upgrades to; Calico's releases do not move it. */
const NEWEST = 'v3.32.2';

/**
 * The service by the procedure's own names. Facts that the document does not have (Typha, policy renaming) are left out. What follows a
 * comment `Ours` is not named there, and is what this project made up for it.
 */
export const netsvc: Profile = {
  name: 'netsvc',
  title: 'Cluster networking and policy service',
  short: 'Cluster networking and policy service',
  apiGroup: 'netsvc.io',
  crdGroup: 'crd.netsvc.io',
  operatorGroup: 'operator.netsvc.io',
  defaultRelease: NEWEST,
  minimumSource: 'v3.15.0',
  // Ours: the registry and the images in it.
  registries: ['registry.netsvc.io/netsvc'],
  images: {
    agent: ['node'],
    cni: ['cni'],
    controllers: ['kube-controllers'],
    typha: [],
    apiserver: ['apiserver'],
    csi: ['csi'],
    operator: ['operator'],
    sidecar: ['policy-sidecar'],
  },
  variants: netsvcVariants,
  addOns: [],
  // Ours: namespaces, Deployment, labels, the Installation and its status. The kinds of the flow logs are the document's words for them.
  operator: {
    namespace: 'netsvc-operator',
    deployment: 'netsvc-operator',
    installationKind: { group: 'operator.netsvc.io', version: 'v1', plural: 'installations', kind: 'Installation' },
    workloadNamespace: 'netsvc-system',
    file: 'netsvc-operator.yaml',
    chart: 'netsvc-operator',
    chartNames: { manageCrds: 'manageCRDs', pins: [], additions: [] },
    releases: {},
    agent: agentOf('2/2', 'netsvc-system'),
    controllers: controllersOf('netsvc-system'),
    labels: { 'k8s-app': 'netsvc-operator', name: 'netsvc-operator' },
    statusVersionField: 'netsvcVersion',
    flowLogs: ['FlowLogAggregator', 'FlowUI'],
  },
  crdFile: 'v1_crd_netsvc_io.yaml',
  crdChart: 'crd.netsvc.io.v1',
  // Ours: the variables and their values, the placeholders and the keys in the store.
  datastore: {
    env: 'DATASTORE_TYPE',
    api: ['kubernetes'],
    kvstore: ['kvstore'],
    endpointsEnv: ['KVSTORE_ENDPOINTS'],
    endpointsKey: 'kvstore_endpoints',
    tlsKeys: [],
    secretKeys: [],
    placeholders: ['<KVSTORE_IP>', '<KVSTORE_PORT>'],
    resourcesKey: '/netsvc/resources/v3/netsvc.io',
    otherwise: 'api',
  },
  platforms: commonPlatforms,
  // Ours: this init container, and the fields of ClusterInformation.
  cniInstaller: 'install-cni',
  chainedPlugins: commonChainedPlugins,
  clusterInformation: {
    plural: 'clusterinformations',
    kind: 'ClusterInformation',
    name: 'default',
    versionField: 'netsvcVersion',
    guidField: 'clusterGUID',
  },
  // Ours: all but the name of the program.
  cli: {
    program: 'netsvcctl',
    kubectlPlugin: 'kubectl-netsvc',
    images: ['ctl'],
    artifact: 'bin/netsvcctl-{os}-{arch}',
    environment: ['DATASTORE_TYPE', 'KUBECONFIG', 'KVSTORE_ENDPOINTS'],
    configFile: '/etc/netsvc/netsvcctl.cfg',
    config: {
      apiVersion: 'netsvc.io/v3',
      kind: 'NetsvcAPIConfig',
      datastoreField: 'datastoreType',
      kubeconfigField: 'kubeconfig',
      endpointsField: 'kvstoreEndpoints',
      tlsFields: [],
    },
  },
  uidChange: 'v3.28.0',
  leftovers: { containers: [], env: [], volumes: [] },
  // Ours: the variables that are lists, the releases of Kubernetes, the profile of automatic endpoints and the variable against them.
  merge: { commaLists: ['ENABLED_CONTROLLERS', 'CLUSTER_TYPE'], renames: [] },
  removedKinds: [],
  testedLines: [{ line: 'v3.32', newest: NEWEST, hasSums: false, kubernetes: ['1.34', '1.36'], floor: '1.21' }],
  labels: { createdBy: 'netsvc.io/created-by', createdByValue: 'netsvc-kube-controllers', autoHepSuffix: '-auto-hep' },
  allowAllProfile: 'netsvc-default-allow',
  automaticEndpointsEnv: 'AUTO_HOST_ENDPOINTS',
  temporaryPolicy: 'allow-all-upgrade',
  controllersConfiguration: { plural: 'kubecontrollersconfigurations', kind: 'KubeControllersConfiguration', name: 'default' },
  // Ours: all but the file of the template.
  sidecar: {
    container: 'policy-sidecar',
    injectorNamespace: 'istio-system',
    injectorConfigMap: 'istio-sidecar-injector',
    syncEnv: 'NETSVC_POLICYSYNCPATHPREFIX',
    flexDriver: 'nodeagent/uds',
    meshImage: 'pilot',
    template: 'manifests/alp/istio-inject-configmap-{version}.yaml',
    templateVersions: [],
  },
};
