import assert from 'node:assert/strict';
import { type ChartCluster, flagsOf, sharedChartCluster } from '../support/chart-cluster.ts';
import { assertWritesNothing } from '../support/installed-cluster.ts';
import { manifestFile, releases } from '../support/releases.ts';
import { repacked } from '../support/repacked-release.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded, killedAt, told } from '../support/upgrade-process.ts';

const FROM = 'v3.30.7';
const CHART = { version: FROM, operator: 'v1.38.13', isNew: true } as const;
const BACK = ['rollback', '--yes', '--accept', 'NS-301', '--profile', 'calico', '--manifest-url', releases] as const;
const IMAGE = '{.spec.template.spec.containers[0].image}';

/** A ConfigMap that a stored revision would have helm create. */
const HOOK = {
  name: 'by-hook',
  kind: 'ConfigMap',
  path: 'tigera-operator/templates/hook.yaml',
  manifest: 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: by-hook }\n',
  events: ['pre-rollback', 'post-rollback'],
};

const runOf = (cluster: ChartCluster) => ['run', '--yes', '--skip', 'cli', '--accept', 'NS-301', ...flagsOf(cluster)];
const marks = ({ read }: ChartCluster) => read('deployments,replicasets,daemonsets -n calico-system', '{.items[*].metadata.annotations}');
const valuesOf = ({ helm }: ChartCluster) => helm('get', 'values', 'calico', '-n', 'tigera-operator');
const manifestOf = ({ helm }: ChartCluster) => helm('get', 'manifest', 'calico', '-n', 'tigera-operator');

describe('rollback of a chart release with the real helm 3, the operator played', function () {
  this.timeout(500_000);
  const cluster = sharedChartCluster(3, {
    chart: CHART,
    crds: manifestFile(FROM, 'operator-crds.yaml'),
    operator: { mode: 'well', pace: 0.1 },
  });

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

  it('NS-247: refuses revisions in ConfigMaps: of what to put back, and one that looks as if all were done', async () => {
    assertSucceeded(await cluster.upgrade(...runOf(cluster)));
    const chart = { chart: { metadata: { name: 'tigera-operator', version: CALICO_TARGET } } };
    for (const [version, changes, status] of [
      [999, {}, 'superseded'],
      [1000, chart, 'deployed'],
      [1001, {}, 'deployed'],
    ] as const) {
      const [release, metadata] = await repacked(cluster.plane, version, changes, { status });
      const planted = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { release } };
      assertSucceeded(await cluster.plane.kubectl(['create', '-f', '-'], JSON.stringify(planted)));
      const before = await cluster.versions();
      const refused = await cluster.upgrade(...BACK);
      assert.equal(refused.exitCode, 3, told(refused));
      assert.match(told(refused), /NS-247 .*configmap\/sh\.helm\.release\.v1\.calico\.v/);
      assert.equal(await cluster.versions(), before);
    }
    assertSucceeded(await cluster.plane.kubectl(['delete', 'configmaps', '-n', 'tigera-operator', '-l', 'owner=helm']));
  });

  it('refuses where values have changed since the upgrade, and names them', async () => {
    await cluster.helm(
      'upgrade',
      'calico',
      cluster.charts.target,
      '-n',
      'tigera-operator',
      '--reset-then-reuse-values',
      '--set',
      'added.a=1',
    );
    const before = await cluster.versions();
    const refused = await cluster.upgrade(...BACK);
    assert.equal(refused.exitCode, 3, told(refused));
    assert.match(told(refused), /NS-249 1 value of the release changed since the upgrade, .*: added/);
    assert.equal(await cluster.versions(), before);
  });
});
