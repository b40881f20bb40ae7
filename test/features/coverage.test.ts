import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chain } from '../../src/features/chain.ts';
import { applyChecks } from '../../src/features/install-manifest/apply-checks.ts';
import { preflightChecks } from '../../src/features/preflight/catalogue.ts';
import { verifyChecks } from '../../src/features/verify/checks.ts';
import { claimants, coverageText, procedure } from '../support/coverage.ts';

/** How many numbered steps and rules, or rows of a table (§3, §7), each section of the upgrade procedure for v3.32 has. */
const STEPS: Readonly<Record<string, number>> = {
  '§1': 5,
  '§3': 3,
  '§4.2': 2,
  '§4.3': 3,
  '§4.4': 7,
  '§4.5': 6,
  '§4.6': 2,
  '§4.7': 3,
  '§4.8': 3,
  '§7': 5,
  '§9': 8,
};
/** What they work on, and where artifacts come from: sections without steps of their own. */
const WHOLE = ['§2', '§4.1'];

describe('coverage of the procedure', () => {
  it('lists each step of the document once, in its order, and none that it does not have', () => {
    const steps = Object.entries(STEPS).flatMap(([section, count]) =>
      Array.from({ length: count }, (_, index) => `${section}/${index + 1}`),
    );
    const inOrder = [...steps, ...WHOLE].sort((one, other) => one.localeCompare(other, 'en', { numeric: true }));
    assert.deepEqual(
      procedure.map((step) => step.ref),
      inOrder,
    );
  });

  for (const { ref, asks } of procedure) {
    it(`${ref} is claimed: ${asks}`, () => {
      assert.ok(claimants(ref).length > 0);
    });
  }

  it('cites no step that does not exist', () => {
    const known = new Set(procedure.map((step) => step.ref));
    const sections = new Set(procedure.map((step) => step.ref.split('/')[0]));
    const cited = [...chain, ...preflightChecks, ...applyChecks, ...verifyChecks]
      .map((one) => one.ref)
      .filter((ref) => ref.startsWith('§'));
    assert.deepEqual(
      cited.filter((ref) => !known.has(ref) && !sections.has(ref)),
      [],
    );
  });

  it('is what docs/reference/coverage.md says', async () => {
    const file = join(import.meta.dirname, '..', '..', 'docs', 'reference', 'coverage.md');
    assert.equal(readFileSync(file, 'utf8'), await coverageText(), 'run: node build/coverage.ts');
  });
});
