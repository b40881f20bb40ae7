import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOMS } from './rooms.ts';
import { seeded } from './seeded-fault.ts';

const root = join(import.meta.dirname, '..', '..');

describe('the seeded faults', () => {
  for (const { name, tests, faults } of ROOMS) {
    it(`of ${name} change code that is there, and their tests are there`, () => {
      for (const pattern of tests) {
        assert.notDeepEqual(globSync(pattern, { cwd: root }), [], pattern);
        assert.doesNotMatch(pattern, /[{}]/, 'mocha takes braces for a name, and passes over what it does not find');
      }
      for (const fault of faults) {
        const source = readFileSync(join(root, fault.file), 'utf8');
        assert.notEqual(seeded(source, fault), source);
      }
    });
  }
});
