import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CARRIED, carriedNames, isOn, oursWith } from '../../src/cli/carried.ts';
import { CREDENTIAL_FLAGS } from '../../src/cli/command-line.ts';
import { FLAG_ROWS } from '../../src/cli/flags.ts';

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

  it('are all that a plan depends on, and nothing of one command line alone', () => {
    const told = FLAG_ROWS.filter(([, { helpGroup }]) => helpGroup !== 'connection');
    assert.deepEqual(
      told.flatMap(([name, { carried }]) => (carried ? [name] : [])),
      told.flatMap(([name, row]) => (row.helpGroup === 'run' && isOn(row, 'plan') ? [name] : [])),
      'what a plan depends on is `carried: true` in its row (src/cli/upgrade-flags.ts, stage-flags.ts), and nothing else is',
    );
  });

  it('are those of the sub-command’s command', () => {
    const next = oursWith('ownerrefs strip', [{ name: 'qps', word: '--qps=9' }]);
    assert.equal(String(next), 'kubectl netsvc-upgrade ownerrefs strip --qps=9');
  });

  it('hold no credential', () => {
    for (const name of CREDENTIAL_FLAGS) assert.ok(!CARRIED.includes(name), name);
  });
});
