import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyChecks } from '../../src/checks/apply.ts';
import { preflightChecks } from '../../src/checks/index.ts';
import { verifyChecks } from '../../src/checks/verify.ts';
import { procedure } from '../../src/core/procedure.ts';
import { claims } from '../../src/stages/claims.ts';
import { chain } from '../../src/stages/index.ts';
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

  it('is what docs/coverage.md says', async () => {
    const file = join(import.meta.dirname, '..', '..', 'docs', 'coverage.md');
    assert.equal(readFileSync(file, 'utf8'), await coverageText(), 'run: node build/coverage.ts');
  });
});
