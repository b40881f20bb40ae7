import assert from 'node:assert/strict';
import { confirmSaved } from '../../../src/cli/plan/file.ts';
import { parsePlan } from '../../../src/cli/plan/shape.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { upgradeTo } from '../../fixtures/stored-record.ts';
import { applyBench, installedClientSide, runRecord, upgrade } from '../../support/apply-bench.ts';
import { savedPlan } from '../../support/saved-plan.ts';
import { NETSVC_TARGET, pattern } from '../../support/target.ts';

const AGAIN = ['make a new one'];
type Broken = Record<string, unknown>;

function refusal(text: string): string {
  try {
    parsePlan(text, 'plan.json', AGAIN);
  } catch (thrown) {
    assert.ok(thrown instanceof Fault, String(thrown));
    assert.equal(thrown.code, 'usage');
    return thrown.message;
  }
  throw new Error('it was taken');
}

describe('the file of a saved plan', () => {
  let text: string;
  before(async () => {
    text = JSON.stringify(await savedPlan(applyBench(await installedClientSide('v3.26.4'))));
  });

  it('is read back as it was written, a byte order mark or not', () => {
    assert.equal(JSON.stringify(parsePlan(text, 'plan.json', AGAIN)), text);
    assert.equal(JSON.stringify(parsePlan(`\uFEFF${text}`, 'plan.json', AGAIN)), text);
  });

  const cases: readonly (readonly [string, Broken, RegExp])[] = [
    ['of a newer layout', { apiVersion: 'output.netsvc-upgrade/v2' }, /has layout .*\/v2; this program knows .*\/v1/],
    ['of another kind', { kind: 'RunReport' }, /kind is not Plan/],
    ['of a foreign program', { apiVersion: 'v1' }, /apiVersion is not/],
    ['without a basis', { basis: undefined }, /wrong or missing: basis/],
    ['without a digest', { digest: 'x' }, /wrong or missing: digest$/],
    ['without a cluster', { cluster: undefined }, /wrong or missing: cluster$/],
    ['with a number as its target', { target: 3 }, /wrong or missing: target$/],
    ['with stages that are no list', { stages: {} }, /wrong or missing: stages$/],
    ['with a stage that is none', { stages: [null] }, /wrong or missing: stages$/],
    ['with an object without a name', { basis: { artifacts: {}, objects: [{ ref: {} }], actions: [] } }, /missing: basis\.objects$/],
    ['with actions cut away', { basis: { artifacts: {}, objects: [] } }, /missing: basis\.actions$/],
    ['with artifacts that are no texts', { basis: { artifacts: { a: 1 }, objects: [], actions: [] } }, /missing: basis\.artifacts$/],
  ];
  for (const [title, parts, message] of cases)
    it(`is refused ${title}`, () => assert.match(refusal(JSON.stringify({ ...(JSON.parse(text) as Broken), ...parts })), message));

  it('is refused, cut off anywhere, with a sentence and never otherwise', () => {
    for (let end = 0; end < text.length; end += Math.ceil(text.length / 200)) assert.match(refusal(text.slice(0, end)), /it is not JSON/);
  });

  it('is refused or read, whatever value one of its parts is replaced by', () => {
    const strange = [null, 0, '', [], {}, [null], { __proto__: null, a: [] }, true];
    for (const name of Object.keys(JSON.parse(text) as Broken))
      for (const value of strange) {
        const broken = JSON.stringify({ ...(JSON.parse(text) as Broken), [name]: value });
        try {
          parsePlan(broken, 'plan.json', AGAIN);
        } catch (thrown) {
          assert.ok(thrown instanceof Fault, `${name}: ${String(thrown)}`);
        }
      }
  });
});

describe('a run with a saved plan', () => {
  it('has nothing to do, and no complaint, once an earlier one is at its end', async () => {
    const bench = applyBench(await installedClientSide('v3.26.4'));
    const saved = { file: 'plan.json', document: await savedPlan(bench) };
    await upgrade(bench);
    const now = await savedPlan(bench);
    const record = runRecord({ clusterUid: bench.context.clusterUid, finishedAt: 'then', plan: saved.document.digest });
    confirmSaved(saved, now, record, bench.context);
    for (const other of [
      undefined,
      { ...record, plan: 'another' },
      { ...record, clusterUid: 'another' },
      { ...record, intent: upgradeTo('v3.31.0') },
    ])
      assert.throws(
        () => confirmSaved(saved, now, other, bench.context),
        (thrown) =>
          thrown instanceof Fault &&
          thrown.code === 'stale' &&
          /is stale: apply has nothing to do any more: everything equals .*, and is rolled out$/.test(thrown.message),
      );
  });

  it('is told that an unfinished one was begun without it', async () => {
    const bench = applyBench(await installedClientSide('v3.26.4'));
    const saved = { file: 'plan.json', document: await savedPlan(bench) };
    await upgrade(bench);
    bench.record = runRecord({ clusterUid: bench.context.clusterUid });
    const now = await savedPlan(bench);
    assert.throws(
      () => confirmSaved(saved, now, bench.record, bench.context),
      (thrown) => thrown instanceof Fault && /^the unfinished run was not begun with this plan/.test(thrown.suggestions[0] ?? ''),
    );
  });

  it('stops at another cluster and at another target before anything is compared', async () => {
    const bench = applyBench(await installedClientSide('v3.26.4'));
    const document = await savedPlan(bench);
    const saved = { file: 'plan.json', document };
    const elsewhere = { ...document, cluster: { ...document.cluster, uid: 'other' } };
    assert.throws(() => confirmSaved(saved, elsewhere, undefined, bench.context), /was made for another cluster/);
    assert.throws(
      () => confirmSaved(saved, { ...document, target: 'v3.31.0' }, undefined, bench.context),
      pattern`leads to ${NETSVC_TARGET}, this command to v3\.31\.0`,
    );
  });
});
