import type { OperatedFacts } from '../../../src/features/survey/facts.ts';
import { contextOf, daemonSet, found, healthyPods, node, object, pod, resource, resources } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';

const operated = (podSubnets: readonly string[] | undefined, ...pools: readonly string[]) => {
  const spec = { calicoNetwork: { ipPools: pools.map((cidr) => ({ cidr })) } };
  const installation = object('operator.tigera.io/v1', 'Installation/default', { spec });
  return {
    detection: found({ path: 'operator', variant: undefined }),
    operated: { installation: { value: installation }, podSubnets: { value: podSubnets } } as unknown as OperatedFacts,
  };
};

const byAmazon = {
  operated: {
    installation: {
      value: object('operator.tigera.io/v1', 'Installation/default', {
        spec: { cni: { type: 'AmazonVPC' }, calicoNetwork: { ipPools: [{ cidr: '192.168.0.0/16' }] } },
      }),
    },
    podSubnets: { value: ['10.244.0.0/16'] },
  } as unknown as OperatedFacts,
};

checkCases('NS-628', {
  'does not apply without an operator': { is: 'not-applicable' },
  'passes where the pool is within the pod network': { facts: operated(['10.244.0.0/16'], '10.244.128.0/17'), is: 'ok' },
  'passes where the pool is the pod network, of both families': {
    facts: operated(['10.244.0.0/16', 'fd00:10::/56'], '10.244.0.0/16', 'fd00:10:0::/56'),
    is: 'ok',
  },
  'stops where it is larger': {
    facts: operated(['10.244.0.0/16'], '10.0.0.0/8'),
    is: 'error',
    details: [/10\.0\.0\.0\/8 is not within 10\.244\.0\.0\/16/],
  },
  'stops where it is elsewhere': {
    facts: operated(['10.244.0.0/16'], '10.244.0.0/24', '192.168.0.0/16'),
    is: 'error',
    about: ['Installation/default'],
    says: /: 192\.168\.0\.0\/16\. The operator refuses to create them/,
    next: /kubeadm-config/,
  },
  'stops where kubeadm says no network that the operator can read': {
    facts: operated([], '192.168.0.0/16'),
    is: 'error',
    says: /\(nothing that can be read\)/,
  },
  'stops before quotes, which the operator takes for a part of the network': {
    facts: operated(["'10.244.0.0/16'"], '10.244.0.0/16'),
    is: 'error',
    says: /\('10\.244\.0\.0\/16'\)/,
  },
  'passes where there are pools: the operator of the target compares none': {
    facts: {
      ...operated(['10.244.0.0/16'], '10.244.0.0/16', '192.168.0.0/16'),
      resources: resources(resource('IPPool/default-ipv4-ippool', { cidr: '10.244.0.0/16' })),
    },
    is: 'ok',
  },
  'does not apply beside another CNI plugin': {
    facts: { ...operated(['10.244.0.0/16'], '192.168.0.0/16'), ...byAmazon },
    is: 'not-applicable',
  },
  'does not apply where kubeadm created no cluster': { facts: operated(undefined, '192.168.0.0/16'), is: 'not-applicable' },
});

const written = (manager: string, field: string) => ({
  ...operated([]),
  resources: resources(
    resource(
      'FelixConfiguration/default',
      { [field]: 'x' },
      { managedFields: [{ manager, fieldsV1: { 'f:spec': { [`f:${field}`]: {} } } }] },
    ),
  ),
});

checkCases('NS-113', {
  'does not apply without an operator': { is: 'not-applicable' },
  'warns of a field that the operator writes too': {
    facts: written('argocd-controller', 'nftablesMode'),
    is: 'warning',
    about: ['FelixConfiguration/default'],
    details: [/^argocd-controller writes nftablesMode$/],
    next: /^kubectl get felixconfiguration\.crd\.projectcalico\.org default --show-managed-fields -o yaml$/,
  },
  'warns of a field that the operator writes because the Installation sets a mode': {
    facts: {
      ...written('argocd-controller', 'programClusterRoutes'),
      operated: {
        installation: {
          value: object('operator.tigera.io/v1', 'Installation/default', { spec: { calicoNetwork: { clusterRoutingMode: 'Felix' } } }),
        },
      } as unknown as OperatedFacts,
    },
    is: 'warning',
    details: [/^argocd-controller writes programClusterRoutes$/],
  },
  'passes with it where the Installation sets none': { facts: written('argocd-controller', 'programClusterRoutes'), is: 'ok' },
  'passes with a field that it leaves alone': { facts: written('argocd-controller', 'logSeverityScreen'), is: 'ok' },
  'passes with a field that the operator has written': { facts: written('operator', 'nftablesMode'), is: 'ok' },
});

