import type { KubeObject } from '../../../src/kernel/object.ts';
import { found, object, resource, resources } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';

const label = { 'projectcalico.org/created-by': 'calico-kube-controllers' };
const endpoint = (name: string, labels: object = {}, interfaceName = '*') =>
  resource(`HostEndpoint/${name}`, { node: 'n1', interfaceName }, { labels });
const settings = (autoCreate: string) =>
  resource('KubeControllersConfiguration/default', { controllers: { node: { hostEndpoint: { autoCreate } } } });

checkCases('NS-704', {
  'passes without old ones': {
    facts: { resources: resources(endpoint('n1-auto-hep', label), settings('Enabled')) },
    is: 'ok',
    says: /automatic/,
  },
  'only mentions old ones while nothing is automatic': {
    facts: { resources: resources(endpoint('n1'), settings('Disabled')) },
    is: 'ok',
    says: /1 old/,
  },
  'warns if both kinds are there': {
    facts: { resources: resources(endpoint('n1'), endpoint('n1-auto-hep', label), settings('Enabled')) },
    is: 'warning',
    about: ['HostEndpoint/n1'],
    next: /hep/,
  },
  'does not count endpoints of one interface': {
    facts: { resources: resources(endpoint('n1', {}, 'eth0'), settings('Enabled')) },
    is: 'ok',
  },
  'does not apply in key-value mode': { facts: { detection: found({ datastore: 'kvstore' }) }, is: 'not-applicable' },
});

const annotated = resource(
  'HostEndpoint/mine',
  { interfaceName: '*' },
  { annotations: { 'projectcalico.org/metadata': JSON.stringify({ labels: label }) } },
);

checkCases('NS-705', {
  'passes if only the controllers’ own carry it': { facts: { resources: resources(endpoint('n1-auto-hep', label)) }, is: 'ok' },
  'fails if another does': {
    facts: { resources: resources(endpoint('mine', label)) },
    is: 'error',
    about: ['HostEndpoint/mine'],
    fix: /label hostendpoints\.crd\.projectcalico\.org mine projectcalico\.org\/created-by-$/,
  },
  'finds it in the annotation of newer releases': { facts: { resources: resources(annotated) }, is: 'error' },
  'does not mind the label with another value': {
    facts: { resources: resources(endpoint('mine', { 'projectcalico.org/created-by': 'me' })) },
    is: 'ok',
  },
});

const node = (name: string) => object('v1', `Node/${name}`);
const onNode = (endpoint: KubeObject) => ({ nodes: { value: [node('n1')] }, resources: resources(endpoint) });

checkCases('NS-708', {
  'passes if the automatic name is the controllers’ own': { facts: onNode(endpoint('n1-auto-hep', label)), is: 'ok' },
  'warns if it was made by hand': { facts: onNode(endpoint('n1-auto-hep')), is: 'warning', about: ['HostEndpoint/n1-auto-hep'] },
  'does not mind the suffix behind what is no node': { facts: onNode(endpoint('x-auto-hep')), is: 'ok' },
  'cannot tell without the nodes': {
    facts: { nodes: { unread: 'forbidden' }, resources: resources(endpoint('n1-auto-hep')) },
    is: 'warning',
    says: /forbidden/,
  },
});

const sync = (syncLabels?: string) =>
  resource('KubeControllersConfiguration/default', { controllers: { node: syncLabels ? { syncLabels } : {} } });

checkCases('NS-709', {
  'passes without the setting': { facts: { resources: resources(sync()) }, is: 'ok' },
  'passes if it is on': { facts: { resources: resources(sync('Enabled')) }, is: 'ok' },
  'passes before the controllers have ever run': { facts: { resources: resources() }, is: 'ok' },
  'warns if it is off': {
    facts: { resources: resources(sync('Disabled')) },
    is: 'warning',
    fix: /^kubectl patch kubecontrollersconfigurations\.crd\.projectcalico\.org default --type=merge/,
  },
  'does not apply in key-value mode': { facts: { detection: found({ datastore: 'kvstore' }) }, is: 'not-applicable' },
});
