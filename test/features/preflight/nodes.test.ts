import { node } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';

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
  'warns about a cordoned one': { facts: nodes(node('n1', { unschedulable: true })), is: 'warning', fix: /uncordon n1/ },
});

checkCases('NS-423', {
  'passes without pressure': { is: 'ok' },
  'fails on a full disk': { facts: nodes(node('n1', { conditions: { DiskPressure: 'True' } })), is: 'error', about: ['Node/n1'] },
});

const kernel = (kernelVersion: string) => nodes(node('n1', { info: { kernelVersion } }));

checkCases('NS-424', {
  'passes from 5.10 on': { facts: kernel('5.10.0-28-amd64'), is: 'ok' },
  'warns below': { facts: kernel('5.4.0-150-generic'), is: 'warning', about: ['Node/n1'] },
  'warns far below': { facts: kernel('3.10.0-1160.el7.x86_64'), is: 'warning' },
  'knows what Red Hat 8 carries': { facts: kernel('4.18.0-513.el8.x86_64'), is: 'ok' },
  'leaves Windows out': { facts: nodes(node('w', { info: { kernelVersion: '4.0', operatingSystem: 'windows' } })), is: 'ok' },
});

const cpu = (...features: readonly string[]) =>
  nodes(node('n1', { labels: Object.fromEntries(features.map((name) => [`feature.node.kubernetes.io/cpu-cpuid.${name}`, 'true'])) }));

checkCases('NS-425', {
  'does not pass where labels are missing, and says what tells': {
    is: 'not-applicable',
    says: /^2 nodes of amd64 without processor labels: .*preflight --probe-nodes all$/,
  },
  'passes if labels prove it': { facts: cpu('AVX2', 'AESNI'), is: 'ok', says: /supported$/ },
  'warns if labels show nothing of it': { facts: cpu('AESNI'), is: 'warning', about: ['Node/n1'] },
  'fails on an architecture without images': { facts: nodes(node('n1', { info: { architecture: 'arm' } })), is: 'error' },
  'passes on arm64': { facts: nodes(node('n1', { info: { architecture: 'arm64' } })), is: 'ok' },
});

checkCases('NS-426', {
  'passes with Linux alone': { is: 'ok' },
  'warns about Windows': { facts: nodes(node('w1', { labels: { 'kubernetes.io/os': 'windows' } })), is: 'warning', about: ['Node/w1'] },
});
