import assert from 'node:assert/strict';
import { differences } from '../support/end-state.ts';
import { readObjects } from '../support/former-state.ts';
import { assertWritesNothing, shared } from '../support/installed-cluster.ts';
import { operatedCluster } from '../support/operated-cluster.ts';
import { releases } from '../support/releases.ts';
import { CALICO_OPERATOR, CALICO_TARGET, pattern } from '../support/target.ts';
import { assertSucceeded, killedAt, told } from '../support/upgrade-process.ts';

const FROM = 'v3.30.7';
const CALICO = ['--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases] as const;
const RUN = ['run', '--yes', '--skip', 'cli', ...CALICO] as const;
const BACK = ['rollback', '--yes', '--accept', 'NS-301', '--profile', 'calico', '--manifest-url', releases] as const;
const IMAGE = '{.spec.template.spec.containers[0].image}';
/** Share of the recorded times. */
const PACE = 0.1;

/** One story, in order. Other releases are in test/full. */
describe('procedure B on a real control plane, the operator played, and its rollback', function () {
  this.timeout(400_000);
  const cluster = shared(async () => {
    const found = await operatedCluster({ mode: 'well', pace: PACE }, { release: FROM });
    return { ...found, before: await readObjects(found.plane.api) };
  });
  const marks = () => cluster.read('deployments,replicasets,daemonsets -n calico-system', '{.items[*].metadata.annotations}');

  it('plan --diff shows the operator, live against planned, and changes nothing', async () => {
    const before = await cluster.versions();
    const { exitCode, stdout, stderr } = await cluster.upgrade('plan', '--diff', '--skip', 'cli', ...CALICO);
    assert.equal(exitCode, 0, told({ exitCode, stdout, stderr }));
    assert.match(stdout, /^--- live\/(Deployment\/tigera-operator\/tigera-operator)\n\+\+\+ planned\/\1\n@@ /m);
    assert.match(stdout, pattern`(?m:^\+ +image: quay\.io/tigera/operator:${CALICO_OPERATOR}$)`);
    assert.equal(/managedFields:|^[-+ ] +description: /m.test(stdout), false);
    assert.equal(await cluster.versions(), before);
  });

  it('killed once the operator is applied, and run again, brings every component to the target', async () => {
    await killedAt(RUN, cluster.around, /wait for Deployment\/tigera-operator/);
    assertSucceeded(await cluster.upgrade(...RUN));
    assert.equal(await cluster.read('deploy -n tigera-operator tigera-operator', IMAGE), `quay.io/tigera/operator:${CALICO_OPERATOR}`);
    assert.equal(await cluster.read('installations default', '{.status.calicoVersion}'), CALICO_TARGET);
    assert.match(await cluster.read('ds -n calico-system calico-node', IMAGE), pattern`:${CALICO_TARGET}$`);
  });

  it('has held Typha until then, and leaves no annotation of it, on ReplicaSets neither', async () => {
    assert.match(await cluster.read('deploy -n calico-system calico-typha', IMAGE), pattern`:${CALICO_TARGET}$`);
    assert.doesNotMatch(await marks(), /unsupported\.operator|netsvc-upgrade/);
  });

  it('a second run writes nothing', async () => {
    await assertWritesNothing(cluster, () => cluster.upgrade(...RUN));
  });

  it('its rollback is killed while the agents are held, and resumed by the same command, and nothing stays held', async () => {
    await killedAt(BACK, cluster.around, /wait until the operator has put Typha back/);
    assert.match(await marks(), /unsupported\.operator\.tigera\.io\/ignore.*netsvc-upgrade\/held-by|held-by.*ignore/);
    assertSucceeded(await cluster.upgrade(...BACK));
    assert.doesNotMatch(await marks(), /unsupported\.operator|netsvc-upgrade/);
    assert.equal(await cluster.read('deploy -n tigera-operator tigera-operator', IMAGE), 'quay.io/tigera/operator:v1.38.13');
    for (const one of ['ds calico-node', 'deploy calico-typha', 'deploy calico-kube-controllers'])
      assert.match(await cluster.read(`${one} -n calico-system`, IMAGE), new RegExp(`:${FROM}$`), one);
  });

  it('a rollback has given every object its former state, and removed what only the newer operator says', async () => {
    assert.equal(await cluster.read('tigerastatuses', '{.items[?(@.metadata.name=="tiers")].metadata.name}'), '');
    assert.deepEqual(differences(cluster.before, await readObjects(cluster.plane.api)), []);
  });

  it('a second rollback writes nothing', async () => {
    await assertWritesNothing(cluster, () => cluster.upgrade(...BACK));
  });
});
