import { found, resource, resources } from '../fixtures/facts.ts';
import { checkCases } from '../support/check-cases.ts';

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
    next: /label hostendpoints\.crd\.projectcalico\.org mine projectcalico\.org\/created-by-$/,
  },
  'finds it in the annotation of newer releases': { facts: { resources: resources(annotated) }, is: 'error' },
  'does not mind the label with another value': {
    facts: { resources: resources(endpoint('mine', { 'projectcalico.org/created-by': 'me' })) },
    is: 'ok',
  },
});
