import type { Refusal } from '../kernel/refusal.ts';
import { cniRefusals } from './calico-cni-refusals.ts';
import { layoutRefusals, networkRefusals, windowsRefusals } from './calico-network-refusals.ts';
import { overrideRefusals } from './calico-override-refusals.ts';
import { poolRefusals } from './calico-pool-refusals.ts';
import { is, isNot, isSet, PROVIDER } from './refusal-rules.ts';

/**
 * `validateCustomResource` and `ValidatePools` of operator v1.42.3, and what its controllers refuse besides; each since the release whose
 * operator had it first (domain §11.3).
 */
export const calicoRefusals: readonly Refusal[] = [
  // Operators before v1.42.2 found GKE by its group alone, and wrote it down.
  ...[
    { since: 'v3.32.1', when: [is(PROVIDER, 'GKE'), isSet('/found/gkeGroup')] },
    { since: 'v3.15.0', when: [is(PROVIDER, 'GKE'), { field: '/found/gkeGroup', absent: true }] },
    { since: 'v3.15.0', when: [isNot(PROVIDER, 'GKE')] },
  ].map(({ since, when }) => ({
    since,
    says: "installation spec.kubernetesProvider '{/kubernetesProvider}' does not match auto-detected value '{/found/provider}'",
    when: [...when, isSet('/found/provider'), { field: PROVIDER, differsFrom: '/found/provider' }],
  })),
  {
    since: 'v3.21.0',
    says: 'Exiting because this operator is not designated active: ConfigMap active-operator names namespace {/found/activeOperator}',
    when: [isSet('/found/activeOperator'), { field: '/found/operatorNamespace', differsFrom: '/found/activeOperator' }],
  },
  ...cniRefusals,
  ...poolRefusals,
  ...networkRefusals,
  ...layoutRefusals,
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
