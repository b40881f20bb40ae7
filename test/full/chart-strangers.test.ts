import assert from 'node:assert/strict';
import { flagsOf, RELEASE_NAMESPACE, sharedChartCluster } from '../support/chart-cluster.ts';
import { assertNoCommandOfOthers } from '../support/marked-by-others.ts';
import { repacked } from '../support/repacked-release.ts';
import { assertUnmoved } from '../support/unmoved-outputs.ts';

describe('whoever may write beside a chart release with helm 3, on a real control plane', function () {
  this.timeout(280_000);
  const cluster = sharedChartCluster(3, { operator: { mode: 'well', pace: 0.1 } });

  it('writes annotations on the operator and the Installation, of which no output makes a command', () =>
    assertNoCommandOfOthers(
      cluster,
      [
        ['deployment', '-n', RELEASE_NAMESPACE, 'tigera-operator'],
        ['installation', 'default'],
      ],
      flagsOf(cluster),
    ));

  it('is not heard in Secrets of other namespaces, which look like an older record of this very release', async () => {
    const [packed, { name, labels }] = await repacked(cluster.plane, 98, {});
    const old = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, labels },
      data: { release: Buffer.from(packed).toString('base64') },
    };
    const told = await assertUnmoved(cluster, flagsOf(cluster), ['kube-system', RELEASE_NAMESPACE], [old]);
    assert.match(told.preflight ?? '', /√ NS-608 the chart release can be upgraded/);
  });
});
