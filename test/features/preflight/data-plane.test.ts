import type { OperatedFacts } from '../../../src/features/survey/facts.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, daemonSet, deployment, found, object, resource, resources, targetOf } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';
import { CALICO_LINE } from '../../support/target.ts';

const pool = resource('IPPool/public', { allowedUses: ['LoadBalancer'] });
const controllersWith = (value: string) => {
  const containers = [{ name: 'calico-kube-controllers', env: [{ name: 'ENABLED_CONTROLLERS', value }] }];
  return { deployments: { value: [deployment('calico-kube-controllers', { template: { spec: { containers } } })] } };
};
const assigned = resource('KubeControllersConfiguration/default', {
  controllers: { loadBalancer: { assignIPs: 'RequestedServicesOnly' } },
});

checkCases('NS-505', {
  'passes without such a pool': { is: 'ok' },
  'warns if the controllers will begin to use it': {
    facts: { resources: resources(pool), ...controllersWith('node') },
    is: 'warning',
    about: ['IPPool/public'],
  },
  'passes if they use it already': { facts: { resources: resources(pool), ...controllersWith('node,loadbalancer') }, is: 'ok' },
  'passes if it is settled': { facts: { resources: resources(pool, assigned), ...controllersWith('node') }, is: 'ok' },
});

const nft = { proxyMode: { value: 'nftables' } };

checkCases('NS-506', {
  'passes if kube-proxy uses something else': { is: 'ok', says: /becomes Auto/ },
  'warns if it uses nftables and nothing is set': { facts: nft, is: 'warning', fix: /nftablesMode/ },
  'passes if the mode is set': {
    facts: { ...nft, resources: resources(resource('FelixConfiguration/default', { nftablesMode: 'Disabled' })) },
    is: 'ok',
    says: /Disabled/,
  },
  'does not apply if the target has another default': { facts: { ...nft, target: targetOf() }, is: 'not-applicable' },
  'warns if the target was not read': { facts: { ...nft, target: { unread: 'HTTP 404' } }, is: 'warning', says: /see NS-601/ },
  'does not apply within the line': { facts: { ...nft, detection: found({ release: `${CALICO_LINE}.0` }) }, is: 'not-applicable' },
});

const operated = (calicoNetwork: object, more: object = {}) => {
  const installation = object('operator.tigera.io/v1', 'Installation/default', { spec: { calicoNetwork } });
  const reading = { installation: { value: installation }, dataPlane: { value: installation } } as unknown as OperatedFacts;
  return { ...nft, detection: found({ path: 'operator', variant: undefined }), operated: reading, ...more };
};
const ruledByOverlay = operated({ linuxDataplane: 'Iptables' });
Object.assign(ruledByOverlay.operated, { dataPlane: { value: object('operator.tigera.io/v1', 'Installation/overlay') } });
const onOperators = { context: contextOf({}, calico) };

