import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CARRIED, carriedNames } from '../../src/ui/carry.ts';

const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'oclif.manifest.json'), 'utf8')) as {
  readonly commands: Readonly<Record<string, { readonly flags: Readonly<Record<string, unknown>> }>>;
};

describe('flags carried to the next command', () => {
  for (const [command, { flags }] of Object.entries(manifest.commands))
    it(`are just those that ${command} knows`, () => {
      assert.deepEqual(
        carriedNames(command),
        CARRIED.filter((name) => Object.hasOwn(flags, name)),
      );
    });

  it('hold no credential', () => assert.ok(!CARRIED.includes('token')));
});
