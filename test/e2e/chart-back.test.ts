import assert from 'node:assert/strict';
import type { ChartCluster } from '../support/chart-cluster.ts';
import { BACK, FROM, runOf, sharedOldChart } from '../support/chart-rolled-back.ts';
import { assertWritesNothing } from '../support/installed-cluster.ts';
import { repacked } from '../support/repacked-release.ts';
import { assertSucceeded, killedAt } from '../support/upgrade-process.ts';

const IMAGE = '{.spec.template.spec.containers[0].image}';

/** A ConfigMap that a stored revision would have helm create. */
const HOOK = {
  name: 'by-hook',
  kind: 'ConfigMap',
  path: 'tigera-operator/templates/hook.yaml',
  manifest: 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: by-hook }\n',
  events: ['pre-rollback', 'post-rollback'],
};

const marks = ({ read }: ChartCluster) => read('deployments,replicasets,daemonsets -n calico-system', '{.items[*].metadata.annotations}');
const valuesOf = ({ helm }: ChartCluster) => helm('get', 'values', 'calico', '-n', 'tigera-operator');
const manifestOf = ({ helm }: ChartCluster) => helm('get', 'manifest', 'calico', '-n', 'tigera-operator');

describe('rollback of a chart release with the real helm 3, the operator played', function () {
  this.timeout(500_000);
  const cluster = sharedOldChart();

  it('puts the revision before the upgrade back, killed while the agents are held and resumed, and holds nothing', async () => {
    const [packed, metadata] = await repacked(cluster.plane, 1, { hooks: [HOOK] });
    const data = { release: Buffer.from(packed).toString('base64') };
    const hooked = { apiVersion: 'v1', kind: 'Secret', type: 'helm.sh/release.v1', metadata, data };
    assertSucceeded(await cluster.plane.kubectl(['replace', '-f', '-'], JSON.stringify(hooked)));
    const before = await Promise.all([valuesOf(cluster), manifestOf(cluster)]);
    assertSucceeded(await cluster.upgrade(...runOf(cluster)));
    await killedAt(BACK, cluster.around, /wait until the operator has put Typha back/);
    assert.match(await marks(cluster), /netsvc-upgrade\/held-by/);
    assertSucceeded(await cluster.upgrade(...BACK));
    assert.doesNotMatch(await marks(cluster), /unsupported\.operator|netsvc-upgrade/);
    assert.deepEqual(await Promise.all([valuesOf(cluster), manifestOf(cluster)]), before);
    assert.equal(await cluster.read('configmaps -n tigera-operator by-hook --ignore-not-found', '{.metadata.name}'), '', 'a hook ran');
    assert.match(await cluster.helm('list', '-n', 'tigera-operator'), new RegExp(`deployed\\s+tigera-operator-${FROM}`));
    assert.match(await cluster.read('deploy -n tigera-operator tigera-operator', IMAGE), /:v1\.38\.13$/);
    for (const one of ['ds calico-node', 'deploy calico-typha', 'deploy calico-kube-controllers'])
      assert.match(await cluster.read(`${one} -n calico-system`, IMAGE), new RegExp(`:${FROM}$`), one);
  });

  it('writes nothing when it is done', async () => {
    await assertWritesNothing(cluster, () => cluster.upgrade(...BACK));
  });
});
