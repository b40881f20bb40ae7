import assert from 'node:assert/strict';
import { findingsOf, refusedSettings } from '../../../src/features/survey/refusals.ts';
import type { OperatorInput } from '../../../src/kernel/installation.ts';
import type { JsonMap } from '../../../src/kernel/json.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, found, node, object } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';

const API = 'operator.tigera.io/v1';
const crossings = calico.operator.crossings ?? assert.fail('no names');
const input = (spec: JsonMap, seen: JsonMap = {}, overlay?: JsonMap): OperatorInput => ({
  resource: object(API, 'Installation/default', { spec }),
  ...(overlay ? { overlay: object(API, 'Installation/overlay', { spec: overlay }) } : {}),
  found: seen,
});
const said = (one: OperatorInput, release = 'v3.32.1') => refusedSettings(one, crossings, release).map(({ says }) => says);
const network = (calicoNetwork: JsonMap, rest: JsonMap = {}) => ({ calicoNetwork, ...rest });
const pools = (...ipPools: readonly JsonMap[]) => network({ ipPools });
const other = (type: string, rest: JsonMap = {}) => ({ cni: { type }, ...rest });
const overriding = (name: string, template: JsonMap) => ({ [name]: { spec: { template: { spec: template } } } });

const rolling = (rollingUpdate: JsonMap) => ({ typhaDeployment: { spec: { strategy: { rollingUpdate } } } });
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const attracted = (affinity: JsonMap) => input(overriding('typhaDeployment', { affinity }));

