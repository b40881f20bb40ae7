import type { Profile, Sign, Variant } from '../kernel/profile.ts';
import type { WorkloadName } from '../kernel/rollout.ts';
import { commonPlatforms } from './platforms.ts';

/** READY as the document gives it: 2/2 with the API datastore, 1/2 in key-value mode, controllers 1/1 (§3). */
function agentOf(name: string, ready: string, namespace = 'kube-system'): WorkloadName {
  return { kind: 'DaemonSet', namespace, name, container: 'netsvc-node', ready: { type: 'literal', ready } };
}

function controllersOf(namespace = 'kube-system'): WorkloadName {
  const name = 'netsvc-kube-controllers';
  return { kind: 'Deployment', namespace, name, container: name, ready: { type: 'literal', ready: '1/1' } };
}

function variantOf(id: string, title: string, datastore: Variant['datastore'], agent: string, ...signs: readonly Sign[]): Variant {
  const workloads = { agent: agentOf(agent, datastore === 'api' ? '2/2' : '1/2'), controllers: controllersOf() };
  return { id, title, file: `${id}.yaml`, datastore, ...workloads, configMap: 'netsvc-config', signs };
}

const backend = { type: 'env', name: 'NETWORKING_BACKEND' } as const;
const endpoints: Sign = { type: 'configMapKey', key: 'kvstore_endpoints' };
const overlay: Sign = { type: 'container', name: 'overlay' };

const netsvcVariants: readonly Variant[] = [
  variantOf('netsvc', 'policy and networking', 'api', 'netsvc-node', { ...backend, noneOf: ['none'] }),
  variantOf('netsvc-overlay', 'policy with overlay networking', 'api', 'netsvc-overlay', overlay),
  variantOf('netsvc-policy-only', 'policy only', 'api', 'netsvc-node', { ...backend, oneOf: ['none'] }),
  variantOf('netsvc-kvstore', 'policy and networking, key-value datastore', 'kvstore', 'netsvc-node', endpoints),
  variantOf(
    'netsvc-overlay-kvstore',
    'policy with overlay networking, key-value datastore',
    'kvstore',
    'netsvc-overlay',
    endpoints,
    overlay,
  ),
];

/** The service by the procedure's own names. Facts that the document does not have (Typha, policy renaming) are left out. */
export const netsvc: Profile = {
  name: 'netsvc',
  title: 'Cluster networking and policy service',
  apiGroup: 'netsvc.io',
  crdGroup: 'crd.netsvc.io',
  operatorGroup: 'operator.netsvc.io',
  defaultRelease: 'v3.32.2',
  minimumSource: 'v3.15.0',
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
  operator: {
    namespace: 'netsvc-operator',
    deployment: 'netsvc-operator',
    installationKind: { group: 'operator.netsvc.io', version: 'v1', plural: 'installations', kind: 'Installation' },
    workloadNamespace: 'netsvc-system',
    file: 'netsvc-operator.yaml',
    chart: 'netsvc-operator',
    chartNames: { manageCrds: 'manageCRDs', pins: [], additions: [] },
    releases: {},
    agent: agentOf('netsvc-node', '2/2', 'netsvc-system'),
    controllers: controllersOf('netsvc-system'),
    labels: { 'k8s-app': 'netsvc-operator', name: 'netsvc-operator' },
    statusVersionField: 'netsvcVersion',
  },
  crdFile: 'v1_crd_netsvc_io.yaml',
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
  cniInstaller: 'install-cni',
  clusterInformation: {
    plural: 'clusterinformations',
    kind: 'ClusterInformation',
    name: 'default',
    versionField: 'netsvcVersion',
    guidField: 'clusterGUID',
  },
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
  uidChanges: ['v3.28.0'],
  leftovers: { containers: [], env: [], volumes: [] },
  merge: { commaLists: ['ENABLED_CONTROLLERS', 'CLUSTER_TYPE'], renames: [] },
  removedKinds: [],
  kubernetes: { floor: '1.21', tested: ['1.34', '1.35', '1.36'] },
  labels: { createdBy: 'netsvc.io/created-by', createdByValue: 'netsvc-kube-controllers', autoHepSuffix: '-auto-hep' },
  allowAllProfile: 'netsvc-default-allow',
  automaticEndpointsEnv: 'AUTO_HOST_ENDPOINTS',
  temporaryPolicy: 'allow-all-upgrade',
  controllersConfiguration: { plural: 'kubecontrollersconfigurations', kind: 'KubeControllersConfiguration', name: 'default' },
  sidecar: {
    container: 'policy-sidecar',
    injectorNamespace: 'istio-system',
    injectorConfigMap: 'istio-sidecar-injector',
    syncEnv: 'NETSVC_POLICYSYNCPATHPREFIX',
    flexDriver: 'nodeagent/uds',
    meshImage: 'pilot',
    template: 'manifests/alp/mesh-inject-configmap-{version}.yaml',
    templateVersions: [],
  },
};
