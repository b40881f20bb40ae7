import assert from 'node:assert/strict';
import { readGitContent } from '../../../src/features/git-files/content.ts';
import { readInstalled } from '../../../src/features/survey/index.ts';
import type { ApplyBench } from '../../support/apply-bench.ts';
import { chartBench } from '../../support/chart-bench.ts';
import { operatedBench } from '../../support/operated-bench.ts';
import { CALICO_TARGET, pattern } from '../../support/target.ts';

const contentOf = async ({ sources, context }: ApplyBench) => readGitContent(sources, context, await readInstalled(sources, context));

describe('what Git should hold after the upgrade', () => {
  it('is the operator and the CRDs on the path with an operator, and no custom resource', async () => {
    const { files, notes } = await contentOf(await operatedBench());
    const paths = files.map(({ path }) => path);
    assert.ok(paths.includes('tigera-operator/deployment-tigera-operator.yaml'), paths.join('\n'));
    assert.ok(
      paths.some((path) => path.startsWith('_cluster/customresourcedefinition-')),
      paths.join('\n'),
    );
    assert.ok(!paths.some((path) => path.includes('.operator.tigera.io-')), paths.join('\n'));
    assert.deepEqual(notes, []);
  });

  it('has the resources of the flow logs where they are asked for', async () => {
    const { files } = await contentOf(await operatedBench({ options: { enableFlowLogs: true } }));
    const added = files.filter(({ path }) => path.includes('.operator.tigera.io-')).map(({ path }) => path);
    assert.deepEqual(added, ['_cluster/goldmane.operator.tigera.io-default.yaml', '_cluster/whisker.operator.tigera.io-default.yaml']);
  });

  it('is the CRDs on the path with a chart, and says what to do with the chart', async () => {
    const { files, notes } = await contentOf(chartBench());
    assert.deepEqual(
      files.map(({ path }) => path),
      ['goldmanes', 'installations'].map((name) => `_cluster/customresourcedefinition-${name}.operator.tigera.io.yaml`),
    );
    assert.match(notes.join('\n'), pattern`set its version to ${CALICO_TARGET} and the values`);
  });

  it('is nothing where the chart brings its CRDs itself', async () => {
    const { files, notes } = await contentOf(chartBench({ options: { manageCrds: true } }));
    assert.deepEqual(files, []);
    assert.match(notes.join('\n'), /Git needs none/);
  });
});
