import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lacksProgram } from './needs.ts';

const folder = join(import.meta.dirname, '..');

describe('tests that need something of the machine', () => {
  it('are told apart by this alone: no other test is skipped, and each that is says why', () => {
    const skipping = globSync('**/*.ts', { cwd: folder })
      .filter((file) => file !== 'support/needs.ts' && file !== 'support/needs.test.ts')
      .filter((file) => /\.skip\(|\b(?:it|describe|context)\.skip\b|\bx(?:it|describe)\(/.test(readFileSync(join(folder, file), 'utf8')));
    assert.deepEqual(skipping, []);
  });

  it('hear which program is not there', () => {
    assert.equal(lacksProgram('node'), undefined);
    assert.equal(lacksProgram('no-such-program'), 'there is no no-such-program on PATH');
  });
});
