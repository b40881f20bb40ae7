import assert from 'node:assert/strict';
import { isOwnPace } from '../../../src/features/install-operator/pace.ts';
import { type FieldsV1, type ManagedFieldsEntry, refOf } from '../../../src/kernel/object.ts';
import { leftIn, PACER } from '../../../src/kube/paced.ts';
import { objectOf } from '../../support/inventory.ts';

describe('what a run left of its pace, once the value is put back', () => {
  const path = ['spec', 'nodeUpdateStrategy', 'rollingUpdate'];
  const rollingUpdate = { maxUnavailable: 1 };
  const owns = (manager: string, fieldsV1: FieldsV1) => ({ manager, operation: 'Update', fieldsV1 });
  const pace = { 'f:spec': { 'f:nodeUpdateStrategy': { 'f:rollingUpdate': { 'f:maxUnavailable': {} } } } };
  const left = (...managedFields: readonly ManagedFieldsEntry[]) => {
    const live = objectOf('operator.tigera.io/v1', 'Installation', 'default', { spec: { nodeUpdateStrategy: { rollingUpdate } } });
    return leftIn({ ...live, metadata: { ...live.metadata, managedFields } }, path);
  };

  it('is its ownership of the field', () => {
    assert.deepEqual(left(owns('kubectl-edit', { 'f:spec': {} }), owns(PACER, pace)), { former: rollingUpdate, ours: rollingUpdate });
    assert.equal(left(owns('kubectl-edit', pace)), undefined);
  });

  // The next run would try it again and again.
  it('is nothing where the ownership cannot be given up: the server keeps the only entry', () =>
    assert.equal(left(owns(PACER, pace)), undefined));
});

describe('a field of the Installation that is ours for a while', () => {
  const path = ['spec', 'nodeUpdateStrategy', 'rollingUpdate'];
  const place = path.join('.');
  const own = { former: { maxUnavailable: 1 }, ours: { maxUnavailable: 2 } };

  function isOurs(rollingUpdate: object, field: string): boolean {
    const live = objectOf('operator.tigera.io/v1', 'Installation', 'default', { spec: { nodeUpdateStrategy: { rollingUpdate } } });
    return isOwnPace({ live, path, own, wanted: undefined, behind: true }, refOf(live), field);
  }

  it('is what this program wrote, and the whole where nothing else is in it', () => {
    assert.ok(isOurs({ maxUnavailable: 2 }, `${place}.maxUnavailable`));
    assert.ok(isOurs({ maxUnavailable: 2 }, place));
  });

  it('is nothing that somebody has set beside it, and no longer what somebody has set over it', () => {
    assert.ok(!isOurs({ maxUnavailable: 2, maxSurge: 1 }, `${place}.maxSurge`));
    assert.ok(!isOurs({ maxUnavailable: 2, maxSurge: 1 }, place));
    assert.ok(!isOurs({ maxUnavailable: 3 }, `${place}.maxUnavailable`));
  });
});
