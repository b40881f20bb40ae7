import assert from 'node:assert/strict';
import { BACK, runOf, sharedOldChart } from '../support/chart-rolled-back.ts';
import { repacked } from '../support/repacked-release.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded, told } from '../support/upgrade-process.ts';

describe('what the rollback of a chart release refuses, with the real helm 3, the operator played', function () {
  this.timeout(500_000);
  const cluster = sharedOldChart();

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
