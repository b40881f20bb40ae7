import type { Context } from '../../../src/kernel/context.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, deployment, found, node, targetOf } from '../../fixtures/facts.ts';
import { upgradeTo } from '../../fixtures/stored-record.ts';
import { runRecord } from '../../support/apply-bench.ts';
import { checkCases } from '../../support/judged-worlds.ts';

checkCases('NS-405', {
  'tells the order that the manifest path takes': { is: 'ok', says: /agents are rolled first, Typha last/ },
  'warns on the operator path, where the order is not ours': {
    facts: { detection: found({ path: 'operator' }) },
    is: 'warning',
    next: /^kubectl -n \S+ get pods -l k8s-app=\S+-node -o wide$/,
  },
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

const operated = { detection: found({ path: 'operator', hasTypha: true, release: 'v3.27.5' }) };
const calicoContext = (chain?: Context['chain']) => ({
  ...contextOf({ release: 'v3.32.1' }),
  profile: calico,
  ...(chain ? { chain } : {}),
});

checkCases('NS-251', {
  'is told by preflight, where plan and run would stop': { context: calicoContext(), facts: operated, is: 'error' },
  'is left to the stage that asks for it by name': {
    context: calicoContext({ pending: [], onlyPlanned: false, later: ['crds'] }),
    facts: operated,
    is: 'not-applicable',
  },
  'is done once the run has applied the target': {
    context: calicoContext(),
    facts: {
      ...operated,
      record: { value: runRecord({ clusterUid: contextOf().clusterUid, intent: upgradeTo('v3.32.1', 'v3.27.5'), wrote: ['apply'] }) },
    },
    is: 'not-applicable',
  },
  'does not apply to a full manifest': { context: calicoContext(), is: 'not-applicable' },
});
