import assert from 'node:assert/strict';
import { isOwnPace } from '../../../src/features/install-operator/pace.ts';
import { refOf } from '../../../src/kernel/object.ts';
import { objectOf } from '../../support/inventory.ts';

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
