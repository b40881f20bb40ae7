import type { RunRecord } from '../../../src/kernel/run-record.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';
import { contextOf, daemonSet, deployment, found, healthyPods, object, pod } from '../../fixtures/facts.ts';
import { upgradeTo } from '../../fixtures/stored-record.ts';
import { checkCases } from '../../support/judged-worlds.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const pods = (...changed: readonly ReturnType<typeof pod>[]) => {
  const names = changed.map(({ name }) => name);
  return { pods: { value: [...healthyPods.filter(({ name }) => !names.includes(name)), ...changed] } };
};
const broken = pods(pod('calico-node-2', { ready: false, readyContainers: 0, trouble: 'calico-node: CrashLoopBackOff' }));
const running = { record: { value: { clusterUid: 'cluster-1', intent: upgradeTo(CALICO_TARGET) } as RunRecord } };

checkCases('NS-401', {
  'passes if every agent is ready': { is: 'ok', says: /2 pods ready/ },
  'fails with the pod that is not': {
    facts: broken,
    is: 'error',
    about: ['Pod/kube-system/calico-node-2'],
    next: /describe pods -n kube-system calico-node-2/,
  },
  'expects it of an interrupted run': { facts: { ...broken, ...running }, is: 'expected' },
  'fails if a pod is stopping': { facts: pods(pod('calico-node-1', { terminating: true })), is: 'error' },
  'fails if an earlier rollout is not over': {
    facts: { daemonSets: { value: [daemonSet({}, { updatedNumberScheduled: 1 })] } },
    is: 'error',
    says: /1 of 2 pods have the current template/,
  },
  'fails if the last change is not seen': { facts: { daemonSets: { value: [daemonSet({}, { observedGeneration: 1 })] } }, is: 'error' },
  'fails if pods are missing': { facts: { pods: { value: [pod('calico-node-1')] } }, is: 'error', says: /1 of 2 pods exist/ },
  'fails if no node takes an agent': {
    facts: { daemonSets: { value: [daemonSet({}, { desiredNumberScheduled: 0 })] }, pods: { value: [] } },
    is: 'error',
  },
  'fails if the DaemonSet is gone': { facts: { daemonSets: { value: [] } }, is: 'error', about: ['DaemonSet/kube-system/calico-node'] },
  'does not apply if the variant is unknown': { facts: { detection: found({ variant: undefined }) }, is: 'not-applicable' },
});

checkCases('NS-402', {
  'passes if they are ready': { is: 'ok' },
  'fails if they are not': { facts: pods(pod('calico-kube-controllers-1', { ready: false })), is: 'error' },
  'expects it of an interrupted run': {
    facts: { ...pods(pod('calico-kube-controllers-1', { ready: false })), ...running },
    is: 'expected',
  },
  'passes over a pod that was evicted and has been replaced': {
    facts: pods(pod('calico-kube-controllers-2', { ready: false, readyContainers: 0, ended: true })),
    is: 'ok',
    says: /1 pod ready/,
  },
  'fails with the pod that was evicted if none has taken its place': {
    facts: pods(pod('calico-kube-controllers-1', { ready: false, readyContainers: 0, ended: true })),
    is: 'error',
    about: ['Pod/kube-system/calico-kube-controllers-1'],
  },
  'fails if they are scaled to nothing': {
    facts: { deployments: { value: [deployment('calico-kube-controllers', { replicas: 0 })] }, pods: { value: [] } },
    is: 'error',
    says: /no pod is wanted/,
  },
});

checkCases('NS-403', {
  'passes if it is ready': { is: 'ok' },
  'fails if it is not': { facts: pods(pod('calico-typha-1', { ready: false })), is: 'error', about: ['Pod/kube-system/calico-typha-1'] },
  'expects it of an interrupted run': { facts: { ...pods(pod('calico-typha-1', { ready: false })), ...running }, is: 'expected' },
  'does not apply without Typha': { facts: { detection: found({ hasTypha: false }) }, is: 'not-applicable' },
});

/** In key-value mode the procedure expects agents of which one container of two is ready (§3/2). */
const kvstore = netsvc.variants.find((variant) => variant.datastore === 'kvstore');
const agent = kvstore?.agent ?? { namespace: '', name: '', container: '' };
const one = {
  detection: found({ path: 'kvstore', variant: kvstore?.id, datastore: 'kvstore', hasTypha: false, agent: undefined }),
  daemonSets: {
    value: [
      object('apps/v1', `DaemonSet/${agent.namespace}/${agent.name}`, {
        spec: { selector: { matchLabels: { app: 'agent' } } },
        status: { desiredNumberScheduled: 1, updatedNumberScheduled: 1 },
      }),
    ],
  },
} as const;
const half = (readyContainers: number) => {
  const found = pod('a-1', {
    namespace: agent.namespace,
    labels: { app: 'agent' },
    readyContainers,
    regularContainers: 2,
    ready: readyContainers === 2,
  });
  return { ...one, pods: { value: [found] } };
};

describe('with a profile that expects 1/2 in key-value mode', () => {
  checkCases('NS-401', {
    'passes at 1/2': { facts: half(1), context: contextOf({}, netsvc), is: 'ok' },
    'fails at 0/2': { facts: half(0), context: contextOf({}, netsvc), is: 'error' },
  });
});
