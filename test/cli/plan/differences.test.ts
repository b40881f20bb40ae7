import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { planDifferences } from '../../../src/cli/plan/differences.ts';
import { differencesSince } from '../../../src/cli/plan/file.ts';
import type { JsonPatchOp, ManagedFieldsEntry } from '../../../src/kernel/object.ts';
import { type ApplyBench, applyBench, installedClientSide, planned, runRecord } from '../../support/apply-bench.ts';
import { objectOf } from '../../support/inventory.ts';
import { ownReleases } from '../../support/releases.ts';
import { savedPlan } from '../../support/saved-plan.ts';
import { NETSVC_TARGET } from '../../support/target.ts';

const AGENT = 'netsvc-node';
const status: ManagedFieldsEntry = {
  manager: 'kube-controller-manager',
  operation: 'Update',
  subresource: 'status',
  time: 'now',
  fieldsV1: {},
};
const label = (value: string): readonly JsonPatchOp[] => [{ op: 'add', path: '/metadata/labels', value: { changed: value } }];

describe('a plan and a later one', () => {
  let bench: ApplyBench;
  beforeEach(async () => {
    bench = applyBench(await installedClientSide('v3.26.4'));
  });

  it('are the same while only status is written', async () => {
    const before = await savedPlan(bench);
    bench.around.edit('DaemonSet', AGENT, [{ op: 'add', path: '/status', value: { numberReady: 2 } }], status);
    bench.around.settle();
    const after = await savedPlan(bench);
    assert.deepEqual(planDifferences(before, after), []);
    assert.equal(before.digest, after.digest);
  });

  it('name the object that a person has changed', async () => {
    const before = await savedPlan(bench);
    bench.around.edit('DaemonSet', AGENT, label('by hand'));
    const [first = '', ...rest] = planDifferences(before, await savedPlan(bench));
    assert.match(first, /^DaemonSet\/kube-system\/netsvc-node has changed since the plan/);
    assert.ok(
      rest.every((one) => one.startsWith('action ')),
      rest.join('\n'),
    );
  });

  it('name an object that has vanished, and one that has been made', async () => {
    const objects = await installedClientSide('v3.26.4');
    const without = applyBench(objects.filter(({ kind }) => kind !== 'ServiceAccount'));
    const [whole, part] = [await savedPlan(bench), await savedPlan(without)];
    assert.ok(planDifferences(whole, part).includes('ServiceAccount/kube-system/netsvc-node has vanished since the plan'));
    assert.ok(
      planDifferences(part, whole).some((one) => one.startsWith('ServiceAccount/kube-system/netsvc-node has been made since the plan')),
    );
  });

  it('name the release that is installed now, another artifact, and a stage that does something else', async () => {
    const before = await savedPlan(bench);
    const { basis } = before;
    const artifacts = Object.fromEntries(Object.keys(basis.artifacts).map((file) => [file, 'f'.repeat(64)]));
    const actions = basis.actions.map((action) => (action.type === 'exec' ? { ...action, does: 'else' } : action)).slice(1);
    const changed = { ...before, installed: { release: 'v3.27.0' }, basis: { ...basis, artifacts, actions } };
    const found = planDifferences(before, changed);
    for (const pattern of [
      /^installed release: unknown → v3\.27\.0$/,
      /^\S+ is another file \(sha256 ffffffffffff…, was /,
      /^action apply\/save is not in the plan any more$/,
      /^action apply\/wave-\S+ does something else$/,
    ])
      assert.ok(
        found.some((one) => pattern.test(one)),
        `${pattern}: ${found.join('\n')}`,
      );
  });

  it('hold nothing against a run that was cut off after any of its actions', async () => {
    const saved = await savedPlan(bench);
    const { length } = await planned(bench);
    assert.ok(length > 3);
    for (let done = 0; done <= length; done += 1) {
      const run = applyBench(await installedClientSide('v3.26.4'));
      for (const action of (await planned(run)).slice(0, done)) run.around.perform(action);
      run.record = runRecord({ clusterUid: run.context.clusterUid });
      assert.deepEqual(differencesSince(saved, await savedPlan(run)), [], `after ${done} of ${length}`);
    }
  });

  it('tell what others changed while the run was cut off from what the run did', async () => {
    const saved = await savedPlan(bench);
    const actions = await planned(bench);
    for (const action of actions.slice(0, actions.length - 2)) bench.around.perform(action);
    bench.around.edit('Deployment', 'netsvc-kube-controllers', [{ op: 'replace', path: '/spec/replicas', value: 3 }]);
    bench.record = runRecord({ clusterUid: bench.context.clusterUid });
    assert.match(
      differencesSince(saved, await savedPlan(bench)).join('\n'),
      /^Deployment\/kube-system\/netsvc-kube-controllers has changed since the plan, and not as planned/,
    );
  });
});

describe('a plan of objects with Secrets', () => {
  it('holds none of their values, nor a checksum of them', async () => {
    const secret = (value: string) =>
      objectOf('v1', 'Secret', 'netsvc-etcd-secrets', { metadata: { namespace: 'kube-system' }, data: { 'etcd-key': value } });
    const [old, fresh] = ['aHVudGVyMg==', 'c3dvcmRmaXNo'];
    const bench = applyBench([...(await installedClientSide('v3.26.4')), secret(old)], { options: { upgradeFile: 'mine.yaml' } });
    const target = await readFile(join(ownReleases, NETSVC_TARGET, 'manifests', 'netsvc.yaml'), 'utf8');
    bench.files.set('mine.yaml', `${target}\n---\n${JSON.stringify(secret(fresh))}\n`);
    const one = await savedPlan(bench);
    const text = JSON.stringify(one);
    assert.ok(one.stages[0]?.objects.some(({ ref, fields }) => ref.kind === 'Secret' && fields.length > 0));
    for (const value of [old, fresh, atob(old), atob(fresh)]) assert.ok(!text.includes(value), value);
    assert.match(one.basis.objects.find(({ ref }) => ref.kind === 'Secret')?.before ?? '', /^resourceVersion \d+$/);
    assert.equal(one.basis.objects.find(({ ref }) => ref.kind === 'Secret')?.after, undefined);
  });
});
