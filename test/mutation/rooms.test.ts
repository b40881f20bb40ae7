import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOMS } from './rooms.ts';
import { faultsOf, seeded } from './seeded-fault.ts';

const root = join(import.meta.dirname, '..', '..');

describe('the seeded faults', () => {
  for (const room of ROOMS) {
    const [{ name, tests }, faults] = [room, faultsOf(room)];
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

    it(`of ${name} are looked for by the tests of their folders`, () => {
      const folders = new Set(faults.map(({ file }) => dirname(file).replace('src/', 'test/')));
      for (const folder of folders)
        assert.ok(
          tests.some((pattern) => pattern.startsWith(`${folder}/`)),
          folder,
        );
    });
  }
});
