import assert from 'node:assert/strict';
import type { ApiObject } from '../control-plane/api.ts';
import { differences, normalised } from './end-state.ts';

const object = (metadata: object, more: object = {}): ApiObject => ({
  metadata: {
    name: 'agent',
    namespace: 'kube-system',
    uid: 'u1',
    resourceVersion: '7',
    creationTimestamp: 'now',
    generation: 2,
    ...metadata,
  },
  ...more,
});

const field = (manager: string, time: string) => ({ manager, operation: 'Apply', time, fieldsV1: { 'f:spec': {} } });

describe('the end state', () => {
  it('is the same for two clusters whose uids, times and status differ', () => {
    const one = object({ managedFields: [field('kubectl', '1'), field('kube-controller-manager', '1')] }, { status: { a: 1 } });
    const other = object({ uid: 'u2', resourceVersion: '9', creationTimestamp: 'then', managedFields: [field('kubectl', '2')] });
    assert.deepEqual(differences(normalised('daemonsets', one), normalised('daemonsets', other)), []);
  });

  const unequal: readonly (readonly [string, ApiObject])[] = [
    ['a field', object({}, { spec: { image: 'b' } })],
    ['a label', object({ labels: { a: 'b' } }, { spec: { image: 'a' } })],
    ['an owner of fields', object({ managedFields: [field('kubectl', '1')] }, { spec: { image: 'a' } })],
    ['how often a workload was changed', object({ generation: 3 }, { spec: { image: 'a' } })],
  ];
  for (const [what, other] of unequal) {
    it(`is not the same if ${what} differs`, () => {
      const clean = object({}, { spec: { image: 'a' } });
      assert.equal(differences(normalised('daemonsets', clean), normalised('daemonsets', other)).length > 0, true);
    });
  }

  it('holds of the run record what the cluster cannot tell any more, and no times', () => {
    const record = (more: object) =>
      normalised(
        'secrets',
        object(
          { name: 'netsvc-upgrade-run' },
          { data: { 'record.json': Buffer.from(JSON.stringify({ source: 'v1', ...more })).toString('base64') } },
        ),
      );
    assert.deepEqual(differences(record({ startedAt: '1', finishedAt: '2' }), record({ startedAt: '3', finishedAt: '4' })), []);
    assert.equal(differences(record({ finishedAt: '2' }), record({})).length, 1);
    assert.deepEqual(differences(record({}), record({ source: 'v2' })), ['/source: "v1" in the clean run, "v2" in this one']);
  });
});
