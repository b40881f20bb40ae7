import { deployment, found, node, targetOf } from '../fixtures/facts.ts';
import { checkCases } from '../support/check-cases.ts';

checkCases('NS-405', {
  'tells the order that the manifest path takes': { is: 'ok', says: /agents are rolled first, Typha last/ },
  'warns on the operator path, where the order is not ours': { facts: { detection: found({ path: 'operator' }) }, is: 'warning' },
  'has nothing to order within the new line': { facts: { detection: found({ path: 'operator', release: 'v3.32.0' }) }, is: 'ok' },
  'does not apply without Typha': { facts: { detection: found({ hasTypha: false }) }, is: 'not-applicable' },
});

const tight = { strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%' } } };
const typha = (replicas: number) => ({
  deployments: { value: [deployment('calico-typha', { replicas, ...tight })] },
  target: targetOf(deployment('calico-typha', tight)),
});

const windows = node('w1', { labels: { 'kubernetes.io/os': 'windows' } });

checkCases('NS-406', {
  'passes if the target lets one pod be missing': { is: 'ok' },
  'passes if a node is free': { facts: typha(1), is: 'ok' },
  'fails if every node is taken and none may be missing': {
    facts: typha(2),
    is: 'error',
    about: ['Deployment/kube-system/calico-typha'],
    next: /--replicas=1/,
  },
  'counts only nodes that take new pods': {
    facts: { ...typha(2), nodes: { value: [node('n1'), node('n2'), node('n3', { unschedulable: true })] } },
    is: 'error',
  },
  'counts no Windows nodes: Typha does not run there': {
    facts: { ...typha(2), nodes: { value: [node('n1'), node('n2'), windows] } },
    is: 'error',
    says: /2 open nodes/,
  },
  'counts a quarter of four as one': { facts: { ...typha(4) }, is: 'ok' },
  'does not apply without Typha': { facts: { detection: found({ hasTypha: false }) }, is: 'not-applicable' },
});
