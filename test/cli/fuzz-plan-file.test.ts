import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { confirmSaved, loadPlan } from '../../src/cli/plan-file.ts';
import { contextOf } from '../fixtures/facts.ts';
import { anything, damaged, FUZZ_RUNS, faultOf, own } from '../support/fuzz.ts';

const HEAD = { apiVersion: 'output.netsvc-upgrade/v1', kind: 'Plan', digest: 'd' };
const context = contextOf({ release: 'v3.32.2' });
const cluster = { uid: context.clusterUid, server: 's', context: 'c' };
const PLAN = JSON.stringify({ ...HEAD, cluster, target: 'v3.32.2', stages: [] }, undefined, 2);
const field = fc.constantFrom('apiVersion', 'kind', 'digest', 'cluster', 'target', 'stages', 'writes', '__proto__');

describe('any file given as a saved plan', () => {
  let folder = '';
  before(() => (folder = mkdtempSync(join(tmpdir(), 'netsvc-fuzz-'))));
  after(() => rmSync(folder, { recursive: true }));

  /** A Fault that says which file, or a plan that is compared with what would be done now. */
  async function loads(text: string): Promise<void> {
    const file = join(folder, 'plan.json');
    await writeFile(file, text);
    try {
      confirmSaved(await loadPlan(file), context, 'd');
    } catch (thrown) {
      faultOf(thrown);
    }
  }

  it('is one, or is refused: a plan that was damaged', async () => {
    await fc.assert(fc.asyncProperty(damaged(PLAN), loads), { numRuns: FUZZ_RUNS });
  });

  it('is one, or is refused: fields of any type', async () => {
    const document = fc.array(fc.tuple(field, anything)).map((entries) => JSON.stringify({ ...HEAD, ...own(entries) }));
    await fc.assert(fc.asyncProperty(document, loads), { numRuns: FUZZ_RUNS });
  });

  it('is one, or is refused: any text at all', async () => {
    await fc.assert(fc.asyncProperty(fc.string({ unit: 'binary' }), loads), { numRuns: FUZZ_RUNS });
  });
});
