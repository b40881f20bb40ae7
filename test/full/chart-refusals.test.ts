import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ChartCluster, flagsOf, sharedChartCluster } from '../support/chart-cluster.ts';
import { TYPHA } from '../support/operated-bench.ts';
import { assertSucceeded, told } from '../support/upgrade-process.ts';

describe('what a chart release is not upgraded with, helm 3 on a real control plane', function () {
  this.timeout(280_000);

  const cluster = sharedChartCluster(3, { operator: { mode: 'well', pace: 0.1 } });

  async function valuesFile(text: string): Promise<string> {
    const file = join(cluster.around.home, 'more.yaml');
    await writeFile(file, text);
    return file;
  }

  const refusals: readonly (readonly [string, RegExp, (cluster: ChartCluster) => Promise<readonly string[]>])[] = [
    ['the chart of another release', /NS-235/, async ({ charts }) => ['--chart', charts.old]],
    ['an operator that is pinned', /NS-233/, async () => ['--values', await valuesFile('tigeraOperator: { version: v1.32.12 }')]],
    ['values that the schema of the chart rejects', /NS-239/, async () => ['--values', await valuesFile('goldmane: { enabled: maybe }')]],
  ];
  for (const [what, id, flags] of refusals) {
    it(`refuses ${what} and writes nothing`, async () => {
      const before = await cluster.versions();
      const result = await cluster.upgrade('apply', '--yes', ...flagsOf(cluster), ...(await flags(cluster)), '--accept', TYPHA);
      assert.equal(result.exitCode, 3, told(result));
      assert.match(result.stdout + result.stderr, id);
      assert.equal(await cluster.versions(), before);
    });
  }

  it('names fields that a person has changed by hand before helm writes over them, exit 8', async () => {
    const rules = (...groups: readonly string[]) =>
      cluster.plane.kubectl([
        ...['patch', 'clusterrole', 'tigera-operator', '--type=merge', '-p'],
        JSON.stringify({ rules: [{ apiGroups: groups, resources: ['*'], verbs: ['*'] }] }),
      ]);
    await rules('operator.tigera.io', 'apps');
    const before = await cluster.versions();
    const result = await cluster.upgrade('apply', '--yes', ...flagsOf(cluster), '--accept', TYPHA);
    assert.equal(result.exitCode, 8, told(result));
    assert.match(result.stdout, /NS-241[\s\S]*ClusterRole\/tigera-operator rules[\s\S]*kubectl-patch/);
    assert.equal(await cluster.versions(), before);
    await rules('operator.tigera.io');
  });

  it('refuses CRDs that Argo CD tracks, and goes on after the very command that it names', async () => {
    const mark = ['annotate', 'crd', 'ippools.crd.projectcalico.org', '--field-manager=argocd-controller'];
    await cluster.plane.kubectl([...mark, 'argocd.argoproj.io/tracking-id=net:apiextensions.k8s.io/CustomResourceDefinition:/ippools']);
    const before = await cluster.versions();
    const refused = await cluster.upgrade('apply', '--yes', ...flagsOf(cluster), '--accept', TYPHA);
    assert.equal(refused.exitCode, 3, told(refused));
    assert.match(refused.stdout, /NS-111/);
    assert.equal(await cluster.versions(), before);
    const next = /kubectl (annotate --overwrite crd \S+ \S+)/.exec(refused.stdout)?.[1] ?? assert.fail(told(refused));
    assertSucceeded(await cluster.plane.kubectl(next.split(' ')));
    assertSucceeded(await cluster.upgrade('plan', ...flagsOf(cluster), '--accept', TYPHA, '--skip', 'cli'));
  });
});
