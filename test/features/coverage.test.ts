import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chain } from '../../src/features/chain.ts';
import { claims } from '../../src/features/claims.ts';
import { applyChecks } from '../../src/features/install-manifest/apply-checks.ts';
import { preflightChecks } from '../../src/features/preflight/catalogue.ts';
import { verifyChecks } from '../../src/features/verify/checks.ts';
import { procedure } from '../../src/kernel/procedure.ts';
import { claimants, coverageText } from '../support/coverage.ts';

describe('coverage of the procedure', () => {
  for (const { ref, asks } of procedure) {
    it(`${ref} is claimed, now or by a named later stage: ${asks}`, () => {
      const { now, later } = claimants(ref);
      assert.ok(now.length + later.length > 0);
    });
  }

  it('cites no step that does not exist', () => {
    const known = new Set(procedure.map((step) => step.ref));
    const sections = new Set(procedure.map((step) => step.ref.split('/')[0]));
    const cited = [...chain, ...claims, ...preflightChecks, ...applyChecks, ...verifyChecks]
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
