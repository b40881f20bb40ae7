import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describeKvstore, describeRefusals } from '../support/describe-kvstore.ts';
import { differences } from '../support/end-state.ts';
import { readObjects } from '../support/former-state.ts';
import type { KvstoreCluster } from '../support/kvstore-cluster.ts';
import { installStandIn } from '../support/stand-in-cli.ts';
import { assertSucceeded, told } from '../support/upgrade-process.ts';

const ROOT = '/calico/resources/v3/projectcalico.org';
const RULES = { selector: 'all()', types: ['Ingress'] };
const RELEASE = 'v3.27.5';

/** Of the same cluster, after its upgrade. */
function describeBack(cluster: KvstoreCluster): void {
  const key = (stored: string) => `${ROOT}/globalnetworkpolicies/${stored}`;
  const put = (stored: string, spec: object = {}) =>
    cluster.store.put(
      key(stored),
      JSON.stringify({ kind: 'GlobalNetworkPolicy', metadata: { name: stored }, spec: { ...RULES, ...spec } }),
    );
  let former: Awaited<ReturnType<typeof readObjects>>;
  before(async () => {
    await put('default.web');
    former = await readObjects(cluster.plane.api);
  });

  describe('its rollback', () => {
    // Of both releases: the old one is what the cluster is used with in the end.
    before(() => installStandIn(join(cluster.bin, 'kubectl-calico'), { client: RELEASE, generation: 'old' }, { etcd: true }));

    /** Nothing of the service is written before these checks. */
    async function refuses(...ids: readonly string[]): Promise<void> {
      const versions = await cluster.versions();
      const result = await cluster.rollback();
      assert.equal(result.exitCode, 3, told(result));
      for (const id of ids) assert.match(result.stdout + result.stderr, new RegExp(`× ${id} `), told(result));
      assert.equal(await cluster.versions(), versions);
    }

    it('is refused where the new controllers have renamed a policy, or one is in a tier of its own', async () => {
      await put('web');
      await cluster.store.remove(key('default.web'));
      await put('sec.deny', { tier: 'sec' });
      await refuses('NS-760', 'NS-762');
      await cluster.store.remove(key('sec.deny'));
      await put('default.web');
      await refuses('NS-763');
      await cluster.store.remove(key('web'));
    });

    it('gives every object its former state, and a second one writes nothing, without the new CLI', async () => {
      assertSucceeded(await cluster.rollback());
      assert.deepEqual(differences(former, await readObjects(cluster.plane.api)), []);
      // Who replaced the CLI needs the new one no more.
      rmSync(join(cluster.bin, 'calicoctl'));
      const again = await cluster.rollback();
      assertSucceeded(again);
      assert.match(again.stdout, /Nothing was changed by this command/);
    });
  });
}

describeKvstore(
  { release: RELEASE, file: 'calico-etcd.yaml', config: 'calico-config', agent: 'calico-node' },
  { first: describeRefusals, last: describeBack },
);
