import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { confirmSaved, loadPlan } from '../../../src/cli/plan/file.ts';
import { parsePlan } from '../../../src/cli/plan/shape.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { anything, damaged, FUZZ_RUNS, faultOf, own } from '../../support/fuzz.ts';
import { NETSVC_TARGET } from '../../support/target.ts';

const context = contextOf({ release: NETSVC_TARGET });
const SHA = 'd'.repeat(64);
const OBJECT = { stage: 'apply', ref: { apiVersion: 'v1', kind: 'ConfigMap', name: 'c' }, change: 'update', does: SHA, before: SHA };
const PLAN = {
  apiVersion: 'output.netsvc-upgrade/v1',
  kind: 'Plan',
  digest: SHA,
  cluster: { uid: context.clusterUid, server: 's', context: 'c' },
  target: NETSVC_TARGET,
  installed: { release: 'v3.27.5' },
  stages: [],
  basis: { artifacts: { 'upgrade.yaml': SHA }, objects: [OBJECT], actions: [{ stage: 'apply', id: 'a', type: 'exec', does: SHA }] },
};
const NOW = parsePlan(JSON.stringify(PLAN), 'now.json', []);
const field = fc.constantFrom(...Object.keys(PLAN), 'writes', '__proto__');

describe('any file given as a saved plan', () => {
  let folder = '';
  before(() => (folder = mkdtempSync(join(tmpdir(), 'netsvc-fuzz-'))));
  after(() => rmSync(folder, { recursive: true }));

  /** A Fault that says which file, or a plan that is compared with what would be done now. */
  async function loads(text: string): Promise<void> {
    const file = join(folder, 'plan.json');
    await writeFile(file, text);
    try {
      confirmSaved(await loadPlan(file), NOW, undefined, context);
    } catch (thrown) {
      faultOf(thrown);
    }
  }

  it('is one, or is refused: a plan that was damaged', async () => {
    await fc.assert(fc.asyncProperty(damaged(JSON.stringify(PLAN, undefined, 2)), loads), { numRuns: FUZZ_RUNS });
  });

  it('is one, or is refused: fields of any type', async () => {
    const document = fc.array(fc.tuple(field, anything)).map((entries) => JSON.stringify({ ...PLAN, ...own(entries) }));
    await fc.assert(fc.asyncProperty(document, loads), { numRuns: FUZZ_RUNS });
  });

  it('is one, or is refused: any text at all', async () => {
    await fc.assert(fc.asyncProperty(fc.string({ unit: 'binary' }), loads), { numRuns: FUZZ_RUNS });
  });
});
