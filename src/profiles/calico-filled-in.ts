import type { DefaultValue, Finding } from '../kernel/refusal.ts';
import { BGP, CNI, DATA_PLANE, IPAM, is, isSet, ofCalico, POOLS, PROVIDER, v4, v6, WINDOWS } from './refusal-rules.ts';

const SERVICE_ENDPOINT = { configMap: 'kubernetes-services-endpoint', namespace: 'tigera-operator' };

const BGP_LAYOUT = { configMap: 'bgp-layout', namespace: 'tigera-operator' };
const GKE_GROUP = 'networking.gke.io';

/** The provider as `AutoDiscoverProvider` finds it, but for kind, which the whole node tells alone; the first that is there. */
export const calicoFindings: readonly Finding[] = [
  { name: 'provider', value: 'GKE', crdGroup: GKE_GROUP, nodeLabel: 'cloud.google.com/gke-' },
  { name: 'provider', value: 'TKG', crdGroup: 'core.tanzu.vmware.com' },
  { name: 'provider', value: 'OpenShift', crd: 'clusterversions.config.openshift.io' },
  { name: 'provider', value: 'DockerEE', nodeLabel: 'com.docker.ucp', beside: 'node-role.kubernetes.io/master' },
  { name: 'provider', value: 'EKS', configMap: 'aws-auth', namespace: 'kube-system' },
  { name: 'provider', value: 'EKS', configMap: 'eks-certificates-controller', namespace: 'kube-system' },
  { name: 'provider', value: 'EKS', service: 'kube-dns', namespace: 'kube-system', label: 'eks.amazonaws.com/component' },
  { name: 'provider', value: 'RKE2', configMap: 'rke2', namespace: 'kube-system' },
  { name: 'provider', value: 'RKE2', service: 'rke2-coredns-rke2-coredns', namespace: 'kube-system' },
  // By the group alone operators before v1.42.2 found GKE.
  { name: 'gkeGroup', value: GKE_GROUP, crdGroup: GKE_GROUP },
  { name: 'amazonNode', value: 'aws-node', workload: 'DaemonSet/kube-system/aws-node' },
  { name: 'endpoint', value: SERVICE_ENDPOINT.configMap, ...SERVICE_ENDPOINT },
  { name: 'bgpLayout', value: BGP_LAYOUT.configMap, ...BGP_LAYOUT },
  { name: 'bgpLayoutText', ...BGP_LAYOUT, key: 'earlyNetworkConfiguration' },
  { name: 'endpointHost', ...SERVICE_ENDPOINT, key: 'KUBERNETES_SERVICE_HOST' },
  { name: 'endpointPort', ...SERVICE_ENDPOINT, key: 'KUBERNETES_SERVICE_PORT' },
  { name: 'activeOperator', configMap: 'active-operator', namespace: 'calico-system', key: 'active-namespace' },
];

const inPools = (rows: readonly Omit<DefaultValue, 'items'>[]) => rows.map((row) => ({ ...row, items: POOLS }));

/** `MergeAndFillDefaults` of the operator, and what its controller of pools fills in; only what a refusal looks at. */
export const calicoDefaults: readonly DefaultValue[] = [
  ...['GKE', 'TKG', 'OpenShift', 'DockerEE', 'EKS', 'RKE2'].map((value) => ({
    field: PROVIDER,
    value,
    when: [is('/found/provider', value)],
  })),
  { field: '/variant', value: 'Calico' },
  { field: CNI, value: 'AmazonVPC', when: [isSet('/found/amazonNode')] },
  { field: CNI, value: 'AzureVNET', when: [is(PROVIDER, 'AKS')] },
  { field: CNI, value: 'AmazonVPC', when: [is(PROVIDER, 'EKS')] },
  { field: CNI, value: 'GKE', when: [is(PROVIDER, 'GKE')] },
  { field: CNI, value: 'Calico' },
  ...['AzureVNET', 'AmazonVPC'].map((value) => ({ field: IPAM, value, when: [is(CNI, value)] })),
  { field: IPAM, value: 'HostLocal', when: [is(CNI, 'GKE')] },
  { field: IPAM, value: 'Calico' },
  { field: DATA_PLANE, value: 'Iptables' },
  { field: WINDOWS, value: 'Disabled' },
  { field: BGP, value: 'Disabled', when: [is(PROVIDER, 'EKS')] },
  { field: BGP, value: 'Enabled', when: [ofCalico] },
  { field: BGP, value: 'Disabled' },
  ...inPools([
    { field: 'encapsulation', value: 'IPIP', when: [v4, ofCalico] },
    { field: 'encapsulation', value: 'None' },
    { field: 'nodeSelector', value: 'all()' },
    { field: 'blockSize', value: 26, when: [v4] },
    { field: 'blockSize', value: 122, when: [v6] },
  ]),
];