checkCases('NS-506', {
  'warns where an operator keeps the agents at iptables, though their own configuration says otherwise': {
    ...onOperators,
    facts: operated(
      { linuxDataplane: 'Iptables' },
      { resources: resources(resource('FelixConfiguration/default', { nftablesMode: 'Disabled' })) },
    ),
    is: 'warning',
    about: ['Installation/default'],
    says: /whatever nftablesMode of the FelixConfiguration is/,
    fix: /kubectl patch installations\.operator\.tigera\.io default --type=merge -p '\{"spec":\{"calicoNetwork":\{"linuxDataplane":"Nftables"\}\}\}'/,
  },
  'repairs the resource that the operator lays over its settings, where that one has the field': {
    ...onOperators,
    facts: ruledByOverlay,
    is: 'warning',
    fix: /kubectl patch installations\.operator\.tigera\.io overlay --type=merge/,
    next: /installations\.operator\.tigera\.io overlay -o yaml/,
  },
  'warns where the Installation says nothing, which is iptables': { ...onOperators, facts: operated({}), is: 'warning' },
  'passes where the operator sets nftables': {
    ...onOperators,
    facts: operated({ linuxDataplane: 'Nftables' }),
    is: 'ok',
    says: /is Nftables, by which the agents follow kube-proxy .*; it uses nftables/,
  },
  'warns where nftables begins to mean what kube-proxy does, which uses something else': {
    ...onOperators,
    facts: operated({ linuxDataplane: 'Nftables' }, { proxyMode: { value: 'ipvs' } }),
    is: 'warning',
    about: ['Installation/default'],
    says: /kube-proxy runs in mode ipvs: the agents change to iptables during the upgrade/,
    next: /^kubectl get configmap kube-proxy -n kube-system -o yaml$/,
  },
  'warns where no mode of kube-proxy is known': {
    ...onOperators,
    facts: operated({ linuxDataplane: 'Nftables' }, { proxyMode: { value: '' } }),
    is: 'warning',
    says: /no mode of kube-proxy is set/,
  },
  'warns in the conditional where nobody sees how kube-proxy is started': {
    facts: operated({ linuxDataplane: 'Nftables' }, { proxyMode: { value: undefined } }),
    is: 'warning',
    about: ['Installation/default'],
    says: /unless it uses nftables, the agents change to iptables/,
    hint: /If it uses nftables, there is nothing to do/,
  },
  'passes where the operator sets eBPF': {
    ...onOperators,
    facts: operated({ linuxDataplane: 'BPF' }, { proxyMode: { value: '' } }),
    is: 'ok',
    says: /is BPF/,
  },
  'is not evaluated where the mode could not be read': {
    ...onOperators,
    facts: operated({ linuxDataplane: 'Nftables' }, { proxyMode: { unread: 'forbidden' } }),
    is: 'warning',
    says: /forbidden/,
  },
  'passes where kube-proxy uses iptables as well': {
    ...onOperators,
    facts: operated({ linuxDataplane: 'Iptables' }, { proxyMode: { value: 'iptables' } }),
    is: 'ok',
    says: /keeps the agents at iptables/,
  },
});

const bpf = (value: string) =>
  daemonSet({ template: { spec: { containers: [{ name: 'calico-node', env: [{ name: 'FELIX_BPFENABLED', value }] }] } } });

const bpfBy = (valueFrom: object) =>
  daemonSet({ template: { spec: { containers: [{ name: 'calico-node', env: [{ name: 'FELIX_BPFENABLED', valueFrom }] }] } } });
const calicoConfig = object('v1', 'ConfigMap/kube-system/calico-config', { data: { bpf: 'true' } });

checkCases('NS-507', {
  'passes if it is off': { is: 'ok' },
  'warns if it is on': { facts: { resources: resources(resource('FelixConfiguration/default', { bpfEnabled: true })) }, is: 'warning' },
  'warns if the environment says so': { facts: { daemonSets: { value: [bpf('true')] } }, is: 'warning' },
  'warns if it is on for some nodes alone, and names them': {
    facts: { resources: resources(resource('FelixConfiguration/default'), resource('FelixConfiguration/node.n2', { bpfEnabled: true })) },
    is: 'warning',
    says: /in use on 1 node: /,
    about: ['Node/n2'],
  },
  'warns if the environment takes it from a ConfigMap': {
    facts: {
      daemonSets: { value: [bpfBy({ configMapKeyRef: { name: 'calico-config', key: 'bpf' } })] },
      configMaps: { value: [calicoConfig] },
    },
    is: 'warning',
  },
  'cannot tell it where that ConfigMap was not read': {
    facts: {
      daemonSets: { value: [bpfBy({ configMapKeyRef: { name: 'calico-config', key: 'bpf' } })] },
      configMaps: { unread: 'forbidden' },
    },
    is: 'warning',
    says: /forbidden/,
  },
  'believes the environment first': {
    facts: { daemonSets: { value: [bpf('false')] }, resources: resources(resource('FelixConfiguration/default', { bpfEnabled: true })) },
    is: 'ok',
  },
});
