import assert from 'node:assert/strict';
import { differences } from '../support/end-state.ts';
import { readObjects } from '../support/former-state.ts';
import { assertWritesNothing, shared } from '../support/installed-cluster.ts';
import { operatedCluster } from '../support/operated-cluster.ts';
import { releases } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded, killedAt } from '../support/upgrade-process.ts';

const FROM = 'v3.30.7';
const COMMON = ['--yes', '--accept', 'NS-301', '--profile', 'calico', '--manifest-url', releases] as const;
const RUN = ['run', '--skip', 'cli', '--release', CALICO_TARGET, ...COMMON] as const;
const BACK = ['rollback', ...COMMON] as const;
const IMAGE = '{.spec.template.spec.containers[0].image}';

describe('rollback under an operator on a real control plane, the operator played', function () {
  this.timeout(400_000);
  const cluster = shared(async () => {
    const found = await operatedCluster({ mode: 'well', pace: 0.1 }, { release: FROM });
    const before = await readObjects(found.plane.api);
    assertSucceeded(await found.upgrade(...RUN));
    return { ...found, before };
  });
  const marks = () => cluster.read('deployments,replicasets,daemonsets -n calico-system', '{.items[*].metadata.annotations}');

  it('killed while the agents are held, it is resumed by the same command, and nothing stays held', async () => {
    await killedAt(BACK, cluster.around, /wait until the operator has put Typha back/);
    assert.match(await marks(), /unsupported\.operator\.tigera\.io\/ignore.*netsvc-upgrade\/held-by|held-by.*ignore/);
    assertSucceeded(await cluster.upgrade(...BACK));
    assert.doesNotMatch(await marks(), /unsupported\.operator|netsvc-upgrade/);
    assert.equal(await cluster.read('deploy -n tigera-operator tigera-operator', IMAGE), 'quay.io/tigera/operator:v1.38.13');
    for (const one of ['ds calico-node', 'deploy calico-typha', 'deploy calico-kube-controllers'])
      assert.match(await cluster.read(`${one} -n calico-system`, IMAGE), new RegExp(`:${FROM}$`), one);
  });

  it('has given every object its former state, and removed what only the newer operator says', async () => {
    assert.equal(await cluster.read('tigerastatuses', '{.items[?(@.metadata.name=="tiers")].metadata.name}'), '');
    assert.deepEqual(differences(cluster.before, await readObjects(cluster.plane.api)), []);
  });

  it('writes nothing when it is done', async () => {
    await assertWritesNothing(cluster, () => cluster.upgrade(...BACK));
  });
});