/** What an operator of v3.32 takes, as charts, guides and operators of before have written it. */
const TAKEN: Readonly<Record<string, OperatorInput>> = {
  'nothing but the kind': input({}),
  'the pools of custom-resources.yaml': input(
    pools({ blockSize: 26, cidr: '192.168.0.0/16', encapsulation: 'VXLANCrossSubnet', natOutgoing: 'Enabled', nodeSelector: 'all()' }),
  ),
  'an Installation that an operator has filled in': input({
    ...{
      variant: 'Calico',
      controlPlaneReplicas: 2,
      flexVolumePath: '/usr/libexec/',
      kubeletVolumePluginPath: 'None',
      nonPrivileged: 'Disabled',
    },
    cni: { type: 'Calico', ipam: { type: 'Calico' }, binDir: '/opt/cni/bin', confDir: '/etc/cni/net.d' },
    logging: { cni: { logFileMaxAgeDays: 30, logFileMaxCount: 10, logFileMaxSize: '100Mi', logSeverity: 'Info' } },
    nodeUpdateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
    calicoNetwork: {
      ...{ bgp: 'Enabled', hostPorts: 'Enabled', linuxDataplane: 'Iptables', multiInterfaceMode: 'None', windowsDataplane: 'Disabled' },
      ...{ linuxPolicySetupTimeoutSeconds: 0, nodeAddressAutodetectionV4: { firstFound: true } },
      ipPools: [
        {
          name: 'default-ipv4-ippool',
          cidr: '192.168.0.0/16',
          encapsulation: 'IPIP',
          natOutgoing: 'Enabled',
          nodeSelector: 'all()',
          blockSize: 26,
        },
        { cidr: 'fd00::/108', encapsulation: 'None', natOutgoing: 'Disabled', blockSize: 122, disableBGPExport: false },
      ],
    },
  }),
  'policy alone beside the plugin of Amazon': input(other('AmazonVPC', { kubernetesProvider: 'EKS', calicoNetwork: { bgp: 'Disabled' } })),
  'an Installation of EKS that names nothing': input({ kubernetesProvider: 'EKS' }, { provider: 'EKS' }),
  'Calico on EKS': input(
    { kubernetesProvider: 'EKS', cni: { type: 'Calico' }, ...pools({ cidr: '172.16.0.0/16', encapsulation: 'VXLAN' }) },
    { provider: 'EKS' },
  ),
  'AKS with its own field': input({ kubernetesProvider: 'AKS', azure: { policyMode: 'Manual' } }),
  'pools without BGP by Felix': input(
    network({ bgp: 'Disabled', clusterRoutingMode: 'Felix', ipPools: [{ cidr: '10.0.0.0/16', encapsulation: 'None' }] }),
  ),
  'a pool for services': input(
    pools({ name: 'lb', cidr: '10.9.0.0/24', encapsulation: 'None', allowedUses: ['LoadBalancer'], natOutgoing: 'Disabled' }),
  ),
  'eBPF with its own bootstrap': input(network({ linuxDataplane: 'BPF', bpfNetworkBootstrap: 'Enabled' })),
  Windows: input(
    network(
      { windowsDataplane: 'HNS', ipPools: [{ cidr: '10.0.0.0/16', encapsulation: 'VXLAN' }] },
      { serviceCIDRs: ['10.96.0.0/12'], windowsNodes: {} },
    ),
    { endpointHost: '10.0.0.1', endpointPort: '6443' },
  ),
  'overrides of the agents': input(
    overriding('calicoNodeDaemonSet', {
      tolerations: [
        { operator: 'Exists' },
        { key: 'a', value: 'b', effect: 'NoSchedule' },
        { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 3 },
      ],
      initContainers: [{ name: 'mount-bpffs' }],
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
      terminationGracePeriodSeconds: 0,
      nodeSelector: { 'kubernetes.io/os': 'linux', 'node-role.kubernetes.io/worker': '' },
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: 'a', operator: 'In', values: ['b'] },
                  { key: 'c', operator: 'Exists' },
                  { key: 'node-role.kubernetes.io/worker', operator: 'In', values: [''] },
                  { key: 'd', operator: 'DoesNotExist', values: [] },
                ],
              },
            ],
          },
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 100, preference: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } },
          ],
        },
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { a: 'b' } } } },
          ],
        },
      },
    }),
  ),
  'labels and annotations of all kinds': input({
    calicoKubeControllersDeployment: {
      metadata: {
        labels: { 'app.kubernetes.io/part-of': 'net', a: '', b: 'X_y.z-1' },
        annotations: { 'example.com/Note_1': 'any text at all = fine', plain: '', 'Example.COM/Foo': 'x' },
      },
      spec: {
        template: { metadata: { labels: { team: 'a' }, annotations: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true' } } },
      },
    },
  }),
  'a strategy of Typha by numbers': input(rolling({ maxUnavailable: 1 })),
  'a strategy of Typha by percent': input(rolling({ maxUnavailable: '100%', maxSurge: 0 })),
  'a strategy of Typha that adds pods': input(rolling({ maxSurge: '25%' })),
  'a BGP layout with a key of nothing': input({}, { bgpLayout: 'bgp-layout', bgpLayoutText: '' }),
  'a BGP layout with its key': input({}, { bgpLayout: 'bgp-layout', bgpLayoutText: 'kind: EarlyNetworkConfiguration' }),
};

const TWICE = [
  { cidr: '10.0.0.0/16', name: 'a' },
  { cidr: '10.0.0.0/16', name: 'a' },
];
const lb = (change: JsonMap) =>
  input(pools({ name: 'lb', cidr: '10.9.0.0/24', encapsulation: 'None', allowedUses: ['LoadBalancer'], ...change }));

/** One Installation for each refusal, and the operator's words. */
const REFUSED: Readonly<Record<string, readonly [OperatorInput, ...RegExp[]]>> = {
  'a provider that is not the one it finds': [
    input({ kubernetesProvider: 'EKS' }, { provider: 'OpenShift' }),
    /'EKS' does not match auto-detected value 'OpenShift'/,
  ],
  'another active operator': [
    input({}, { activeOperator: 'old', operatorNamespace: 'tigera-operator' }),
    /not designated active.* namespace old/,
  ],
  'another plugin': [input(other('Cilium')), /^invalid value 'Cilium' for spec\.cni\.type/],
  'IPAM of Amazon for Calico': [
    input({ cni: { type: 'Calico', ipam: { type: 'AmazonVPC' } } }),
    /ipam\.type AmazonVPC is not compatible with spec\.cni\.type Calico/,
  ],
  'the plugin of GKE on EKS': [
    input(other('GKE', { kubernetesProvider: 'EKS' })),
    /^spec\.kubernetesProvider EKS is not compatible with spec\.cni\.type GKE/,
  ],
  'IPAM of Calico for GKE': [
    input({ cni: { type: 'GKE', ipam: { type: 'Calico' } } }),
    /ipam\.type Calico is not compatible with spec\.cni\.type GKE/,
  ],
  'the plugin of Amazon on GKE': [
    input(other('AmazonVPC', { kubernetesProvider: 'GKE' })),
    /GKE is not compatible with spec\.cni\.type AmazonVPC/,
  ],
  'the plugin of Azure on EKS': [
    input(other('AzureVNET', { kubernetesProvider: 'EKS' })),
    /EKS is not compatible with spec\.cni\.type AzureVNET/,
  ],
  'no log file': [input({ logging: { cni: { logFileMaxCount: 0 } } }), /logFileMaxCount value should be greater than zero/],
  'a size in decimals': [input({ logging: { cni: { logFileMaxSize: '100M' } } }), /logFileMaxSize format is not corrent/],
  'a size of nothing': [input({ logging: { cni: { logFileMaxSize: '0Mi' } } }), /logFileMaxSize format is not corrent/],
  'an age of nothing': [input({ logging: { cni: { logFileMaxAgeDays: 0 } } }), /logFileMaxAgeDays should be a positive/],
  'logging of another plugin': [input(other('AmazonVPC', { logging: { cni: {} } })), /Logging\.cni is not valid/],
  'IPIP of IPv6': [
    input(pools({ cidr: 'fd00::/108', encapsulation: 'IPIP' })),
    /^IPIP encapsulation is not supported by IPv6 pools, but it is set for fd00::\/108$/,
  ],
  'IPIP by default without BGP': [
    input(network({ bgp: 'Disabled', ipPools: [{ cidr: '10.0.0.0/16' }] })),
    /IPIP encapsulation requires that BGP is enabled/,
  ],
  'IPv6 as it is without BGP': [
    input(network({ bgp: 'Disabled', ipPools: [{ cidr: 'fd00::/108' }] })),
    /unencapsulated IP pools require that BGP is enabled/,
  ],
  'VXLAN of host-local': [
    input({ cni: { type: 'Calico', ipam: { type: 'HostLocal' } }, ...pools({ cidr: '10.0.0.0/16', encapsulation: 'VXLAN' }) }),
    /^VXLAN is invalid for ipPool\.encapsulation with Calico CNI and HostLocal IPAM$/,
  ],
  'VXLAN of another plugin': [
    input(other('AmazonVPC', pools({ cidr: '10.0.0.0/16', encapsulation: 'VXLAN' }))),
    /when using non-Calico CNI, should be None/,
  ],
  'BGP of another plugin': [
    input(other('AmazonVPC', network({ bgp: 'Enabled', ipPools: [{ cidr: '10.0.0.0/16' }] }))),
    /^BGP is not supported/,
  ],
  'nodes of another plugin': [
    input(other('GKE', pools({ cidr: '10.0.0.0/16', nodeSelector: "a == 'b'" }))),
    /nodeSelector \(a == 'b'\) should be 'all\(\)'/,
  ],
  'a pool that is no network': [input(pools({ cidr: '10.0.0/16' })), /^IP pool CIDR \(10\.0\.0\/16\) is invalid/],
  'a pool twice': [input(pools(...TWICE)), /^IP pool 10\.0\.0\.0\/16 is specified more than once/, /^IP pool a is specified/],
  'too large blocks': [input(pools({ cidr: '10.0.0.0/16', blockSize: 19 })), /^IPv4 pool block size must be greater than 19/],
  'too small blocks of IPv6': [input(pools({ cidr: 'fd00::/100', blockSize: 129 })), /^IPv6 pool block size/],
  'a pool smaller than its blocks': [input(pools({ cidr: '10.0.0.0/28' })), /^IP pool size is too small/],
  'services and pods in one pool': [
    lb({ allowedUses: ['LoadBalancer', 'Workload'] }),
    /^IP pool lb AllowedUse LoadBalancer cannot be used/,
  ],
  'services of some nodes': [lb({ nodeSelector: 'has(x)' }), /should be set to all\(\) if allowedUse/],
  'services with an encapsulation': [lb({ encapsulation: 'VXLAN' }), /encapsulation must be none/],
  'services that BGP does not export': [lb({ disableBGPExport: true }), /disable bgp export must be false/],
  'VPP without BGP': [
    input(network({ linuxDataplane: 'VPP', bgp: 'Disabled', hostPorts: 'Disabled' })),
    /^VPP requires BGP/,
    /disabling HostPorts/,
  ],
  'VPP of another plugin': [
    input(other('AmazonVPC', network({ linuxDataplane: 'VPP', bgp: 'Enabled' }))),
    /only supports the Calico CNI \(configured: AmazonVPC\)/,
  ],
  'two ways to find an address': [
    input(network({ nodeAddressAutodetectionV6: { canReach: '::1', firstFound: true } })),
    /no more than one node address/,
  ],
  'a network of nodes that is none': [
    input(network({ nodeAddressAutodetectionV4: { cidrs: ['10.0.0.0/8', '10/8'] } })),
    /autodetection: 10\/8$/,
  ],
  'host ports of another plugin': [input(other('GKE', network({ hostPorts: 'Enabled' }))), /hostPorts is supported only for Calico CNI/],
  'host ports of another word': [input(network({ hostPorts: 'Yes' })), /^Yes is invalid for HostPorts/],
  'interfaces of another plugin': [input(other('GKE', network({ multiInterfaceMode: 'None' }))), /multiInterfaceMode is supported only/],
  'forwarding of another plugin': [
    input(other('GKE', network({ containerIPForwarding: 'Enabled' }))),
    /containerIPForwarding is supported only/,
  ],
  'a sysctl': [input(network({ sysctl: [{ key: 'net.core.somaxconn', value: '1' }] })), /^key net\.core\.somaxconn is not allowed/],
  'less than no delay': [input(network({ linuxPolicySetupTimeoutSeconds: -1 })), /negative value is not valid/],
  'a delay of VPP': [
    input(network({ linuxDataplane: 'VPP', linuxPolicySetupTimeoutSeconds: 1 })),
    /supported only for the Iptables, Nftables and BPF/,
  ],
  'bootstrap without eBPF': [input(network({ bpfNetworkBootstrap: 'Enabled' })), /linuxDataplane is not set to BPF/],
  'bootstrap with an endpoint': [
    input(network({ linuxDataplane: 'BPF', bpfNetworkBootstrap: 'Enabled' }), { endpoint: 'kubernetes-services-endpoint' }),
    /defined by the kubernetes-service-endpoints ConfigMap/,
  ],
  'a folder that is none': [
    input({ flexVolumePath: 'x', kubeletVolumePluginPath: 'y' }),
    /FlexVolumePath 'x'/,
    /KubeletVolumePluginPath 'y'/,
  ],
  'agents replaced by hand': [input({ nodeUpdateStrategy: { type: 'OnDelete' } }), /NodeUpdateStrategy\.type 'OnDelete' is not supported/],
  'controllers on Windows': [
    input({ controlPlaneNodeSelector: { 'beta.kubernetes.io/os': 'windows', 'kubernetes.io/os': 'windows' } }),
    /'beta\.kubernetes\.io\/os=windows' is not/,
    /'kubernetes\.io\/os=windows' is not/,
  ],
  'no replica': [input({ controlPlaneReplicas: 0 }), /ControlPlaneReplicas should be greater than 0/],
  'resources of another component': [
    input({ componentResources: [{ componentName: 'NodeWindows' }] }),
    /ComponentName NodeWindows is not supported/,
  ],
  'agents without privileges': [input({ nonPrivileged: 'Enabled' }), /^non-privileged Calico is deprecated/],
  'two init containers': [
    input(overriding('calicoNodeDaemonSet', { initContainers: [{ name: 'mount-bpffs' }, { name: 'ebpf-bootstrap' }] })),
    /mutually exclusive/,
  ],
  'Windows without an endpoint': [
    input(network({ windowsDataplane: 'HNS' })),
    /services endpoint configmap 'kubernetes-services-endpoint'/,
    /ServiceCIDRs must be provided/,
  ],
  'Windows with IPIP': [
    input(network({ windowsDataplane: 'HNS', ipPools: [{ cidr: '10.0.0.0/16' }] }, { serviceCIDRs: ['10.96.0.0/12'] }), {
      endpointHost: 'a',
      endpointPort: '1',
    }),
    /^IPv4 IPPool encapsulation IPIP is not supported by Calico for Windows$/,
  ],
  'Windows nodes without Windows': [input({ windowsNodes: {} }), /WindowsNodes is not valid/],
  'Azure elsewhere': [input({ azure: { policyMode: 'Default' } }), /spec\.Azure should be set only for AKS/],
  'a toleration of nothing': [
    input(overriding('typhaDeployment', { tolerations: [{ value: 'a' }] })),
    /TyphaDeployment is not valid.*operator must be Exists/,
  ],
  'a toleration of another effect': [
    input(overriding('csiNodeDriverDaemonSet', { tolerations: [{ key: 'a', effect: 'Never', tolerationSeconds: 1 }] })),
    /effect Never is not supported/,
    /effect must be NoExecute/,
  ],
  'pods spread by nothing': [
    input(overriding('calicoKubeControllersDeployment', { topologySpreadConstraints: [{ maxSkew: 0, whenUnsatisfiable: 'Maybe' }] })),
    /maxSkew must be greater/,
    /topologyKey can not be empty/,
    /whenUnsatisfiable Maybe is not supported/,
  ],
  'a Typha of which none may be missing or more': [
    input(rolling({ maxSurge: 0, maxUnavailable: 0 })),
    /^installation spec\.TyphaDeployment is not valid: spec\.Strategy is invalid: maxUnavailable: may not be 0 when `maxSurge` is 0$/,
  ],
  'a strategy that says nothing': [input(rolling({})), /may not be 0/],
  'a strategy beyond all': [input(rolling({ maxUnavailable: '120%' })), /must not be greater than 100%/],
  'a strategy of no number': [input(rolling({ maxUnavailable: '1', maxSurge: -1 })), /maxSurge: Invalid value: -1/],
  'a strategy of no amount': [input(rolling({ maxUnavailable: 'half', maxSurge: 1 })), /maxUnavailable: Invalid value: half/],
  'weights that count nothing': [
    attracted({
      nodeAffinity: { [PREFERRED]: [{ weight: 0, preference: {} }] },
      podAffinity: { [PREFERRED]: [{ weight: 101, podAffinityTerm: { topologyKey: 'a' } }] },
    }),
    /Affinity is invalid: weight: Invalid value: 0: must be in the range 1-100$/,
    /Invalid value: 101/,
  ],
  'nodes by nothing': [attracted({ nodeAffinity: { [REQUIRED]: { nodeSelectorTerms: [] } } }), /must have at least one node selector term/],
  'nodes by half an expression': [
    attracted({
      nodeAffinity: {
        [REQUIRED]: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                { key: 'a', operator: 'In' },
                { key: 'b', operator: 'Exists', values: ['c'] },
                { key: 'd', operator: 'Like' },
              ],
            },
          ],
        },
      },
    }),
    /must be specified when `operator` is 'In' or 'NotIn'/,
    /may not be specified when `operator` is 'Exists' or 'DoesNotExist'/,
    /operator: Invalid value: Like: not a valid selector operator/,
  ],
  'nodes by a value where there may be none': [
    attracted({
      nodeAffinity: { [PREFERRED]: [{ weight: 1, preference: { matchExpressions: [{ key: 'b', operator: 'Exists', values: [''] }] } }] },
    }),
    /may not be specified when `operator` is 'Exists' or 'DoesNotExist'/,
  ],
  'nodes by none of no values': [
    attracted({
      nodeAffinity: { [PREFERRED]: [{ weight: 1, preference: { matchExpressions: [{ key: 'b', operator: 'In', values: [] }] } }] },
    }),
    /must be specified when `operator` is 'In' or 'NotIn'/,
  ],
  'pods apart by nothing': [
    attracted({ podAntiAffinity: { [REQUIRED]: [{ labelSelector: {} }] } }),
    /topologyKey: Required value: can not be empty/,
  ],
  'a label whose key is none': [
    input({ calicoNodeDaemonSet: { metadata: { labels: { 'a b': 'c' } } } }),
    /CalicoNodeDaemonSet is not valid: metadata is invalid: metadata\.labels/,
  ],
  'a label whose value is none': [input({ calicoNodeDaemonSet: { metadata: { labels: { a: 'b c' } } } }), /metadata\.labels/],
  'annotations and labels of pods whose keys are none': [
    input({
      typhaDeployment: {
        metadata: { annotations: { '/a': 'b' } },
        spec: { template: { metadata: { labels: { '-a': 'b' }, annotations: { 'a_b.com/b': 'c' } } } },
      },
    }),
    /metadata\.annotations/,
    /spec\.Template\.Metadata is invalid: metadata\.labels/,
    /spec\.Template\.Metadata is invalid: metadata\.annotations/,
  ],
  'nodes by a label that is none': [
    input(overriding('typhaDeployment', { nodeSelector: { 'a/b/c': 'd' } })),
    /spec\.Template\.Spec\.NodeSelector is invalid/,
  ],
  'a BGP layout without its key': [input({}, { bgpLayout: 'bgp-layout' }), /does not have earlyNetworkConfiguration key/],
  'what is laid over it': [input({}, {}, { nonPrivileged: 'Enabled' }), /^non-privileged Calico/],
};

