import assert from 'node:assert/strict';
import { type OtherPod, otherPodsOf, othersRunning } from '../../../src/features/rollout/other-pods.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';
import { contextOf, object } from '../../fixtures/facts.ts';
import { upgradeTo } from '../../fixtures/stored-record.ts';
import { runRecord } from '../../support/apply-bench.ts';
import { judgeAll } from '../../support/judged-worlds.ts';
import { NETSVC_TARGET } from '../../support/target.ts';

const context = contextOf({ release: NETSVC_TARGET }, netsvc);
const record = runRecord({ intent: upgradeTo(NETSVC_TARGET), clusterUid: context.clusterUid, startedAt: '2026-11-21T02:00:00Z' });
const [BEFORE, SINCE] = ['2026-11-20T00:00:00Z', '2026-11-21T02:10:00Z'];

function pod(name: string, status: object, creationTimestamp = BEFORE, namespace = 'kube-system'): KubeObject {
  return object('v1', `Pod/${namespace}/${name}`, { metadata: { creationTimestamp }, status });
}
const waiting = (reason: string, lastTransitionTime: string) => ({
  phase: 'Pending',
  containerStatuses: [{ name: 'c', ready: false, state: { waiting: { reason } } }],
  conditions: [{ type: 'Ready', status: 'False', lastTransitionTime }],
});
const found = (...pods: readonly KubeObject[]) => otherPodsOf(pods, record, context);

describe('other pods of kube-system', () => {
  const states: Readonly<Record<string, readonly [KubeObject, Omit<OtherPod, 'name'> | undefined]>> = {
    'runs, ready or not': [pod('dns', { phase: 'Running' }), undefined],
    'has completed': [pod('job', { phase: 'Succeeded' }), undefined],
    'is the service’s, which the rollout speaks of': [pod('netsvc-node-x7k2p', waiting('CrashLoopBackOff', SINCE)), undefined],
    'is elsewhere': [pod('dns', { phase: 'Pending' }, BEFORE, 'shop'), undefined],
    'crashes since the run': [pod('dns', waiting('CrashLoopBackOff', SINCE)), { state: 'CrashLoopBackOff', before: false }],
    'could not pull its image before': [pod('dns', waiting('ImagePullBackOff', BEFORE)), { state: 'ImagePullBackOff', before: true }],
    'had no node before': [pod('dns', { phase: 'Pending' }), { state: 'Pending', before: true }],
    'has no node since': [pod('dns', { phase: 'Pending' }, SINCE), { state: 'Pending', before: false }],
    'was evicted': [pod('dns', { phase: 'Failed', reason: 'Evicted' }), { state: 'Evicted', before: true }],
  };
  for (const [what, [one, expected]] of Object.entries(states))
    it(`${expected ? 'name' : 'leave out'} one that ${what}`, () => {
      assert.deepEqual(found(one), expected ? [{ name: one.metadata.name, ...expected }] : []);
    });

  it('are not marked by a run to another release, nor by one of another cluster', () => {
    const dns = pod('dns', { phase: 'Pending' });
    for (const other of [undefined, { ...record, intent: upgradeTo('v3.31.0') }, { ...record, clusterUid: 'other' }])
      assert.deepEqual(otherPodsOf([dns], other, context), [{ name: 'dns', state: 'Pending', before: false }]);
  });

  it('NS-312: are a warning that names each, those of before marked, and looks at a new one first', () => {
    const value = found(pod('old', { phase: 'Pending' }), pod('new', waiting('CrashLoopBackOff', SINCE)));
    const [finding] = judgeAll([othersRunning], { otherPods: { value } }, context);
    assert.equal(finding?.outcome, 'warning');
    assert.match(
      finding.message,
      /^2 pods of kube-system that the service does not own are neither .*Pod\/kube-system\/old.*; 1 since before the run/,
    );
    assert.deepEqual(
      finding.evidence?.map(({ detail }) => detail),
      ['Pending, since before the run', 'CrashLoopBackOff'],
    );
    assert.equal(String(finding.next), 'kubectl -n kube-system describe pod new');
  });
});
