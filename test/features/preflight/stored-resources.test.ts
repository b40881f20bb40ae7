import { netsvc } from '../../../src/profiles/netsvc.ts';
import { contextOf, crd, found, object, resource, resources, targetOf } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';
import { API, installed, operated } from '../../support/operated-facts.ts';

const felix = targetOf(
  crd('felixconfigurations', 'FelixConfiguration', {
    properties: { iptablesBackend: { type: 'string', enum: ['Legacy', 'NFT', 'Auto'] } },
  }),
);
const unknownRule = targetOf(
  crd('felixconfigurations', 'FelixConfiguration', {
    properties: {
      iptablesBackend: { type: 'string', enum: ['Legacy', 'NFT', 'Auto'], 'x-kubernetes-validations': [{ rule: 'self.isNew()' }] },
    },
  }),
);
const felixWith = (iptablesBackend: string) => ({
  target: felix,
  resources: resources(resource('FelixConfiguration/default', { iptablesBackend })),
});

checkCases('NS-501', {
  'passes if every resource is valid': { facts: felixWith('Auto'), is: 'ok' },
  'fails with the object and the command to fix it': {
    facts: felixWith('auto'),
    is: 'error',
    about: ['FelixConfiguration/default'],
    fix: /kubectl edit felixconfiguration default/,
  },
  'warns of what it could not judge, by CRD, instead of passing': {
    facts: { ...felixWith('Auto'), target: unknownRule },
    is: 'warning',
    says: /could not be checked/,
    about: ['CustomResourceDefinition/felixconfigurations.crd.projectcalico.org'],
    next: /^kubectl get felixconfigurations\.crd\.projectcalico\.org -A -o yaml \| kubectl replace --dry-run=server -f -$/,
  },
  'says nothing of a rule that no object is about': { facts: { resources: resources(), target: unknownRule }, is: 'ok' },
  'names faults first where there is both': {
    facts: { ...felixWith('auto'), target: unknownRule },
    is: 'error',
    about: ['FelixConfiguration/default'],
  },
  'looks at kinds of the target only': { facts: { ...felixWith('auto'), target: targetOf(crd('ippools', 'IPPool')) }, is: 'ok' },
  'does not apply without CRDs in the target': { facts: { ...felixWith('auto'), target: targetOf() }, is: 'not-applicable' },
  'does not apply in key-value mode': { facts: { detection: found({ datastore: 'kvstore', path: 'kvstore' }) }, is: 'not-applicable' },
  'fails if one kind could not be read': {
    facts: {
      target: felix,
      resources: {
        value: [
          {
            kind: {
              group: 'crd.projectcalico.org',
              version: 'v1',
              kind: 'FelixConfiguration',
              plural: 'felixconfigurations',
              namespaced: false,
            },
            objects: { unread: 'forbidden' },
          },
        ],
      },
    },
    is: 'error',
    says: /forbidden/,
  },
});

const byOperator = (spec: object, gateway: object = {}) => ({
  ...operated({ installation: installed(spec), gateways: [object(API, 'GatewayAPI/default', { spec: gateway })] }),
  target: targetOf(
    operatorCrd('installations', 'Installation', {
      cni: { type: 'object', properties: { type: { type: 'string' } } },
      calicoNetwork: {
        type: 'object',
        properties: { ipPools: { type: 'array', maxItems: 25, items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } },
      },
    }),
    operatorCrd('gatewayapis', 'GatewayAPI', {
      gatewayClasses: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
    }),
  ),
});
const operatorCrd = (plural: string, kind: string, properties: object) => {
  const one = crd(plural, kind, { properties } as never);
  return { ...one, metadata: { name: `${plural}.operator.tigera.io` }, spec: { ...(one.spec as object), group: 'operator.tigera.io' } };
};
const pools = (count: number) => ({
  calicoNetwork: { ipPools: Array.from({ length: count }, (_, index) => ({ cidr: `10.${index}.0.0/16` })) },
});

checkCases('NS-501', {
  'fails with more pools than the Installation may list': {
    facts: byOperator(pools(26)),
    is: 'error',
    about: ['Installation/default'],
    details: [/^spec\.calicoNetwork\.ipPools 26 items is more than 25$/],
  },
  'passes with as many as it may': { facts: byOperator(pools(25)), is: 'ok' },
});

checkCases('NS-512', {
  'passes where the target knows every setting': { facts: felixWith('Auto'), is: 'ok' },
  'warns of one that the target does not have': {
    facts: {
      target: felix,
      resources: resources(resource('FelixConfiguration/default', { iptablesBackend: 'Auto', iptablesLockTimeout: '5s' })),
    },
    is: 'warning',
    about: ['FelixConfiguration/default'],
    details: [/^spec\.iptablesLockTimeout$/],
    next: /^kubectl get felixconfiguration default -o yaml$/,
  },
  'warns of those of an operator, by their place': {
    facts: byOperator(pools(1), {
      gatewayDeployment: { spec: { template: {} } },
      gatewayClasses: [{ name: 'a', kind: 'x' }],
      labels: { any: 'one' },
    }),
    is: 'warning',
    about: ['GatewayAPI/default'],
    details: [/^spec\.gatewayDeployment, spec\.gatewayClasses\[0\]\.kind$/],
  },
  'passes with what the operator wrote itself, and says nothing': { facts: byOperator({ cni: { specVersion: 'Auto' } }), is: 'ok' },
  'warns where a user chose it': {
    facts: byOperator({ cni: { specVersion: '0.3.1' } }),
    is: 'warning',
    about: ['Installation/default'],
    details: [/^spec\.cni\.specVersion$/],
  },
  'passes with what agents alone write': {
    facts: {
      target: targetOf(crd('clusterinformations', 'ClusterInformation', { properties: {} })),
      resources: resources(resource('ClusterInformation/default', { variant: 'x' })),
    },
    is: 'ok',
  },
  'does not apply without CRDs in the target': { facts: { ...felixWith('Auto'), target: targetOf() }, is: 'not-applicable' },
  'does not apply in key-value mode': { facts: { detection: found({ datastore: 'kvstore', path: 'kvstore' }) }, is: 'not-applicable' },
});

checkCases('NS-502', {
  'passes without such objects': { is: 'ok' },
  'fails with each of them': {
    facts: { resources: resources(object('policy.networking.k8s.io/v1alpha1', 'AdminNetworkPolicy/deny')) },
    is: 'error',
    about: ['AdminNetworkPolicy/deny'],
    next: /adminnetworkpolicies\.policy\.networking\.k8s\.io$/,
  },
  'does not apply to a service that removes none': { context: contextOf({}, netsvc), is: 'not-applicable' },
});

const name = 'ippools.crd.projectcalico.org';
const stored = (...storedVersions: readonly string[]) => ({
  crds: { value: [{ name, group: 'crd.projectcalico.org', storedVersions }] },
  target: targetOf(crd('ippools', 'IPPool')),
});

checkCases('NS-504', {
  'passes if the target serves them': { facts: stored('v1'), is: 'ok' },
  'fails if it dropped one': { facts: stored('v1', 'v1beta1'), is: 'error', about: [`CustomResourceDefinition/${name}`] },
  'leaves CRDs alone that the target does not hold': { facts: { ...stored('v0'), target: targetOf() }, is: 'ok' },
});
