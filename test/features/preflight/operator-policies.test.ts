import assert from 'node:assert/strict';
import type { OperatedFacts } from '../../../src/features/survey/facts.ts';
import { readReaching } from '../../../src/features/survey/operated.ts';
import type { Kind, KubeObject } from '../../../src/kernel/object.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, deployment, found, installation, object, resource, resources } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';

const OWNED = { ownerReferences: [{ apiVersion: 'operator.tigera.io/v1', kind: 'Installation', name: 'default', uid: '1' }] };
const held = (...reaching: readonly KubeObject[]) => ({
  detection: found({ path: 'operator', variant: undefined }),
  operated: { reaching: { value: reaching } } as unknown as OperatedFacts,
});
const ingress = object('networking.k8s.io/v1', 'Ingress/calico-system/whisker');
const workload = (metadata: object) => ({ ...deployment('proxy'), metadata: { name: 'proxy', namespace: 'calico-system', ...metadata } });
const policy = (tier: string) => resources(resource('NetworkPolicy/calico-system/mine', { tier }));

checkCases('NS-632', {
  'does not apply without an operator': { is: 'not-applicable' },
  'passes where nothing leads there': { facts: held(), is: 'ok' },
  'warns of what leads there': { facts: held(ingress), is: 'warning', about: ['Ingress/calico-system/whisker'], hint: /tigera-prometheus/ },
  'passes where the operator made it': { facts: held({ ...ingress, metadata: { ...ingress.metadata, ...OWNED } }), is: 'ok' },
  'passes for a monitor where it may read': {
    facts: held(object('monitoring.coreos.com/v1', 'ServiceMonitor/tigera-prometheus/controllers')),
    is: 'ok',
  },
  'warns of a workload of one’s own': {
    facts: { ...held(), deployments: { value: [workload({})] } },
    is: 'warning',
    about: ['Deployment/calico-system/proxy'],
  },
  'passes with a workload of the operator': { facts: { ...held(), deployments: { value: [workload(OWNED)] } }, is: 'ok' },
  'warns of a policy of one’s own': {
    facts: { ...held(), resources: policy('default') },
    is: 'warning',
    about: ['NetworkPolicy/calico-system/mine'],
  },
  'passes with a policy that comes first': { facts: { ...held(), resources: policy('calico-system') }, is: 'ok' },
  'does not apply within the line': {
    facts: { ...held(ingress), detection: found({ path: 'operator', variant: undefined, release: 'v3.32.0' }) },
    is: 'not-applicable',
  },
});

const listening = (port: number, data: Readonly<Record<string, string>> = {}) => ({
  detection: found({ path: 'operator', variant: undefined, hasApiServer: true }),
  operated: { apiEndpoints: { value: [{ host: '10.0.0.1', port }] } } as unknown as OperatedFacts,
  configMaps: { value: [object('v1', 'ConfigMap/tigera-operator/kubernetes-services-endpoint', { data })] },
});

checkCases('NS-635', {
  'does not apply without an operator': { is: 'not-applicable' },
  'passes on a usual port': { facts: listening(6443), is: 'ok' },
  'fails on another': { facts: listening(8443), is: 'error', about: ['10.0.0.1:8443'], hint: /order below 1/ },
  'passes where the operator knows this very address': {
    facts: listening(8443, { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '8443' }),
    is: 'ok',
  },
  'passes where pods are given another address with a usual port': {
    facts: listening(8443, { KUBERNETES_SERVICE_HOST_POD_NETWORK: 'api.example', KUBERNETES_SERVICE_PORT_POD_NETWORK: '443' }),
    is: 'ok',
  },
  'fails where pods are given another port': {
    facts: listening(6443, { KUBERNETES_SERVICE_HOST_POD_NETWORK: 'api.example', KUBERNETES_SERVICE_PORT_POD_NETWORK: '8443' }),
    is: 'error',
    about: ['api.example:8443'],
  },
  'fails where it knows the address before them': {
    facts: listening(8443, { KUBERNETES_SERVICE_HOST: '10.0.0.9', KUBERNETES_SERVICE_PORT: '8443' }),
    is: 'error',
    about: ['10.0.0.1:8443'],
  },
});

describe('what leads to pods that the target guards', () => {
  const clusterWith = (...objects: readonly KubeObject[]) => {
    const listed: string[] = [];
    return {
      listed,
      resolve: async (apiVersion: string, kind: string): Promise<Kind | undefined> => {
        const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
        return kind === 'PodMonitor' ? undefined : { group, version, kind, plural: kind, namespaced: true };
      },
      list: async ({ kind }: Kind) => {
        listed.push(kind);
        return objects.filter((one) => one.kind === kind);
      },
    };
  };
  const service = (type: string) => object('v1', `Service/calico-system/${type.toLowerCase()}`, { spec: { type } });
  const monitor = (name: string, namespace: string) =>
    object('monitoring.coreos.com/v1', `ServiceMonitor/monitoring/${name}`, { spec: { namespaceSelector: { matchNames: [namespace] } } });

  it('is in the namespace, or selects it; Services are only those that are open to the outside', async () => {
    const cluster = clusterWith(
      ingress,
      object('networking.k8s.io/v1', 'Ingress/shop/shop'),
      service('ClusterIP'),
      service('NodePort'),
      monitor('calico', 'calico-system'),
      monitor('shop', 'shop'),
    );
    const reaching = await readReaching(cluster, contextOf(), installation);
    assert.deepEqual(
      reaching.map(({ metadata }) => metadata.name),
      ['nodeport', 'whisker', 'calico'],
    );
    assert.ok(!cluster.listed.includes('PodMonitor'));
  });

  it('is not asked for where the target guards no more than what is installed', async () => {
    const cluster = clusterWith(ingress);
    assert.deepEqual(await readReaching(cluster, contextOf(), { ...installation, release: 'v3.32.0' }), []);
    assert.deepEqual(cluster.listed, []);
  });
});

