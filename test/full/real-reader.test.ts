import assert from 'node:assert/strict';
import { execa } from 'execa';
import { within } from '../support/installed-cluster.ts';
import { describeWhere } from '../support/needs.ts';
import { realProgram } from '../support/real-service.ts';
import { BACK, RUN, sweptCluster, writeAsNew } from '../support/rollback-sweep.ts';

const SOURCE = 'v3.26.4';
const reader = realProgram('reader', SOURCE);
const STORED = '/apis/crd.projectcalico.org/v1/globalnetworkpolicies';

/** Denies what a set of networks has, which it finds by its labels. */
const BLOCKS = {
  ...{ apiVersion: 'crd.projectcalico.org/v1', kind: 'GlobalNetworkPolicy', metadata: { name: 'default.block' } },
  spec: { selector: 'all()', types: ['Ingress'], ingress: [{ action: 'Deny', source: { selector: 'role == "blocked"' } }] },
};

/** The agents' own reader and selectors of the old release. */
describeWhere('missing' in reader ? reader.missing : undefined, `what real agents of ${SOURCE} read`, function () {
  this.timeout(900_000);

  it('is what it was before the upgrade, and without the stages of a rollback it is less', async function () {
    assert.ok('program' in reader);
    const { program } = reader;
    await within(sweptCluster({ source: SOURCE, file: 'calico-typha.yaml' }), async (cluster) => {
      const env = { DATASTORE_TYPE: 'kubernetes', KUBECONFIG: cluster.around.kubeconfig };
      const read = async () => (await execa(program, [], { env, extendEnv: false, timeout: 120_000 })).stdout.split('\n');
      await cluster.plane.api.send('POST', STORED, BLOCKS);
      const before = await read();
      assert.ok(before.includes('Policy(name=default.block) by role == "blocked" finds NetworkSet(name=blocked)'), before.join('\n'));
      await cluster.timed(RUN);
      await writeAsNew(cluster.plane.api);
      const upgraded = new Set(await read());
      const same = before.filter((line) => upgraded.has(line)).length;
      assert.ok(same < before.length, `${same} of ${before.length}`);
      await cluster.timed(BACK);
      assert.deepEqual(await read(), before);
      if (this.test) this.test.title += `: ${before.length} of ${before.length}, and ${same} without`;
    });
  });
});
