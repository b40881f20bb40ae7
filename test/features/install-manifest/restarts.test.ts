import assert from 'node:assert/strict';
import { restartOf, withRestarts } from '../../../src/features/install-manifest/outcome.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import type { PlannedObject } from '../../../src/kernel/plan.ts';
import { plainText } from '../../../src/kernel/step.ts';

const workload = (kind: string, rest: object): KubeObject => ({ apiVersion: 'apps/v1', kind, metadata: { name: 'w' }, ...rest });
const agents = (rest: object = {}) => workload('DaemonSet', { status: { desiredNumberScheduled: 5 }, ...rest });

function noteOf(before: KubeObject | undefined, path = 'spec.template.spec.containers[a].image', more: object = {}, after = before) {
  const ref = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'w' };
  const planned: PlannedObject = { ref, change: 'update', fields: [{ path }], hidden: [], taken: [], ...more };
  return withRestarts(planned, before, after).note;
}

describe('the pods that a write restarts', () => {
  it('are as many as the workload is to have now', () => {
    assert.equal(noteOf(agents()), 'restarts 5 pods');
    assert.equal(noteOf(workload('Deployment', { spec: { replicas: 3 } })), 'restarts 3 pods');
    assert.equal(noteOf(workload('StatefulSet', { spec: {} })), 'restarts 1 pod');
  });

  it('are none where the pod template stays, where there are no pods, and where it is no workload', () => {
    assert.equal(noteOf(agents(), 'spec.updateStrategy.rollingUpdate.maxUnavailable'), undefined);
    assert.equal(noteOf(workload('Deployment', { spec: { replicas: 0 } })), undefined);
    assert.equal(noteOf(workload('Job', { spec: {} })), undefined);
    assert.equal(noteOf(undefined), undefined);
  });

  it('stand before what else is to be said', () => {
    assert.equal(plainText(noteOf(agents(), undefined, { note: 'more' }) ?? ''), 'restarts 5 pods; more');
  });

  it('wait where the workload will hold its rollout back', () => {
    const held = agents({ spec: { updateStrategy: { type: 'OnDelete' } } });
    assert.match(String(noteOf(agents(), undefined, {}, held) ?? ''), /^restarts 5 pods, each only when it is deleted/);
    assert.equal(noteOf(held, undefined, {}, agents()), 'restarts 5 pods');
    const paused = workload('Deployment', { spec: { replicas: 2, paused: true } });
    assert.match(String(noteOf(paused) ?? ''), /^restarts 2 pods, once its paused rollout is resumed$/);
  });

  it('may be fewer where this program holds the agents for a canary', () => {
    const metadata = { name: 'w', annotations: { 'netsvc-upgrade/strategy': 'x' } };
    const held = agents({ metadata, spec: { updateStrategy: { type: 'OnDelete' } } });
    assert.equal(noteOf(held, undefined, {}, agents()), 'restarts 5 pods at most, none that has this template already');
  });

  it('of a DaemonSet are taken so many at a time', () => {
    const rolling = (rollingUpdate: object) =>
      restartOf(agents({ spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate } } }))?.atOnce;
    assert.deepEqual([{}, { maxUnavailable: 2 }, { maxUnavailable: '25%' }, { maxUnavailable: 0, maxSurge: 3 }].map(rolling), [1, 2, 2, 3]);
    assert.equal(rolling({ maxUnavailable: '300%' }), 5);
    assert.equal(restartOf(agents({ spec: { updateStrategy: { type: 'OnDelete' } } }))?.atOnce, undefined);
    assert.equal(restartOf(workload('Deployment', { spec: { replicas: 2 } }))?.atOnce, undefined);
    assert.equal(restartOf(workload('Job', {})), undefined);
  });
});