describe('what the operator of the target refuses', () => {
  for (const [title, one] of Object.entries(TAKEN)) it(`is not ${title}`, () => assert.deepEqual(said(one), []));

  for (const [title, [one, ...words]] of Object.entries(REFUSED)) {
    it(`is ${title}`, () => {
      const all = said(one);
      for (const [index, word] of words.entries()) assert.match(all[index] ?? '', word, all.join('\n'));
      assert.equal(all.length, words.length, all.join('\n'));
    });
  }

  it('has an Installation here for every row of the profile', () => {
    const all = new Set(Object.values(REFUSED).flatMap(([one]) => said(one)));
    const unshown = crossings.refused.filter(({ says }) => {
      const words = new RegExp(
        `^${says
          .split(/\{[^}]*\}/)
          .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
          .join('.*')}$`,
      );
      return ![...all].some((one) => words.test(one));
    });
    // Rows of the other workloads are the same as those shown of one, and these need a product or a value that the API does not store.
    const rest = unshown.filter(
      ({ says }) =>
        !/Tolerations|TopologySpread|TerminationGrace|MinReady|Affinity|NodeSelector|etadata is invalid|IPAM values (?:AmazonVPC|AzureVNET)$|Calico variant/.test(
          says,
        ),
    );
    assert.deepEqual(
      rest.map(({ says }) => says),
      [],
    );
  });

  it('is what that release refuses, and no other', () => {
    const one = input({ nonPrivileged: 'Enabled' });
    assert.deepEqual(said(one, 'v3.31.5'), []);
    assert.equal(said(one, 'v3.33.0').length, 1);
  });

  const nothing = { crds: [], configMaps: [], workloads: [], services: [], nodes: [] };

  it('is compared with what the cluster shows by itself, the first sign first', () => {
    const map = (place: string, data = {}) => object('v1', `ConfigMap/${place}`, { data });
    const configMaps = [
      map('kube-system/aws-auth'),
      map('kube-system/rke2'),
      map('tigera-operator/kubernetes-services-endpoint', { KUBERNETES_SERVICE_HOST: 'a' }),
    ];
    const seen = findingsOf(crossings.findings, { ...nothing, configMaps });
    assert.deepEqual(seen, { provider: 'EKS', endpoint: 'kubernetes-services-endpoint', endpointHost: 'a' });
  });

  it('is found where it is an empty text, too: some operators ask for the key alone', () => {
    const layout = object('v1', 'ConfigMap/tigera-operator/bgp-layout', { data: { earlyNetworkConfiguration: '' } });
    const seen = findingsOf(crossings.findings, { ...nothing, configMaps: [layout] });
    assert.deepEqual(seen, { bgpLayout: 'bgp-layout', bgpLayoutText: '' });
  });

  it('is another provider than an older operator has written, which went by the group alone', () => {
    const one = input({ kubernetesProvider: 'GKE', cni: { type: 'Calico' } }, { provider: 'EKS', gkeGroup: 'networking.gke.io' });
    const words = "installation spec.kubernetesProvider 'GKE' does not match auto-detected value 'EKS'";
    assert.deepEqual([said(one), said(one, 'v3.32.0')], [[words], []]);
    assert.deepEqual(refusedSettings(one, crossings, 'v3.32.1'), [{ says: words, since: 'v3.32.1' }]);
  });

  const service = (name: string, labels = {}) => ({
    ...object('v1', `Service/kube-system/${name}`),
    metadata: { name, namespace: 'kube-system', labels },
  });
  const gke = [{ name: 'managedcertificates.networking.gke.io' }];
  const labelled = (labels: Readonly<Record<string, string>>) => [node('n1'), node('n2', { labels })];
  const EKS_DNS = { 'eks.amazonaws.com/component': 'kube-dns' };
  const providers: Readonly<Record<string, readonly [Partial<Parameters<typeof findingsOf>[1]>, JsonMap]>> = {
    'EKS by the label of its DNS': [{ services: [service('kube-dns', EKS_DNS)] }, { provider: 'EKS' }],
    'nothing by a DNS without that label': [{ services: [service('kube-dns')] }, {}],
    'RKE2 by its DNS': [{ services: [service('rke2-coredns-rke2-coredns')] }, { provider: 'RKE2' }],
    'GKE by its group and a label of a node': [
      { crds: gke, nodes: labelled({ 'cloud.google.com/gke-nodepool': 'a' }) },
      { provider: 'GKE', gkeGroup: 'networking.gke.io' },
    ],
    'no GKE by its group alone': [{ crds: gke }, { gkeGroup: 'networking.gke.io' }],
    'TKG by its group': [{ crds: [{ name: 'things.core.tanzu.vmware.com' }] }, { provider: 'TKG' }],
    'Docker EE by the label of a master': [
      { nodes: labelled({ 'com.docker.ucp.manager': '', 'node-role.kubernetes.io/master': '' }) },
      { provider: 'DockerEE' },
    ],
    'no Docker EE by that label of another node': [{ nodes: labelled({ 'com.docker.ucp.manager': '' }) }, {}],
    'GKE before EKS': [
      { crds: gke, nodes: labelled({ 'cloud.google.com/gke-nodepool': 'a' }), services: [service('kube-dns', EKS_DNS)] },
      { provider: 'GKE', gkeGroup: 'networking.gke.io' },
    ],
  };
  for (const [title, [searched, wanted]] of Object.entries(providers))
    it(`finds ${title}`, () => assert.deepEqual(findingsOf(crossings.findings, { ...nothing, ...searched }), wanted));
});

