import type { Defect, DefectCondition } from '../kernel/defect.ts';
import { MANIFESTS, OPERATED } from '../kernel/installation.ts';
import type { Platform } from '../kernel/profile.ts';
import { calicoDataPlaneDefects } from './calico-data-plane-defects.ts';
import { calicoEbpfDefects } from './calico-ebpf-defects.ts';
import { fixed, open, openFrom, without } from './defect-lines.ts';
import { commonPlatforms } from './platforms.ts';

const loadBalancerPool: DefectCondition = { type: 'resource', plurals: ['ippools'], fields: ['allowedUses'], oneOf: ['LoadBalancer'] };
/** Agents of these releases use the resolver of their node. */
const byNodeDns: DefectCondition = {
  type: 'upgradeFrom',
  releases: [
    { from: 'v3.0.0', before: 'v3.30.0' },
    { from: 'v3.30.4', before: 'v3.31.0' },
  ],
};
const runtime = { type: 'node', field: 'containerRuntimeVersion' } as const;
const cniSince = [openFrom('v3.31.7'), openFrom('v3.32.2')];
const cniVersion = [
  {
    suffix: '',
    when: [{ type: 'path', oneOf: MANIFESTS }],
    advice: 'Upgrade the container runtime of these nodes first, or keep "cniVersion": "0.3.1" in the CNI configuration.',
  },
  {
    suffix: '-operator',
    when: [
      { type: 'path', oneOf: OPERATED },
      { type: 'installation', field: 'cni.specVersion', noneOf: ['0.3.1', '0.4.0'] },
    ],
    advice:
      'Upgrade the container runtime of these nodes first, or set spec.cni.specVersion of the Installation to "0.3.1" between the stages crds and apply.',
  },
] as const;

