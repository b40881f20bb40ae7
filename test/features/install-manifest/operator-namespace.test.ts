import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { applyStage } from '../../../src/features/install/apply-stage.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { type ApplyBench, upgrade } from '../../support/apply-bench.ts';
import { OPERATOR, operatedBench } from '../../support/operated-bench.ts';
import { manifestFile, operatorReleases } from '../../support/releases.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const PLACES = [
  'Namespace/net-ops metadata.name',
  'ServiceAccount/net-ops/tigera-operator metadata.namespace',
  'ClusterRoleBinding/tigera-operator subjects[ServiceAccount/net-ops/tigera-operator].namespace',
  'Deployment/net-ops/tigera-operator metadata.namespace',
];

async function planOf({ sources, context }: ApplyBench) {
  const plan = (await applyStage.open(sources, context)).plan();
  return 'actions' in plan ? plan : assert.fail(plan.skip);
}

async function written(bench: ApplyBench): Promise<string> {
  const { actions } = await planOf(bench);
  const { effect } = actions.find(({ id }) => id === 'operator-file') ?? assert.fail(actions.map(({ id }) => id).join());
  return effect.type === 'write' ? effect.content : assert.fail();
}

const editsOf = async (bench: ApplyBench) =>
  ((await planOf(bench)).edits ?? []).map(({ ref: { kind, namespace, name }, path }) =>
    `${[kind, namespace, name].filter((part) => part !== undefined).join('/')} ${path}`.trim(),
  );

const released = () => readFile(manifestFile(CALICO_TARGET, 'tigera-operator.yaml', operatorReleases), 'utf8');

describe('an operator in a namespace of another name', () => {
  it('is upgraded where it is: the release’s own text with that name in every place, each an edit that is kept', async () => {
    const bench = await operatedBench({ namespace: 'net-ops' });
    const text = (await released())
      .replaceAll('namespace: tigera-operator', 'namespace: net-ops')
      .replace('  name: tigera-operator\n  labels:', '  name: net-ops\n  labels:');
    assert.equal((await written(bench)).trim(), text.trim());
    assert.deepEqual(await editsOf(bench), PLACES);
    assert.match((await planOf(bench)).notes?.join('\n') ?? '', /runs in namespace net-ops: the target's file names it in 4 places/);
    await upgrade(bench);
    const { metadata, spec } = bench.around.object('Deployment', OPERATOR) ?? assert.fail();
    assert.equal(metadata.namespace, 'net-ops');
    assert.match(JSON.stringify(spec), /operator:v1\.42\.3/);
    assert.equal(bench.around.object('Namespace', OPERATOR), undefined, 'no second namespace');
    assert.match(JSON.stringify(bench.around.object('ClusterRoleBinding', OPERATOR)?.subjects), /"namespace":"net-ops"/);
  });

  it('keeps its other edits, and has nothing to do once it is at the target', async () => {
    const bench = await operatedBench({ namespace: 'net-ops' });
    const path = '/spec/template/spec/containers/0/image';
    bench.around.edit('Deployment', OPERATOR, [{ op: 'replace', path, value: 'mirror.corp/tigera/operator:v1.32.12' }]);
    assert.match(await written(bench), /image: mirror\.corp\/tigera\/operator:v1\.42\.3/);
    await upgrade(bench);
    const { sources, context } = bench;
    const plan = (await applyStage.open(sources, context)).plan();
    assert.ok('skip' in plan, JSON.stringify(plan));
  });

  it('is carried by a run that goes on, too', async () => {
    const bench = await operatedBench({ namespace: 'net-ops' });
    const { actions, keep } = await planOf(bench);
    bench.kept.set('r/apply/edits#1', JSON.parse(JSON.stringify(keep?.content)));
    for (const action of actions.slice(0, 2)) bench.around.perform(action);
    assert.deepEqual(await editsOf(bench), PLACES);
    await upgrade(bench);
    assert.equal(bench.around.object('Deployment', OPERATOR)?.metadata.namespace, 'net-ops');
    assert.equal(bench.around.object('Namespace', OPERATOR), undefined);
  });

  it('takes the release’s own unedited file as base', async () => {
    const bench = await operatedBench({ namespace: 'net-ops', options: { base: 'old.yaml' }, present: [CALICO_TARGET] });
    bench.files.set('old.yaml', await readFile(manifestFile('v3.27.5', 'tigera-operator.yaml', operatorReleases), 'utf8'));
    assert.deepEqual(await editsOf(bench), PLACES);
  });

  it('shows no edit of the label that the server writes into every Namespace, the twin’s under its own name', async () => {
    const bench = await operatedBench();
    const labelled = (one: KubeObject): KubeObject => {
      if (one.kind !== 'Namespace') return one;
      return {
        ...one,
        metadata: { ...one.metadata, labels: { ...one.metadata.labels, 'kubernetes.io/metadata.name': one.metadata.name } },
      };
    };
    const path = '/metadata/labels/kubernetes.io~1metadata.name';
    bench.around.edit('Namespace', OPERATOR, [{ op: 'add', path, value: OPERATOR }]);
    const { sources } = bench;
    const cluster = { ...sources.cluster, dryRunCreate: async (_kind: unknown, document: KubeObject) => labelled(document) };
    assert.deepEqual(await editsOf({ ...bench, sources: { ...sources, cluster } }), []);
  });

  it('leaves the cluster’s own namespace as it is', async () => {
    const bench = await operatedBench({ namespace: 'kube-system' });
    assert.doesNotMatch(await written(bench), /kind: Namespace/);
    assert.deepEqual((await editsOf(bench)).slice(0, 2), [
      'Namespace/tigera-operator',
      'ServiceAccount/kube-system/tigera-operator metadata.namespace',
    ]);
  });
});