const told = (spec: JsonMap, release?: string) => ({
  detection: found({ path: 'operator', variant: undefined, input: input(spec), ...(release === undefined ? {} : { release }) }),
});
const context = contextOf({}, calico);

checkCases('NS-623', {
  'fails in the words of the operator, and says that the installed one takes it': {
    context,
    facts: told({ nonPrivileged: 'Enabled' }),
    is: 'error',
    about: ['Installation/default'],
    details: [/^non-privileged Calico is deprecated/],
    says: /refuses the Installation: “non-privileged.*Operators refuse it from v3\.32\.0 on; the installed one \(v3\.27\.5\) takes it/,
    fix: /kubectl edit installations\.operator\.tigera\.io default/,
  },
  'says that the installed one refuses it, too': {
    context,
    facts: told({ controlPlaneReplicas: 0 }),
    is: 'error',
    says: /The installed operator refuses it, too/,
  },
  'says that it does not know of an installed one without a release': {
    context,
    facts: {
      detection: found({ path: 'operator', variant: undefined, input: input({ controlPlaneReplicas: 0 }), release: undefined as never }),
    },
    is: 'error',
    says: /not known, for its release is not/,
  },
  'takes no word for it': {
    context: contextOf({ accept: [{ check: 'NS-623' }, { check: 'NS-623', subject: 'Installation/default' }] }, calico),
    facts: told({ nonPrivileged: 'Enabled' }),
    is: 'error',
    hint: /^Leave --accept NS-623 out/,
  },
  'passes where the same is written out as off': { context, facts: told({ nonPrivileged: 'Disabled' }), is: 'ok' },
  'passes for a target that still takes it': {
    context: contextOf({ release: 'v3.31.2' }, calico),
    facts: told({ nonPrivileged: 'Enabled' }),
    is: 'ok',
  },
  'does not apply to a manifest install': { context, is: 'not-applicable' },
});