/** Defects of Calico releases that are known in public. A release that is not here may have others. */
export const calicoDefects: readonly Defect[] = [
  {
    id: 'bgp-lists',
    of: 'target',
    lines: [fixed('v3.32.0', 'v3.32.1')],
    when: [
      {
        type: 'resource',
        plurals: ['bgpconfigurations'],
        fields: ['serviceLoadBalancerIPs', 'serviceExternalIPs', 'serviceClusterIPs', 'communities', 'prefixAdvertisements'],
      },
    ],
    severity: 'warning',
    symptom: '`kubectl apply --server-side` or Flux fails on a BGPConfiguration: "associative list without keys".',
    happens: 'server-side apply of a BGPConfiguration with lists of addresses or communities is refused, so Flux cannot sync it',
    sources: ['projectcalico/calico#12700', 'projectcalico/calico#12790'],
  },
  {
    id: 'lb-rights',
    of: 'target',
    lines: [fixed('v3.32.0', 'v3.32.1')],
    when: [{ type: 'path', oneOf: OPERATED }, loadBalancerPool],
    severity: 'warning',
    symptom: 'LoadBalancer services stay pending; calico-kube-controllers logs that ipamconfigs are forbidden.',
    happens: 'the operator gives the controllers no rights on ipamconfigs, so services of type LoadBalancer get no address',
    sources: ['projectcalico/calico#12890'],
  },
  {
    id: 'lb-pool-snat',
    of: 'agent',
    lines: [fixed('v3.32.0', 'v3.32.1')],
    when: [{ ...loadBalancerPool, noneOf: ['Workload', 'Tunnel'] }],
    severity: 'warning',
    symptom: 'Pods reach a LoadBalancer address with their own source address, and answers are lost.',
    happens: 'the agents take a pool for LoadBalancer addresses alone for a pool of pods, and do not masquerade traffic to it',
    sources: ['projectcalico/calico#12858', 'projectcalico/calico#12953'],
  },
  {
    id: 'lb-duplicates',
    of: 'target',
    lines: [...open('v3.30'), fixed('v3.31.0', 'v3.31.6')],
    when: [loadBalancerPool],
    severity: 'warning',
    symptom: 'A LoadBalancer service has several addresses of one family.',
    happens: 'controllers that start may give a service of type LoadBalancer another address beside the one that it has',
    sources: ['projectcalico/calico#12503'],
  },
  ...(
    [
      ['lb-crash', loadBalancerPool],
      ['lb-crash-kvstore', { type: 'path', oneOf: ['kvstore'] }],
    ] as const
  ).map(
    ([id, when]): Defect => ({
      id,
      of: 'target',
      lines: [fixed('v3.30.0', 'v3.30.7'), fixed('v3.31.0', 'v3.31.5')],
      when: [when],
      severity: 'warning',
      symptom: 'calico-kube-controllers crash-loops: "nil pointer dereference" in loadbalancer_controller.go.',
      happens: 'the controllers may crash again and again on blocks of addresses that the load balancer controller does not expect',
      sources: ['projectcalico/calico#11091', 'projectcalico/calico#11856'],
    }),
  ),
  {
    id: 'kubevirt-rights',
    of: 'target',
    lines: [fixed('v3.32.0', 'v3.32.1')],
    when: [
      { type: 'path', oneOf: MANIFESTS },
      { type: 'crd', name: 'virtualmachineinstances.kubevirt.io' },
    ],
    severity: 'warning',
    symptom: 'Virtual machines stay in ContainerCreating; the CNI plugin is forbidden to read kubevirt.io.',
    happens: 'the CNI plugin may not read virtual machines of KubeVirt, so their pods get no network',
    sources: ['projectcalico/calico#12996'],
  },
  ...(
    [
      ['cni-1.0-containerd', 'containerd://', '1.6'],
      ['cni-1.0-crio', 'cri-o://', '1.24'],
      ['cni-1.0-docker', 'docker://', undefined],
    ] as const
  ).flatMap(([id, prefix, before]) =>
    cniVersion.map(
      ({ suffix, when, advice }): Defect => ({
        id: `${id}${suffix}`,
        of: 'target',
        lines: cniSince,
        when: [{ ...runtime, startsWith: [prefix], ...(before ? { before } : {}) }, ...when],
        severity: 'error',
        symptom: 'New pods stay in ContainerCreating: "unsupported CNI result version" or "incompatible CNI versions".',
        happens:
          'the CNI configuration has version 1.0.0, which the container runtime of these nodes does not know: new pods get no network',
        advice,
        sources: ['projectcalico/calico#13378', 'projectcalico/calico#13379', 'projectcalico/calico#13352'],
      }),
    ),
  ),
  {
    id: 'http-not-enforced',
    of: 'target',
    lines: [...open('v3.30', 'v3.31'), without('v3.32.0')],
    when: [{ type: 'resource', plurals: ['globalnetworkpolicies', 'networkpolicies'], fields: ['ingress.http', 'egress.http'] }],
    severity: 'error',
    symptom: 'HTTP rules of policies have no effect: requests that they deny pass.',
    happens: 'Dikastes answers UNKNOWN to each request, so HTTP rules of policies are not enforced',
    sources: ['projectcalico/calico#11857', 'projectcalico/calico#11986'],
  },
  {
    id: 'new-policy-not-found',
    of: 'target',
    lines: [fixed('v3.32.0', 'v3.32.1')],
    when: [{ type: 'apiService', name: 'v3.projectcalico.org' }],
    severity: 'warning',
    symptom: '`kubectl apply --server-side`, helm 4 or Flux fails on a new policy: NotFound.',
    happens: 'the API server answers NotFound to server-side apply of a policy that does not exist yet, so GitOps tools create none',
    sources: ['projectcalico/calico#12906'],
  },
  {
    id: 'cluster-dns',
    of: 'target',
    lines: [fixed('v3.30.0', 'v3.30.4'), { from: 'v3.31.0', openOn: '2026-08-25' }, { from: 'v3.32.0', openOn: '2026-08-25' }],
    when: [{ type: 'path', oneOf: OPERATED }, byNodeDns, { type: 'apiServerByClusterDns' }],
    severity: 'error',
    symptom: 'The first new agent does not resolve the API server; new pods there get no network.',
    happens:
      'the agents reach the API server by a name, and the operator gives them the DNS of the cluster, which needs the agents: the rollout stops at its first node',
    advice:
      'Put an address into ConfigMap kubernetes-services-endpoint, or set dnsPolicy of the agents to Default: spec.calicoNodeDaemonSet.spec.template.spec of the Installation. With a chart, dnsPolicy: Default in its values does it too; so does a dnsConfig of the operator’s Deployment. An operator newer than v1.42.4 has the fix.',
    sources: ['tigera/operator#5246', 'tigera/operator#5247', 'tigera/operator#1746', 'projectcalico/calico#10683', 'tigera/operator#3953'],
  },
  ...calicoDataPlaneDefects,
  ...calicoEbpfDefects,
];

/** Platforms that ship Project Calico themselves (domain §2.4). */
export const calicoPlatforms: readonly Platform[] = [
  {
    id: 'rke2',
    title: 'RKE2',
    hint: 'Upgrade RKE2, or change its HelmChartConfig: its chart controller applies its own release again.',
    signs: [
      { type: 'chartRelease', prefix: 'rke2-' },
      { type: 'annotation', key: 'meta.helm.sh/release-name', value: 'rke2-' },
      { type: 'workload', kind: 'DaemonSet', name: 'rke2-canal' },
      { type: 'image', contains: 'rancher/hardened-calico' },
      { type: 'image', contains: 'rancher/mirrored-calico-' },
    ],
  },
  {
    id: 'rke1',
    title: 'RKE1',
    hint: 'Upgrade through RKE: `rke up` applies its own network plugin again.',
    signs: [
      { type: 'configMap', name: 'rke-network-plugin' },
      { type: 'image', contains: 'rancher/calico-' },
    ],
  },
  {
    id: 'kubespray',
    title: 'kubespray',
    hint: 'Set calico_version in the inventory and run its upgrade playbook; the next run puts its own release back.',
    signs: [{ type: 'configMapKey', key: 'cluster_type', contains: 'kubespray' }],
  },
  {
    id: 'openshift',
    title: 'OpenShift',
    hint: 'Follow Calico’s own page for OpenShift: its upgrade manifest is tigera-operator-ocp-upgrade.yaml, not the plain one.',
    signs: [{ type: 'crd', name: 'clusterversions.config.openshift.io' }],
  },
  ...commonPlatforms,
];
