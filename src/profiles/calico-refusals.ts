import type { DefaultValue, FieldRule, Finding, Refusal } from '../kernel/refusal.ts';

const PROVIDER = '/kubernetesProvider';
const CNI = '/cni/type';
const IPAM = '/cni/ipam/type';
const NETWORK = '/calicoNetwork';
const POOLS = `${NETWORK}/ipPools`;
const BGP = `${NETWORK}/bgp`;
const DATA_PLANE = `${NETWORK}/linuxDataplane`;
const WINDOWS = `${NETWORK}/windowsDataplane`;

const is = (field: string, ...oneOf: readonly string[]): FieldRule => ({ field, oneOf });
const isNot = (field: string, ...noneOf: readonly string[]): FieldRule => ({ field, noneOf });
const isSet = (field: string): FieldRule => ({ field });
const v4: FieldRule = { field: 'cidr', network: 'v4' };
const v6: FieldRule = { field: 'cidr', network: 'v6' };
const ipip = is('encapsulation', 'IPIP', 'IPIPCrossSubnet');
const vxlan = is('encapsulation', 'VXLAN', 'VXLANCrossSubnet');
const plain = is('encapsulation', 'None');
const ofCalico = is(CNI, 'Calico');
const notOfCalico = isNot(CNI, 'Calico');

const SERVICE_ENDPOINT = { configMap: 'kubernetes-services-endpoint', namespace: 'tigera-operator' };

/** The provider as `AutoDiscoverProvider` finds it, as far as CRDs and ConfigMaps tell; the first that is there. */
export const calicoFindings: readonly Finding[] = [
  { name: 'provider', value: 'OpenShift', crd: 'clusterversions.config.openshift.io' },
  { name: 'provider', value: 'EKS', configMap: 'aws-auth', namespace: 'kube-system' },
  { name: 'provider', value: 'EKS', configMap: 'eks-certificates-controller', namespace: 'kube-system' },
  { name: 'provider', value: 'RKE2', configMap: 'rke2', namespace: 'kube-system' },
  { name: 'amazonNode', value: 'aws-node', workload: 'DaemonSet/kube-system/aws-node' },
  { name: 'endpointHost', ...SERVICE_ENDPOINT, key: 'KUBERNETES_SERVICE_HOST' },
  { name: 'endpointPort', ...SERVICE_ENDPOINT, key: 'KUBERNETES_SERVICE_PORT' },
  { name: 'activeOperator', configMap: 'active-operator', namespace: 'calico-system', key: 'active-namespace' },
];

const inPools = (rows: readonly Omit<DefaultValue, 'items'>[]) => rows.map((row) => ({ ...row, items: POOLS }));

