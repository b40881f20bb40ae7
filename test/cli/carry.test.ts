import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CARRIED, carriedNames, carriedTo, flagsOfRun, withRecorded } from '../../src/cli/carry.ts';
import { CREDENTIAL_FLAGS } from '../../src/cli/environment.ts';
import { rowsOf } from '../../src/cli/flag.ts';
import { actingFlags, outputFlags, ownerFlags, ownershipFlags, pendingFlags, targetFlags } from '../../src/cli/flags.ts';
import { rangeFlags } from '../../src/cli/slice.ts';
import { networkProbeFlags, notifyFlags } from '../../src/cli/stage-flags.ts';

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

  it('are all that say what is done, and nothing of one command line alone', () => {
    for (const [name] of rowsOf(targetFlags, ownerFlags, ownershipFlags, rangeFlags, networkProbeFlags))
      assert.ok(CARRIED.includes(name), name);
    for (const [name] of rowsOf(actingFlags, outputFlags, pendingFlags, notifyFlags)) assert.ok(!CARRIED.includes(name), name);
  });

  it('of the environment are for another machine only', () => {
    const flags = [
      { name: 'manifest-url', word: '--manifest-url=/mirror', fromEnvironment: true } as const,
      { name: 'context', word: '--context=prod' },
    ];
    assert.equal(carriedTo('run', flags), ' --context=prod');
    assert.deepEqual(flagsOfRun(flags), ['--manifest-url=/mirror']);
    assert.equal(carriedTo('run', withRecorded([], flagsOfRun(flags))), ' --manifest-url=/mirror');
  });

  it('are those of the sub-command’s command', () => {
    assert.equal(carriedTo('ownerrefs strip', [{ name: 'qps', word: '--qps=9' }]), ' --qps=9');
  });

  it('hold no credential', () => {
    for (const name of CREDENTIAL_FLAGS) assert.ok(!CARRIED.includes(name), name);
  });
});