const at = (used: string | undefined, ...addresses: readonly string[]) => ({
  ...node('n1'),
  metadata: { name: 'n1', ...(used ? { annotations: { 'projectcalico.org/IPv4Address': used } } : {}) },
  status: { ...(node('n1').status as object), addresses: addresses.map((address) => ({ type: 'InternalIP', address })) },
});
const dual = (six: string, ...addresses: readonly string[]) => {
  const base = at('10.0.0.1/24', ...addresses);
  return { ...base, metadata: { name: 'n1', annotations: { ...base.metadata.annotations, 'projectcalico.org/IPv6Address': six } } };
};
const detecting = (value: string) =>
  daemonSet({ template: { spec: { containers: [{ name: 'calico-node', env: [{ name: 'IP_AUTODETECTION_METHOD', value }] }] } } });

checkCases('NS-428', {
  'passes where nothing is known of addresses': { is: 'ok' },
  'passes where both know the same': { facts: { nodes: { value: [at('10.0.0.1/24', '10.0.0.1')] } }, is: 'ok' },
  'warns where the agent uses another': {
    facts: { nodes: { value: [at('169.254.25.10/32', '10.0.0.1')] } },
    is: 'warning',
    about: ['Node/n1'],
    details: [/^its agent uses 169\.254\.25\.10, Kubernetes has 10\.0\.0\.1$/],
  },
  'warns with first-found as well': {
    facts: { nodes: { value: [at('169.254.25.10/32', '10.0.0.1')] }, daemonSets: { value: [detecting('first-found')] } },
    is: 'warning',
  },
  'passes where the agents are told how to detect it': {
    facts: { nodes: { value: [at('169.254.25.10/32', '10.0.0.1')] }, daemonSets: { value: [detecting('interface=eth1')] } },
    is: 'ok',
  },
  'warns of the other address of a node with both families': {
    facts: { nodes: { value: [dual('fd00::9/64', '10.0.0.1', 'fd00::1')] } },
    is: 'warning',
    about: ['Node/n1'],
    details: [/^its agent uses fd00::9, Kubernetes has 10\.0\.0\.1, fd00::1$/],
    hint: /nodeAddressAutodetectionV4 and V6/,
  },
  'passes where both know the same, in another spelling': {
    facts: { nodes: { value: [dual('FD00:0::1/64', '10.0.0.1', 'fd00::1')] } },
    is: 'ok',
  },
  'passes where Kubernetes knows addresses of one family alone': {
    facts: { nodes: { value: [dual('fd00::9/64', '10.0.0.1')] } },
    is: 'ok',
  },
  'passes before the agent has an address': { facts: { nodes: { value: [at(undefined, '10.0.0.1')] } }, is: 'ok' },
});

checkCases('NS-410', {
  'passes on a healthy cluster': { is: 'ok' },
  'warns of an agent that ran out of memory': {
    facts: { pods: { value: [...healthyPods, pod('calico-node-3', { outOfMemory: ['calico-node'] })] } },
    is: 'warning',
    about: ['Pod/kube-system/calico-node-3'],
    next: /^kubectl -n kube-system describe pod calico-node-3$/,
  },
  'passes where it was a pod of somebody else': {
    facts: { pods: { value: [...healthyPods, pod('shop-1', { outOfMemory: ['shop'] })] } },
    is: 'ok',
  },
});

/** As the v3 API stores it: labels that it was given are in the annotation. */
const stored = (name: string, own: object) =>
  resource(`NetworkPolicy/shop/${name}`, { tier: 'default' }, { annotations: { 'projectcalico.org/metadata': JSON.stringify(own) } });
const argo = { labels: { 'argocd.argoproj.io/instance': 'shop' } };

checkCases('NS-710', {
  'passes without policies': { is: 'ok' },
  'stops where a policy that will be renamed is held by a GitOps tool': {
    facts: { resources: resources(stored('default.allow', argo)) },
    is: 'error',
    about: ['NetworkPolicy/shop/default.allow'],
    details: [/^Argo CD: name it allow in Git$/],
    fix: /^argocd app set shop --sync-policy none$/,
  },
  'passes where nobody holds it': { facts: { resources: resources(stored('default.allow', {})) }, is: 'ok' },
  'passes where it has its own name already': { facts: { resources: resources(stored('allow', argo)) }, is: 'ok' },
  'passes where the renaming is held back': {
    context: contextOf({ holdPolicyMigration: true }),
    facts: { resources: resources(stored('default.allow', argo)) },
    is: 'ok',
  },
  'does not apply within the line': {
    facts: { detection: found({ release: 'v3.32.0' }), resources: resources(stored('default.allow', argo)) },
    is: 'not-applicable',
  },
});