/** `MergeAndFillDefaults` of the operator, and what its controller of pools fills in; only what a refusal looks at. */
export const calicoDefaults: readonly DefaultValue[] = [
  ...['OpenShift', 'EKS', 'RKE2'].map((value) => ({ field: PROVIDER, value, when: [is('/found/provider', value)] })),
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

const cniRefusals: readonly Refusal[] = [
  {
    ...{ since: 'v3.16.0', says: "invalid value '{/cni/type}' for spec.cni.type, it should be one of Calico,GKE,AmazonVPC,AzureVNET" },
    when: [isNot(CNI, 'Calico', 'GKE', 'AmazonVPC', 'AzureVNET')],
  },
  ...(
    [
      ['Calico', ['Calico', 'HostLocal'], undefined],
      ['GKE', ['HostLocal'], 'GKE'],
      ['AmazonVPC', ['AmazonVPC'], 'EKS'],
      ['AzureVNET', ['AzureVNET'], 'AKS'],
    ] as const
  ).flatMap(([plugin, ipam, provider]): readonly Refusal[] => [
    {
      since: 'v3.17.0',
      says: `spec.cni.ipam.type {/cni/ipam/type} is not compatible with spec.cni.type ${plugin}, valid IPAM values ${ipam.join(',')}`,
      when: [is(CNI, plugin), isNot(IPAM, ...ipam)],
    },
    ...(provider === undefined
      ? []
      : [
          {
            since: 'v3.16.0',
            says: `spec.kubernetesProvider {/kubernetesProvider} is not compatible with spec.cni.type ${plugin}`,
            when: [is(CNI, plugin), isSet(PROVIDER), isNot(PROVIDER, provider)],
          },
        ]),
  ]),
  {
    ...{ since: 'v3.26.0', says: 'spec.loggingConfig.cni.logFileMaxCount value should be greater than zero' },
    when: [ofCalico, { field: '/logging/cni/logFileMaxCount', below: 1 }],
  },
  {
    ...{ since: 'v3.26.0', says: 'spec.Logging.cni.logFileMaxSize format is not corrent. Suffix should be Ki | Mi | Gi | Ti | Pi | Ei' },
    when: [ofCalico, { field: '/logging/cni/logFileMaxSize', unlike: '^\\+?(?=.*[1-9])[0-9.]+[KMGTPE]i$' }],
  },
  {
    ...{ since: 'v3.26.0', says: 'spec.Logging.cni.logFileMaxAgeDays should be a positive non-zero integer' },
    when: [ofCalico, { field: '/logging/cni/logFileMaxAgeDays', below: 1 }],
  },
  {
    since: 'v3.26.0',
    says: 'installation spec.Logging.cni is not valid and should not be provided when spec.cni.type is Not Calico',
    when: [notOfCalico, isSet('/logging/cni')],
  },
];

const ofPools = (rows: readonly Omit<Refusal, 'items'>[]): readonly Refusal[] => rows.map((row) => ({ ...row, items: POOLS }));

/** Up to v3.27 only the first pool of IPv4 was looked at in many of them. */
const poolRefusals = ofPools([
  {
    ...{ since: 'v3.15.0', says: 'IPIP encapsulation is not supported by IPv6 pools, but it is set for {cidr}' },
    when: [v6, ipip],
  },
  ...(
    [
      ['IPIP encapsulation requires', ipip],
      ['unencapsulated IP pools require', plain],
    ] as const
  ).flatMap(([what, encapsulation]) =>
    [
      { since: 'v3.16.0', family: v4 },
      { since: 'v3.28.0', family: v6 },
    ].map(({ since, family }) => ({
      since,
      says: `with BIRD cluster routing mode, ${what} that BGP is enabled`,
      when: [ofCalico, is(IPAM, 'Calico'), family, encapsulation, is(BGP, 'Disabled'), isNot(`${NETWORK}/clusterRoutingMode`, 'Felix')],
    })),
  ),
  {
    ...{ since: 'v3.19.0', says: '{encapsulation} is invalid for ipPool.encapsulation with {/cni/type} CNI and {/cni/ipam/type} IPAM' },
    when: [ofCalico, is(IPAM, 'HostLocal'), vxlan],
  },
  {
    ...{ since: 'v3.17.0', says: '{encapsulation} is invalid for ipPool.encapsulation when using non-Calico CNI, should be None' },
    when: [notOfCalico, isNot('encapsulation', 'None')],
  },
  { since: 'v3.17.0', says: 'BGP is not supported when using non-Calico CNI', when: [notOfCalico, is(BGP, 'Enabled')] },
  {
    ...{ since: 'v3.17.0', says: "IP pool nodeSelector ({nodeSelector}) should be 'all()' when using non-Calico CNI plugin" },
    when: [notOfCalico, isNot('nodeSelector', 'all()')],
  },
  { since: 'v3.15.0', says: 'IP pool CIDR ({cidr}) is invalid', when: [{ field: 'cidr', network: 'invalid' }] },
  { since: 'v3.28.0', says: 'IP pool {cidr} is specified more than once', when: [{ field: 'cidr', repeated: true }] },
  { since: 'v3.28.0', says: 'IP pool {name} is specified more than once', when: [{ field: 'name', repeated: true }] },
  ...(
    [
      ['IPv4', v4, 20, 32],
      ['IPv6', v6, 116, 128],
    ] as const
  ).flatMap(([family, ofFamily, least, most]) => {
    const says = `${family} pool block size must be greater than ${least - 1} and less than or equal to ${most}`;
    return [{ below: least }, { above: most }].map((bound) => ({
      ...{ since: 'v3.15.0', says },
      when: [ofFamily, { field: 'blockSize', ...bound }],
    }));
  }),
  {
    ...{ since: 'v3.15.0', says: 'IP pool size is too small. It must be equal to or greater than the block size' },
    when: [{ field: 'cidr', smallerThan: 'blockSize' }],
  },
  ...(
    [
      ['IP pool {name} AllowedUse LoadBalancer cannot be used with Workload/Tunnel', is('allowedUses', 'Workload', 'Tunnel')],
      ['IP pool nodeSelector should be set to all() if allowedUse is LoadBalancer', isNot('nodeSelector', 'all()')],
      ['IP pool encapsulation must be none if allowedUse is LoadBalancer', isNot('encapsulation', 'None')],
      ['IP pool disable bgp export must be false when AllowedUse is LoadBalancer', is('disableBGPExport', 'true')],
    ] as const
  ).map(([says, rule]) => ({ since: 'v3.30.0', says, when: [is('allowedUses', 'LoadBalancer'), rule] })),
]);

const networkRefusals: readonly Refusal[] = [
  ...(
    [
      ['the VPP dataplane only supports the Calico variant (configured: {/variant})', isNot('/variant', 'Calico')],
      ['the VPP dataplane only supports the Calico CNI (configured: {/cni/type})', notOfCalico],
      ['VPP requires BGP to be enabled', is(BGP, 'Disabled')],
      ["VPP doesn't support disabling HostPorts", is(`${NETWORK}/hostPorts`, 'Disabled')],
    ] as const
  ).map(([says, rule]) => ({ since: 'v3.22.0', says, when: [is(DATA_PLANE, 'VPP'), rule] })),
  ...['nodeAddressAutodetectionV4', 'nodeAddressAutodetectionV6'].flatMap((field): readonly Refusal[] => [
    {
      since: 'v3.15.0',
      says: 'no more than one node address autodetection method can be specified per-family',
      when: [{ field: `${NETWORK}/${field}`, several: ['interface', 'skipInterface', 'canReach', 'firstFound', 'cidrs', 'kubernetes'] }],
    },
    {
      ...{ since: 'v3.16.0', says: 'invalid CIDR provided for node address autodetection: {}' },
      items: `${NETWORK}/${field}/cidrs`,
      when: [{ field: '', network: 'invalid' }],
    },
  ]),
  {
    since: 'v3.16.0',
    says: 'spec.calicoNetwork.hostPorts is supported only for Calico CNI',
    when: [notOfCalico, is(`${NETWORK}/hostPorts`, 'Enabled')],
  },
  {
    since: 'v3.15.0',
    says: '{/calicoNetwork/hostPorts} is invalid for HostPorts, it should be one of Enabled,Disabled',
    when: [isSet(`${NETWORK}/hostPorts`), isNot(`${NETWORK}/hostPorts`, 'Enabled', 'Disabled')],
  },
  ...(
    [
      ['v3.16.0', 'multiInterfaceMode'],
      ['v3.17.0', 'containerIPForwarding'],
    ] as const
  ).map(([since, field]) => ({
    ...{ since, says: `spec.calicoNetwork.${field} is supported only for Calico CNI` },
    when: [notOfCalico, isSet(`${NETWORK}/${field}`)],
  })),
  {
    ...{ since: 'v3.28.0', says: 'key {key} is not allowed in spec.calicoNetwork.sysctl', items: `${NETWORK}/sysctl` },
    when: [isNot('key', ...['intvl', 'probes', 'time'].map((name) => `net.ipv4.tcp_keepalive_${name}`))],
  },
  {
    since: 'v3.28.0',
    says: 'spec.calicoNetwork.linuxPolicySetupTimeoutSeconds negative value is not valid',
    when: [{ field: `${NETWORK}/linuxPolicySetupTimeoutSeconds`, below: 0 }],
  },
  {
    since: 'v3.28.0',
    says: 'spec.calicoNetwork.linuxPolicySetupTimeoutSeconds is supported only for the Iptables, Nftables and BPF Linux dataplanes',
    when: [isSet(`${NETWORK}/linuxPolicySetupTimeoutSeconds`), isNot(DATA_PLANE, 'Iptables', 'Nftables', 'BPF')],
  },
  {
    since: 'v3.31.0',
    says: 'bpfNetworkBootstrap is Enabled but the requirements are not met: bpfNetworkBootstrap is enabled but linuxDataplane is not set to BPF',
    when: [is(`${NETWORK}/bpfNetworkBootstrap`, 'Enabled'), isNot(DATA_PLANE, 'BPF')],
  },
  {
    since: 'v3.31.0',
    says: 'bpfNetworkBootstrap is Enabled but the requirements are not met: kubernetes service endpoint is defined by the kubernetes-service-endpoints ConfigMap',
    when: [is(`${NETWORK}/bpfNetworkBootstrap`, 'Enabled'), isSet('/found/endpointHost'), isSet('/found/endpointPort')],
  },
];

const windowsRefusals: readonly Refusal[] = [
  ...['endpointHost', 'endpointPort'].map((field) => ({
    since: 'v3.27.0',
    says: "services endpoint configmap 'kubernetes-services-endpoint' does not have all required information for Calico Windows daemonset configuration",
    when: [isNot(WINDOWS, 'Disabled'), { field: `/found/${field}`, absent: true }],
  })),
  {
    since: 'v3.27.0',
    says: 'installation spec.ServiceCIDRs must be provided when using Calico CNI on Windows',
    when: [isNot(WINDOWS, 'Disabled'), ofCalico, { field: '/serviceCIDRs', absent: true }],
  },
  {
    since: 'v3.27.0',
    says: 'IPv4 IPPool encapsulation {encapsulation} is not supported by Calico for Windows',
    items: POOLS,
    when: [isNot(WINDOWS, 'Disabled'), ofCalico, v4, isNot('encapsulation', 'VXLAN', 'None')],
  },
  {
    since: 'v3.27.0',
    says: 'installation spec.WindowsNodes is not valid and should not be provided when Calico for Windows is disabled',
    when: [is(WINDOWS, 'Disabled'), isSet('/windowsNodes')],
  },
];

const RESOURCES = '/spec/template/spec';
const overridden = ['calicoNodeDaemonSet', 'calicoNodeWindowsDaemonSet', 'calicoKubeControllersDeployment', 'typhaDeployment'].concat(
  'csiNodeDriverDaemonSet',
);

/** What Kubernetes refuses in a pod template, which the operator looks at before it makes one. */
const overrideRefusals: readonly Refusal[] = overridden.flatMap((name) => {
  const because = `installation spec.${name.charAt(0).toUpperCase()}${name.slice(1)} is not valid: spec.Template.Spec.`;
  const tolerations = { since: 'v3.24.0', items: `/${name}${RESOURCES}/tolerations` };
  const spread = { since: 'v3.25.0', items: `/${name}${RESOURCES}/topologySpreadConstraints` };
  const invalid = (row: Pick<Refusal, 'since' | 'items'>, says: string, ...when: readonly FieldRule[]): Refusal => ({
    ...row,
    says: `${because}${says}`,
    when,
  });
  return [
    invalid(
      tolerations,
      'Tolerations is invalid: operator must be Exists when `key` is empty',
      { field: 'key', absent: true },
      isNot('operator', 'Exists'),
    ),
    invalid(tolerations, 'Tolerations is invalid: value must be empty when `operator` is Exists', is('operator', 'Exists'), isSet('value')),
    invalid(
      tolerations,
      'Tolerations is invalid: operator {operator} is not supported',
      isNot('operator', 'Exists', 'Equal'),
      isSet('operator'),
    ),
    invalid(
      tolerations,
      'Tolerations is invalid: effect {effect} is not supported',
      isSet('effect'),
      isNot('effect', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'),
    ),
    invalid(
      tolerations,
      'Tolerations is invalid: effect must be NoExecute when `tolerationSeconds` is set',
      isSet('tolerationSeconds'),
      isNot('effect', 'NoExecute'),
    ),
    invalid(spread, 'TopologySpreadConstraints is invalid: maxSkew must be greater than zero', { field: 'maxSkew', below: 1 }),
    invalid(spread, 'TopologySpreadConstraints is invalid: topologyKey can not be empty', { field: 'topologyKey', absent: true }),
    invalid(
      spread,
      'TopologySpreadConstraints is invalid: whenUnsatisfiable {whenUnsatisfiable} is not supported',
      isNot('whenUnsatisfiable', 'DoNotSchedule', 'ScheduleAnyway'),
    ),
    invalid({ since: 'v3.25.0' }, 'TerminationGracePeriodSeconds is invalid: cannot be negative', {
      field: `/${name}${RESOURCES}/terminationGracePeriodSeconds`,
      below: 0,
    }),
    {
      since: 'v3.24.0',
      says: `${because.slice(0, -'Template.Spec.'.length)}MinReadySeconds must be greater than or equal to 0`,
      when: [{ field: `/${name}/spec/minReadySeconds`, below: 0 }],
    },
  ];
});

/**
 * `validateCustomResource` and `ValidatePools` of operator v1.42.3, and what its controllers refuse besides; each since the release whose
 * operator had it first (domain §11.3).
 */
export const calicoRefusals: readonly Refusal[] = [
  {
    since: 'v3.15.0',
    says: "installation spec.kubernetesProvider '{/kubernetesProvider}' does not match auto-detected value '{/found/provider}'",
    when: [isSet('/found/provider'), { field: PROVIDER, differsFrom: '/found/provider' }],
  },
  {
    since: 'v3.21.0',
    says: 'Exiting because this operator is not designated active: ConfigMap active-operator names namespace {/found/activeOperator}',
    when: [isSet('/found/activeOperator'), { field: '/found/operatorNamespace', differsFrom: '/found/activeOperator' }],
  },
  ...cniRefusals,
  ...poolRefusals,
  ...networkRefusals,
  ...[
    { since: 'v3.15.0', field: 'flexVolumePath', says: "installation spec.FlexVolumePath '{/flexVolumePath}' is not an absolute path" },
    {
      since: 'v3.24.0',
      field: 'kubeletVolumePluginPath',
      says: "installation spec.KubeletVolumePluginPath '{/kubeletVolumePluginPath}' is not an absolute path",
    },
  ].map(({ field, ...row }) => ({ ...row, when: [isNot(`/${field}`, 'None'), { field: `/${field}`, unlike: '^/' }] })),
  {
    since: 'v3.15.0',
    says: "installation spec.NodeUpdateStrategy.type '{/nodeUpdateStrategy/type}' is not supported",
    when: [isSet('/nodeUpdateStrategy/type'), isNot('/nodeUpdateStrategy/type', 'RollingUpdate')],
  },
  ...['beta.kubernetes.io~1os', 'kubernetes.io~1os'].map((key) => ({
    since: 'v3.17.0',
    says: `installation spec.ControlPlaneNodeSelector '${key.replace('~1', '/')}={/controlPlaneNodeSelector/${key}}' is not supported`,
    when: [isSet(`/controlPlaneNodeSelector/${key}`), isNot(`/controlPlaneNodeSelector/${key}`, 'linux')],
  })),
  {
    since: 'v3.21.0',
    says: 'installation spec.ControlPlaneReplicas should be greater than 0',
    when: [{ field: '/controlPlaneReplicas', below: 1 }],
  },
  {
    ...{ since: 'v3.19.0', says: 'installation spec.ComponentResources.ComponentName {componentName} is not supported' },
    items: '/componentResources',
    when: [isNot('componentName', 'KubeControllers', 'Node', 'Typha')],
  },
  {
    since: 'v3.32.0',
    says: 'non-privileged Calico is deprecated and cannot be Enabled; please, remove this field from your installation spec',
    when: [is('/nonPrivileged', 'Enabled')],
  },
  {
    since: 'v3.31.0',
    says: 'init container names mount-bpffs and ebpf-bootstrap are mutually exclusive, please remove one of them',
    when: ['mount-bpffs', 'ebpf-bootstrap'].map((name) => is('/calicoNodeDaemonSet/spec/template/spec/initContainers/name', name)),
  },
  ...windowsRefusals,
  ...overrideRefusals,
  {
    since: 'v3.30.0',
    says: 'installation spec.Azure should be set only for AKS provider',
    when: [isSet('/azure'), isNot(PROVIDER, 'AKS')],
  },
];