const AT = { component: 'apiserver', container: 'calico-apiserver', image: 'calico/apiserver:v3.29.1', release: 'v3.29.1' } as const;
const context = contextOf({}, calico);

function world(policies: readonly KubeObject[], { place = 'calico-apiserver', spec = {}, hasApiServer = true } = {}) {
  const workload = `Deployment/${place}/calico-apiserver`;
  const labels = { 'k8s-app': 'calico-apiserver', apiserver: 'true' };
  const template = { metadata: { labels }, spec: { serviceAccountName: 'calico-apiserver', containers: [], ...spec } };
  const components = [...installation.components, { ...AT, workload }];
  return {
    detection: found({ path: 'operator', variant: undefined, hasApiServer, components, release: 'v3.29.1' }),
    operated: {} as unknown as OperatedFacts,
    deployments: { value: [object('apps/v1', workload, { spec: { template } }), deployment('other')] },
    namespaces: { value: [object('v1', 'Namespace/calico-system', { metadata: { labels: { name: 'calico-system' } } })] },
    resources: resources(...policies),
  };
}
const global = (spec: object) => resource('GlobalNetworkPolicy/default.mine', { selector: 'all()', types: ['Ingress', 'Egress'], ...spec });
const allowing = (spec: object = {}) =>
  resource('NetworkPolicy/calico-system/default.api', {
    selector: "apiserver == 'true'",
    order: 10,
    types: ['Ingress', 'Egress'],
    ingress: [{ action: 'Allow', protocol: 'TCP', destination: { ports: [5443] } }],
    egress: [{ action: 'Allow' }],
    ...spec,
  });
const except = (...names: readonly string[]) => `projectcalico.org/name not in { ${names.map((name) => `'${name}'`).join(', ')} }`;
const warned = { context, is: 'warning', about: ['GlobalNetworkPolicy/default.mine'] } as const;
const fine = { context, is: 'ok' } as const;

checkCases('NS-633', {
  'does not apply without an operator': { context, is: 'not-applicable' },
  'does not apply without an API server': { context, facts: world([global({})], { hasApiServer: false }), is: 'not-applicable' },
  'passes without policies': { ...fine, facts: world([]) },
  'warns of a policy that denies everything everywhere': {
    ...warned,
    facts: world([global({})]),
    details: [/all ingress and egress/],
    hint: /Exempt namespace calico-system/,
  },
  'warns of one that exempts the old namespace alone, and allows DNS': {
    ...warned,
    facts: world([
      global({ namespaceSelector: except('kube-system', 'calico-apiserver'), egress: [{ action: 'Allow', protocol: 'UDP' }] }),
    ]),
    details: [/all ingress of pods/],
  },
  'passes where the new namespace is exempt too': {
    ...fine,
    facts: world([global({ namespaceSelector: except('kube-system', 'calico-system') })]),
  },
  'passes where another policy allows it before': { ...fine, facts: world([global({}), allowing()]) },
  'warns where the one that allows it comes after a rule that denies everything': {
    ...warned,
    facts: world([global({ order: 1, types: ['Egress'], egress: [{ action: 'Deny' }] }), allowing()]),
    details: [/all egress/],
  },
  'names one whose own rule for all comes before its exception': {
    ...warned,
    facts: world([global({ types: ['Egress'], egress: [{ action: 'Deny' }, { action: 'Allow', protocol: 'UDP' }] })]),
    details: [/all egress/],
  },
  'passes where the policy selects other pods': { ...fine, facts: world([global({ selector: "app == 'web'" })]) },
  'passes where it selects other service accounts': { ...fine, facts: world([global({ serviceAccountSelector: "role == 'web'" })]) },
  'passes with a policy of another namespace': {
    ...fine,
    facts: world([resource('NetworkPolicy/shop/default.deny', { selector: 'all()', types: ['Ingress'] })]),
  },
  'passes where its tier passes on what it does not decide': {
    ...fine,
    facts: world([global({ tier: 'mine' }), resource('Tier/mine', { order: 5, defaultAction: 'Pass' })]),
  },
  'passes with a policy that the agents ignore for its selector': { ...fine, facts: world([global({ selector: 'a ==' })]) },
  'passes where the API server has moved already': { ...fine, facts: world([global({})], { place: 'calico-system' }) },
  'passes where its pods use the network of the nodes': { ...fine, facts: world([global({})], { spec: { hostNetwork: true } }) },
  'says so where policies cannot be read': {
    context,
    facts: { ...world([]), resources: { unread: 'forbidden' } },
    is: 'warning',
    says: /forbidden/,
  },
});
