import assert from 'node:assert/strict';
import { applyStage } from '../../../src/features/install/apply-stage.ts';
import { crdsStage } from '../../../src/features/install/around.ts';
import type { Finding } from '../../../src/kernel/check.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import type { AnyStage } from '../../../src/kernel/stage.ts';
import { type ApplyBench, applyBench, begun, installedClientSide, ownDocuments, runRecord } from '../../support/apply-bench.ts';
import { deployment } from '../../support/calico-objects.ts';
import { chartBench, OWNED } from '../../support/chart-bench.ts';
import { fixOf } from '../../support/judged-worlds.ts';
import { OPERATOR, operatedBench } from '../../support/operated-bench.ts';
import { NETSVC_TARGET } from '../../support/target.ts';

const CONTROLLERS = 'netsvc-kube-controllers';
const EDITED = { manager: 'kubectl', operation: 'Update', subresource: 'scale', apiVersion: 'apps/v1' } as const;

const atZero = (one: KubeObject): KubeObject => ({ ...one, spec: { ...(one.spec as object), replicas: 0 } });
const scale = ({ around }: ApplyBench, name: string, value: number) =>
  around.edit('Deployment', name, [{ op: 'add', path: '/spec/replicas', value }], {
    ...EDITED,
    fieldsV1: { 'f:spec': { 'f:replicas': {} } },
  });

async function told({ sources, context }: Pick<ApplyBench, 'sources' | 'context'>, stage: AnyStage = applyStage): Promise<Finding> {
  const found = (await stage.open(sources, context)).findings().find(({ id }) => id === 'NS-213');
  return found ?? assert.fail('NS-213 was not judged');
}
const shown = (finding: Finding) => [finding.outcome, finding.evidence.map(({ text, detail }) => `${text}: ${detail}`), fixOf(finding)];

describe('a workload that is to have no pod, which would be waited for in vain', () => {
  it('NS-213: is refused before the first write, with the command that fixes it, and not once it is scaled up', async () => {
    const bench = applyBench(await installedClientSide('v3.26.4'));
    assert.equal((await told(bench)).outcome, 'ok');
    scale(bench, CONTROLLERS, 0);
    assert.deepEqual(shown(await told(bench)), [
      'error',
      [`Deployment/kube-system/${CONTROLLERS}: scaled to 0 in the cluster by kubectl`],
      `kubectl scale deployment ${CONTROLLERS} -n kube-system --replicas=1`,
    ]);
    scale(bench, CONTROLLERS, 1);
    assert.equal((await told(bench)).outcome, 'ok');
  });

  it('NS-213: is looked for in a file of the person’s own as well', async () => {
    const bench = applyBench(await installedClientSide('v3.26.4'), { options: { upgradeFile: 'mine.yaml' } });
    const documents = (await ownDocuments(NETSVC_TARGET)).map((one) =>
      one.metadata.name === CONTROLLERS && one.kind === 'Deployment' ? atZero(one) : one,
    );
    bench.files.set('mine.yaml', documents.map((one) => JSON.stringify(one)).join('\n---\n'));
    const { outcome, evidence, hint } = await told(bench);
    assert.deepEqual([outcome, evidence[0]?.detail], ['error', 'replicas 0 in mine.yaml']);
    assert.match(hint ?? '', /in that file/);
  });

  it('NS-213: is fixed in a copy of the file where a run has begun with it: that it is scaled up changes nothing any more', async () => {
    const bench = applyBench(await installedClientSide('v3.26.4'));
    scale(bench, CONTROLLERS, 0);
    await begun(bench);
    scale(bench, CONTROLLERS, 1);
    const { outcome, evidence, hint } = await told(bench);
    assert.deepEqual([outcome, evidence[0]?.detail], ['error', 'replicas 0 among the changes that this run began with']);
    assert.match(hint ?? '', /copy of upgrade\.yaml.*--upgrade-file FILE --accept NS-206/);
  });

  it('NS-213: is the operator itself on its path, before its CRDs are written and before it is', async () => {
    const bench = await operatedBench();
    assert.deepEqual([(await told(bench)).outcome, (await told(bench, crdsStage)).outcome], ['ok', 'ok']);
    scale(bench, OPERATOR, 0);
    const fix = `kubectl scale deployment ${OPERATOR} -n ${OPERATOR} --replicas=1`;
    const subject = `Deployment/${OPERATOR}/${OPERATOR}`;
    const apply = await told(bench);
    assert.deepEqual([apply.outcome, apply.evidence.map(({ text }) => text), fixOf(apply)], ['error', [subject], fix]);
    assert.deepEqual(shown(await told(bench, crdsStage)), ['error', [`${subject}: scaled to 0 in the cluster`], fix]);
  });

  it('NS-213: is still fixed in the cluster where a run has begun that kept no edits yet', async () => {
    const bench = applyBench(await installedClientSide('v3.26.4'));
    scale(bench, CONTROLLERS, 0);
    bench.record = runRecord({ kept: [] });
    const finding = await told(bench);
    assert.deepEqual([finding.outcome, finding.evidence[0]?.detail], ['error', 'scaled to 0 in the cluster by kubectl']);
    assert.match(fixOf(finding), /^kubectl scale /);
  });

  it('NS-213: is judged by a person’s own file where there is one, not by what runs before it is applied', async () => {
    const bench = await operatedBench({ options: { upgradeFile: 'mine.yaml' } });
    scale(bench, OPERATOR, 0);
    assert.equal((await told(bench, crdsStage)).outcome, 'ok');
  });

  it('NS-213: is the operator of a chart only where the template gives none: helm writes its number over the live one', async () => {
    const stopped = atZero(deployment(OPERATOR, 'quay.io/tigera/operator:v1.32.12', { namespace: OPERATOR, annotations: OWNED }));
    const rendered = (spec: object) =>
      JSON.stringify({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: OPERATOR, namespace: OPERATOR }, spec });
    const outcome = async (spec: object) =>
      (await told(chartBench({ objects: [stopped], crdsApplied: true, trial: { manifest: rendered(spec) } }))).outcome;
    assert.deepEqual([await outcome({ replicas: 1 }), await outcome({})], ['ok', 'error']);
  });
});
