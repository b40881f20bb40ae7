import assert from 'node:assert/strict';
import { within } from '../support/installed-cluster.ts';
import { releases } from '../support/releases.ts';
import { edit, FROM, imageOf, opened, variable } from '../support/rollback-story.ts';
import { BACK, RUN } from '../support/rollback-sweep.ts';
import { CALICO_TARGET, pattern } from '../support/target.ts';
import { assertSucceeded, killedAt } from '../support/upgrade-process.ts';

describe('rollback on a real control plane, with edits of people', function () {
  this.timeout(400_000);

  it('carries what people changed before the upgrade, in the middle of it, and since', () =>
    within(opened(), async (cluster) => {
      await edit(cluster, 'FELIX_LOGSEVERITYSCREEN=debug');
      await killedAt(RUN, cluster.around, /calico-node node-\d+ new /);
      await edit(cluster, 'FELIX_REPORTINGINTERVALSECS=7');
      assertSucceeded(await cluster.upgrade(...RUN));
      await edit(cluster, 'FELIX_BPFLOGLEVEL=info');
      await edit(cluster, 'FELIX_LOGSEVERITYSCREEN=info');
      assertSucceeded(await cluster.upgrade(...BACK));
      assert.match(await imageOf(cluster), new RegExp(`:${FROM}$`));
      const names = ['FELIX_REPORTINGINTERVALSECS', 'FELIX_BPFLOGLEVEL', 'FELIX_LOGSEVERITYSCREEN'];
      assert.deepEqual(await Promise.all(names.map((name) => variable(cluster, name))), ['7', 'info', 'info']);
    }));

  it('that was killed may go forward again, on the user’s word, with the edits of before', () =>
    within(opened(), async (cluster) => {
      await edit(cluster, 'FELIX_LOGSEVERITYSCREEN=debug');
      assertSucceeded(await cluster.upgrade(...RUN));
      await killedAt(BACK, cluster.around, /calico-node node-\d+ new /);
      assertSucceeded(await cluster.upgrade(...RUN, '--accept', 'NS-012'));
      assert.match(await imageOf(cluster), new RegExp(`:${CALICO_TARGET}$`));
      assert.equal(await variable(cluster, 'FELIX_LOGSEVERITYSCREEN'), 'debug');
      const back = await cluster.upgrade('plan', '--rollback', '--manifest-url', releases);
      assertSucceeded(back);
      assert.match(back.stdout, pattern`${CALICO_TARGET} → v3\.27\.5`);
      assert.match(back.stdout, /Next: kubectl netsvc-upgrade rollback/);
    }));
});
