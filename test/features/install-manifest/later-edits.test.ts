import assert from 'node:assert/strict';
import type { Options } from '../../../src/kernel/context.ts';
import type { JsonPatchOp, KubeObject, ManagedFieldsEntry } from '../../../src/kernel/object.ts';
import {
  type ApplyBench,
  applyBench,
  begin,
  installedClientSide,
  openApply,
  ownDocuments,
  runRecord,
  upgrade,
} from '../../support/apply-bench.ts';
import { NETSVC_TARGET } from '../../support/target.ts';

const FIELD = 'DaemonSet/kube-system/netsvc-node spec.template.spec.containers[netsvc-node].env[IP].value';
/** The record of the bench is of a run that began at 11:00:00. */
const [EARLIER, LATER] = ['2026-01-01T10:59:59Z', '2026-01-01T11:30:00Z'];

const of = (manager: string, time: string | undefined, fieldsV1: object, subresource?: string): ManagedFieldsEntry => ({
  manager,
  operation: 'Update',
  apiVersion: 'apps/v1',
  fieldsV1: fieldsV1 as never,
  ...(time ? { time } : {}),
  ...(subresource ? { subresource } : {}),
});
const env = (name: string) => ({
  'f:spec': {
    'f:template': {
      'f:spec': { 'f:containers': { 'k:{"name":"netsvc-node"}': { 'f:env': { [`k:{"name":"${name}"}`]: { 'f:value': {} } } } } },
    },
  },
});
const REPLICAS = { 'f:spec': { 'f:replicas': {} } };

const textOf = (documents: readonly KubeObject[]) => documents.map((one) => JSON.stringify(one)).join('\n---\n');

/** A run that has begun to write and performed so many of its actions, then stood still. */
async function halted(actionsDone: number, options: Partial<Options> = {}): Promise<ApplyBench> {
  const bench = applyBench(await installedClientSide('v3.26.4'), { options });
  bench.files.set('mine.yaml', textOf(await ownDocuments(NETSVC_TARGET)));
  const plan = (await openApply(bench)).plan();
  if ('skip' in plan) return assert.fail(plan.skip);
  bench.record = runRecord({});
  if (plan.keep) begin(bench, plan.keep.content);
  for (const action of plan.actions.slice(0, actionsDone)) bench.around.perform(action);
  return bench;
}

function setAddress(bench: ApplyBench, by: ManagedFieldsEntry): void {
  const agents = bench.around.object('DaemonSet', 'netsvc-node') as unknown as {
    spec: { template: { spec: { containers: [{ env: { name: string }[] }] } } };
  };
  const index = agents.spec.template.spec.containers[0].env.findIndex(({ name }) => name === 'IP');
  const path = `/spec/template/spec/containers/0/env/${index}/value`;
  bench.around.edit('DaemonSet', 'netsvc-node', [{ op: 'replace', path, value: 'can-reach=10.0.0.1' }], by);
}

async function told(bench: ApplyBench) {
  const finding = (await openApply(bench)).findings().find(({ id }) => id === 'NS-208');
  return finding ?? assert.fail('NS-208 was not judged');
}

