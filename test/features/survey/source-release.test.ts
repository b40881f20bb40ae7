import type { ComponentVersion } from '../../../src/kernel/installation.ts';
import type { RunRecord } from '../../../src/kernel/run-record.ts';
import { contextOf, found } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/check-cases.ts';

checkCases('NS-105', {
  'passes from the oldest supported release on': { facts: { detection: found({ release: 'v3.15.0' }) }, is: 'ok' },
  'fails below': { facts: { detection: found({ release: 'v3.14.2' }) }, is: 'error', says: /v3\.14\.2/ },
  'fails if the release is not known': {
    facts: { detection: found({ release: undefined }) },
    is: 'error',
    about: ['DaemonSet/kube-system/calico-node'],
  },
  'is content with a known minor line': { facts: { detection: found({ release: undefined, line: 'v3.20' }) }, is: 'ok' },
});

checkCases('NS-106', {
  'passes if the target is newer': { is: 'ok' },
  'passes if it is the same': { facts: { detection: found({ release: 'v3.32.1' }) }, is: 'ok' },
  'fails if it is older': { context: contextOf({ release: 'v3.27.0' }), is: 'error', next: /v3\.27\.5/ },
  'does not apply if the release is not known': { facts: { detection: found({ release: undefined }) }, is: 'not-applicable' },
});

const mixed = (component: string, workload: string): { readonly detection: ReturnType<typeof found> } => {
  const version: ComponentVersion = { component, workload, container: 'c', image: 'x:v3.30.0', release: 'v3.30.0' };
  return { detection: found({ mixed: [version] }) };
};
const typha = 'Deployment/kube-system/calico-typha';
const running = { clusterUid: 'cluster-1', target: 'v3.32.1' } as RunRecord;

checkCases('NS-107', {
  'passes if all are of one release': { is: 'ok' },
  'fails if a component is not': { facts: mixed('typha', typha), is: 'error', about: [typha] },
  'only warns about an add-on': { facts: mixed('apiserver', 'Deployment/calico-apiserver/calico-apiserver'), is: 'warning' },
  'does not compare what is numbered on its own': { facts: mixed('flannel', 'DaemonSet/kube-system/canal'), is: 'ok' },
  'expects it of an interrupted run': { facts: { ...mixed('typha', typha), record: { value: running } }, is: 'expected' },
  'does not expect it of a run to another release': {
    facts: { ...mixed('typha', typha), record: { value: { ...running, target: 'v3.30.0' } } },
    is: 'error',
  },
});
