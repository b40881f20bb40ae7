import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chain } from '../../src/features/chain.ts';
import { applyChecks } from '../../src/features/install-manifest/apply-checks.ts';
import { preflightChecks } from '../../src/features/preflight/catalogue.ts';
import { verifyChecks } from '../../src/features/verify/checks.ts';
import { coverageText, faultsOf, procedure, type Sentence, stepOf } from '../support/coverage.ts';

/** How many numbered steps and rules, or rows of a table (§2, §3, §4.1, §7), each section of the upgrade procedure for v3.32 has. */
const STEPS: Readonly<Record<string, number>> = {
  ...{
    '§1': 5,
    '§2': 17,
    '§3': 3,
    '§4.1': 10,
    '§4.2': 2,
    '§4.3': 3,
    '§4.4': 7,
    '§4.5': 6,
    '§4.6': 2,
    '§4.7': 3,
    '§4.8': 3,
    '§7': 5,
    '§9': 8,
  },
};

describe('coverage of the procedure', () => {
  it('lists each step of the document, in its order, and none that it does not have', () => {
    const steps = Object.entries(STEPS).flatMap(([section, count]) =>
      Array.from({ length: count }, (_, index) => `${section}/${index + 1}`),
    );
    assert.deepEqual(
      [...new Set(procedure.map(({ ref }) => stepOf(ref)))].filter((step) => step.includes('/')),
      steps,
    );
  });

  for (const sentence of procedure)
    it(`${sentence.ref} is met: ${sentence.asks}`, () => {
      assert.ok(sentence.does !== '' && sentence.shown.length > 0 && sentence.reads.length > 0);
      assert.deepEqual(faultsOf(sentence), []);
    });

  it('finds what a sentence says wrongly of itself', () => {
    const [some] = procedure;
    assert.ok(some);
    const wrong = (change: Partial<Sentence>) => faultsOf({ ...some, ...change }).join();
    assert.match(wrong({ shown: [{ file: 'sandbox/none', title: 'x' }] }), /there is no test\/sandbox\/none\.test\.ts/);
    assert.match(wrong({ shown: [{ file: 'sandbox/variants', title: 'no such title' }] }), /has no "no such title"/);
    assert.match(wrong({ shown: [{ file: 'sandbox/other-pods', title: 'is named by' }] }), /its tests are of netsvc, and it says both/);
    assert.match(wrong({ only: 'calico' }), /its tests are of both profiles, and it says calico/);
    assert.match(wrong({ reads: ['NS-999'] }), /there is no page NS-999/);
  });

  it('cites no step that does not exist', () => {
    const known = new Set(procedure.flatMap(({ ref }) => [stepOf(ref), ref.split('/')[0]]));
    const cited = [...chain, ...preflightChecks, ...applyChecks, ...verifyChecks]
      .map((one) => one.ref)
      .filter((ref) => ref.startsWith('§'));
    assert.deepEqual(
      cited.filter((ref) => !known.has(ref)),
      [],
    );
  });

  it('is what docs/internals/coverage.md says', () => {
    const file = join(import.meta.dirname, '..', '..', 'docs', 'internals', 'coverage.md');
    assert.equal(readFileSync(file, 'utf8'), coverageText(), 'run: node build/coverage.ts');
  });
});