describe('what a person fixes while a run stands still', () => {
  for (const [when, done] of [
    ['before the object was applied', 3],
    ['after the object was applied', 100],
  ] as const) {
    for (const manager of ['kubectl-set', 'kubectl-edit', 'kubectl-client-side-apply', 'node-fetch']) {
      it(`with ${manager} ${when} stops its continuation with exit 8, field by field`, async () => {
        const bench = await halted(done);
        setAddress(bench, of(manager, LATER, env('IP')));
        const { outcome, exit, evidence, hint } = await told(bench);
        assert.deepEqual([outcome, exit, evidence.map(({ text }) => text)], ['error', 'conflicts', [FIELD]]);
        assert.equal(evidence[0]?.detail, `yours: can-reach=10.0.0.1, after the upgrade: autodetect, set by ${manager} at ${LATER}`);
        assert.match(`${hint}`, /after this run had begun.*--accept NS-206/);
      });
    }
  }

  it('may go where that is accepted by name', async () => {
    const bench = await halted(100, { accept: [{ check: 'NS-208', subject: FIELD }] });
    setAddress(bench, of('kubectl-set', LATER, env('IP')));
    assert.equal((await told(bench)).outcome, 'accepted');
    await upgrade(bench);
    assert.doesNotMatch(JSON.stringify(bench.around.object('DaemonSet', 'netsvc-node')?.spec), /can-reach/);
  });

  it('is told as well where the run goes on with a file of the person’s own that lacks it', async () => {
    const bench = await halted(100, { upgradeFile: 'mine.yaml' });
    setAddress(bench, of('kubectl-set', LATER, env('IP')));
    assert.equal((await told(bench)).exit, 'conflicts');
  });

  it('is told of a Secret without its values', async () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'mine', namespace: 'kube-system' }, data: { a: 'b2xk' } };
    const bench = applyBench([...(await ownDocuments(NETSVC_TARGET)), secret], { options: { upgradeFile: 'mine.yaml' } });
    bench.record = runRecord({});
    bench.files.set('mine.yaml', textOf([...(await ownDocuments(NETSVC_TARGET)), secret]));
    const by = of('kubectl-patch', LATER, { 'f:data': { 'f:a': {} } });
    bench.around.edit('Secret', 'mine', [{ op: 'replace', path: '/data/a', value: 'bmV3' }], by);
    const { exit, evidence } = await told(bench);
    assert.deepEqual([exit, evidence.map(({ detail }) => detail)], ['conflicts', [`value not shown, set by kubectl-patch at ${LATER}`]]);
  });
});

describe('a run that goes on after it was cut off', () => {
  const scaled: readonly JsonPatchOp[] = [{ op: 'replace', path: '/spec/replicas', value: 3 }];

  it('finds nothing of others, wherever that was', async () => {
    const whole = await halted(0);
    const plan = (await openApply(whole)).plan();
    const count = 'skip' in plan ? 0 : plan.actions.length;
    for (let done = 0; done <= count; done += 3) {
      const bench = await halted(done);
      assert.equal((await told(bench)).outcome, 'ok', `after ${done} actions`);
    }
  });

  for (const [what, entry] of [
    ['kubectl, as its own applies and patches do', of('kubectl', LATER, env('IP'))],
    ['the server, which books what nobody was booked for', of('before-first-apply', LATER, env('IP'))],
    ['a person before the run began, as was decided then', of('kubectl-edit', EARLIER, env('IP'))],
    ['somebody at a time that is not known', of('kubectl-edit', undefined, env('IP'))],
    ['a delivery tool, which sets it again', of('argocd-controller', LATER, env('IP'))],
  ] as const) {
    it(`counts nothing that was set by ${what}`, async () => {
      const bench = await halted(100);
      setAddress(bench, entry);
      assert.equal((await told(bench)).outcome, 'ok');
    });
  }

  it('leaves numbers to autoscalers, and tells those of a person with kubectl scale', async () => {
    const outcomeOf = async (manager: string) => {
      const bench = await halted(100);
      bench.around.edit('Deployment', 'netsvc-kube-controllers', scaled, of(manager, LATER, REPLICAS, 'scale'));
      return (await told(bench)).outcome;
    };
    assert.deepEqual([await outcomeOf('kube-controller-manager'), await outcomeOf('kubectl')], ['ok', 'error']);
  });

  it('counts no note of a controller', async () => {
    const bench = await halted(100);
    const annotations = { 'deployment.kubernetes.io/revision': '7' };
    const owned = { 'f:metadata': { 'f:annotations': { 'f:deployment.kubernetes.io/revision': {} } } };
    const by = of('kube-controller-manager', LATER, owned);
    bench.around.edit('Deployment', 'netsvc-kube-controllers', [{ op: 'add', path: '/metadata/annotations', value: annotations }], by);
    assert.equal((await told(bench)).outcome, 'ok');
  });
});
