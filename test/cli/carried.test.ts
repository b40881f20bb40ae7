import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CARRIED, carriedNames, isOn, oursWith, planHere, resumerOf } from '../../src/cli/carried.ts';
import { CREDENTIAL_FLAGS } from '../../src/cli/command-line.ts';
import { FLAG_ROWS } from '../../src/cli/flags.ts';
import { command } from '../../src/kernel/command.ts';

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
      'what a plan depends on is `carried: true` in its row (src/cli/*-flags.ts), and nothing else is',
    );
  });

  it('are those of the sub-command’s command', () => {
    const next = oursWith('ownerrefs strip', [{ name: 'qps', word: '--qps=9' }]);
    assert.equal(String(next), 'kubectl netsvc-upgrade ownerrefs strip --qps=9');
  });

  it('go to commit while a stage is held, also where another was performed alone since', () => {
    const rows = [
      ['apply', 'held'],
      ['alp', 'failed'],
    ] as const;
    const stages = rows.map(([id, state]) => ({ id, state, startedAt: '' }));
    assert.equal(resumerOf({ intent: { kind: 'upgrade', to: 'v1' }, stages }), 'commit');
  });

  it('are, of a plan of a rollback, those that the rollback knows: the plan refuses the others', () => {
    const flags = [
      { name: 'context', word: '--context=prod' },
      { name: 'release', word: '--release=v3.31.7' },
      { name: 'skip', word: '--skip=cli' },
      { name: 'timeout', word: '--timeout=9m' },
    ];
    assert.equal(String(oursWith('plan --rollback', flags)), 'kubectl netsvc-upgrade plan --rollback --context=prod --timeout=9m');
    const plan = command`kubectl netsvc-upgrade plan`;
    assert.equal(
      String(planHere({ intent: 'rollback' }, plan, flags)),
      'kubectl netsvc-upgrade plan --context=prod --timeout=9m --rollback',
    );
    assert.match(String(planHere({ intent: 'upgrade' }, plan, flags)), /plan --context=prod --release=v3\.31\.7 --skip=cli --timeout=9m$/);
  });

  it('hold no credential', () => {
    for (const name of CREDENTIAL_FLAGS) assert.ok(!CARRIED.includes(name), name);
  });
});
