import { node } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/check-cases.ts';

const nodes = (...value: readonly ReturnType<typeof node>[]) => ({ nodes: { value } });

checkCases('NS-421', {
  'passes if all are Ready': { is: 'ok', says: /2 nodes/ },
  'fails with the one that is not': {
    facts: nodes(node('n1'), node('n2', { conditions: { Ready: 'Unknown' } })),
    is: 'error',
    about: ['Node/n2'],
  },
});

checkCases('NS-422', {
  'passes if none is cordoned': { is: 'ok' },
  'warns about a cordoned one': { facts: nodes(node('n1', { unschedulable: true })), is: 'warning', next: /uncordon n1/ },
});

checkCases('NS-423', {
  'passes without pressure': { is: 'ok' },
  'fails on a full disk': { facts: nodes(node('n1', { conditions: { DiskPressure: 'True' } })), is: 'error', about: ['Node/n1'] },
});
