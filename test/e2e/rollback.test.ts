import assert from 'node:assert/strict';
import { differences } from '../support/end-state.ts';
import { readObjects } from '../support/former-state.ts';
import { within } from '../support/installed-cluster.ts';
import { opened } from '../support/rollback-story.ts';
import { BACK, RUN } from '../support/rollback-sweep.ts';
import { CALICO_TARGET, pattern } from '../support/target.ts';
import { assertSucceeded, killedAt, told } from '../support/upgrade-process.ts';

/** One that goes without a kill is in procedure-c.test.ts, more are in test/full. */
describe('rollback on a real control plane', function () {
  this.timeout(400_000);

  it('takes back a run that was killed half way, and one that was killed itself goes on with the same command', () =>
    within(opened(), async (cluster) => {
      const before = await readObjects(cluster.plane.api);
      await killedAt(RUN, cluster.around, /calico-node node-\d+ new /);
      await killedAt(BACK, cluster.around, /calico-node node-\d+ new /);
      const other = await cluster.upgrade(...RUN);
      assert.equal(other.exitCode, 3, told(other));
      assert.match(told(other), pattern`a rollback to v3\.27\.5 is unfinished, and this one goes to ${CALICO_TARGET}`);
      assert.match(told(other), /kubectl netsvc-upgrade rollback/);
      assertSucceeded(await cluster.upgrade(...BACK));
      assert.deepEqual(differences(before, await readObjects(cluster.plane.api)), []);
    }));
});
