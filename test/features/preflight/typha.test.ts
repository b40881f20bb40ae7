import type { Context } from '../../../src/kernel/context.ts';
import { HELD_BY } from '../../../src/kube/held.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, deployment, found, node, object, targetOf } from '../../fixtures/facts.ts';
import { upgradeTo } from '../../fixtures/stored-record.ts';
import { runRecord } from '../../support/apply-bench.ts';
import { checkCases } from '../../support/judged-worlds.ts';
import { unheld } from '../../support/operated-bench.ts';

const operated = { detection: found({ path: 'operator', hasTypha: true, release: 'v3.27.5' }) };
const calicoContext = (chain?: Context['chain']) => ({
  ...contextOf({ release: 'v3.32.1' }),
  profile: calico,
  ...(chain ? { chain } : {}),
});

checkCases('NS-405', {
  'tells the order that the manifest path takes': { is: 'ok', says: /agents are rolled first, Typha last/ },
  'tells that Typha is held on the operator path': {
    context: calicoContext(),
    facts: operated,
    is: 'ok',
    says: /held until the operator has upgraded every agent/,
  },
  'warns on the operator path where nothing keeps the operator from Typha': {
    context: { ...calicoContext(), profile: unheld },
    facts: operated,
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
    fix: /--replicas=1/,
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

checkCases('NS-251', {
  'passes where Typha is held': { context: calicoContext(), facts: operated, is: 'ok', says: /held at its release/ },
  'is told by preflight where nothing keeps the operator from Typha': {
    context: { ...calicoContext(), profile: unheld },
    facts: operated,
    is: 'error',
  },
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

const annotated = (annotations: Readonly<Record<string, string>>) => ({
  ...operated,
  daemonSets: { value: [] },
  deployments: {
    value: [{ ...object('v1', 'Deployment/calico-typha'), metadata: { name: 'calico-typha', namespace: 'calico-system', annotations } }],
  },
});
const IGNORE = 'unsupported.operator.tigera.io/ignore';

checkCases('NS-411', {
  'names a component that a user keeps from the operator': {
    context: calicoContext(),
    facts: annotated({ [IGNORE]: 'true' }),
    is: 'error',
    about: ['Deployment/calico-system/calico-typha'],
    hint: /kubectl annotate deployment calico-typha -n calico-system unsupported\.operator\.tigera\.io\/ignore-/,
    next: /^kubectl get deployment calico-typha -n calico-system --show-managed-fields -o yaml$/,
  },
  'passes what this program holds itself': {
    context: calicoContext(),
    facts: annotated({ [IGNORE]: 'true', [HELD_BY]: 'a run' }),
    is: 'ok',
  },
  'refuses a value that no operator looks at where Typha has to be held': {
    context: contextOf({ accept: [{ check: 'NS-411' }] }, calico),
    facts: annotated({ [IGNORE]: 'false' }),
    is: 'error',
    says: /changes no annotation of a user's/,
    details: [/ignore: false$/],
    hint: /kubectl annotate deployment calico-typha -n calico-system unsupported\.operator\.tigera\.io\/ignore-/,
  },
  'passes such a value where nothing has to be held': {
    context: calicoContext(),
    facts: { ...annotated({ [IGNORE]: 'false' }), detection: found({ path: 'operator', hasTypha: true, release: 'v3.32.0' }) },
    is: 'ok',
  },
  'does not apply to a full manifest': { context: calicoContext(), is: 'not-applicable' },
});
