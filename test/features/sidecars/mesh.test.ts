import type { Profile } from '../../../src/kernel/profile.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, daemonSet, found, healthyPods, object, pod, resource, resources } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';

const meshed = (flexDrivers: readonly string[] = []) => ({
  pods: {
    value: [
      ...healthyPods,
      pod('shop', { namespace: 'shop', containers: [{ name: 'dikastes', image: 'calico/dikastes:v3.20.6' }], flexDrivers }),
    ],
  },
});
const { flexDriver: _, ...sidecar } = calico.sidecar;
const unnamed: Profile = { ...calico, sidecar };
const template = {
  injectors: { value: [object('v1', 'ConfigMap/istio-system/istio-sidecar-injector', { data: { config: 'name: dikastes' } })] },
};

const KVSTORE = { path: 'kvstore', variant: 'calico-etcd', datastore: 'kvstore' } as const;
const configuration = resource('FelixConfiguration/default', { policySyncPathPrefix: '/var/run/nodeagent' });
const env = [{ name: 'FELIX_POLICYSYNCPATHPREFIX', value: '/var/run/nodeagent' }];
const synced = {
  daemonSets: {
    value: [daemonSet({ template: { spec: { containers: [{ name: 'calico-node', image: 'quay.io/calico/node:v3.27.5', env }] } } })],
  },
};

checkCases('NS-702', {
  'passes if it is not in use': { is: 'ok' },
  'warns about a pod with a sidecar': { facts: meshed(), is: 'warning', about: ['Pod/shop/shop'], next: /alp/ },
  'warns about a template': { facts: template, is: 'warning', about: ['ConfigMap/istio-system/istio-sidecar-injector'] },
  'warns about the setting': {
    facts: { resources: resources(configuration) },
    is: 'warning',
    about: ['policySyncPathPrefix'],
  },
  'warns about the setting in the agents’ environment': { facts: synced, is: 'warning', about: ['policySyncPathPrefix'] },
  'warns about it with a key-value datastore as well': {
    facts: { ...synced, detection: found(KVSTORE) },
    is: 'warning',
    about: ['policySyncPathPrefix'],
  },
  'warns about the setting that only the CLI sees': {
    facts: {
      detection: found(KVSTORE),
      inStore: { value: { temporaryPolicies: [], clusterInformation: [], agentConfigurations: [configuration] } },
    },
    is: 'warning',
    about: ['policySyncPathPrefix'],
  },
  'goes by the other signs where the CLI cannot be asked': {
    facts: { detection: found(KVSTORE), inStore: { unread: 'no calicoctl' } },
    is: 'ok',
  },
  'does not take a leftover of the API for a setting of the store': {
    facts: { detection: found(KVSTORE), resources: resources(configuration) },
    is: 'ok',
  },
  'does not mind an injector without the sidecar': {
    facts: { injectors: { value: [object('v1', 'ConfigMap/istio-system/istio-sidecar-injector', { data: { config: 'x' } })] } },
    is: 'ok',
  },
});

checkCases('NS-703', {
  'passes if no sidecar is in use': { is: 'ok' },
  'fails if sidecars mount by the old driver': { facts: meshed(['nodeagent/uds']), is: 'error', about: ['Pod/shop/shop'] },
  'goes by any flexible volume of a sidecar’s pod where the profile does not name the driver': {
    facts: meshed(['vendor/uds']),
    context: contextOf({}, unnamed),
    is: 'error',
    about: ['Pod/shop/shop'],
  },
  'does not mind another flexible volume where it does': { facts: meshed(['vendor/disk']), is: 'ok' },
  'fails if the old driver goes and the new one is missing': {
    facts: { ...meshed(), detection: found({ release: 'v3.20.6' }) },
    is: 'error',
  },
  'passes if the new driver is there': { facts: { ...meshed(), detection: found({ release: 'v3.20.6', hasCsiDriver: true }) }, is: 'ok' },
  'fails from v3.23 on as well, whose templates still mount by the old driver': {
    facts: { ...meshed(), detection: found({ release: 'v3.23.5' }) },
    is: 'error',
  },
  'passes from v3.24 on, whose templates do not': { facts: { ...meshed(), detection: found({ release: 'v3.24.6' }) }, is: 'ok' },
  'passes if the old driver went long ago': { facts: meshed(), is: 'ok' },
});
