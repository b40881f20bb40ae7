import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CARRIED, carriedNames, carriedTo, flagsOfRun, withRecorded } from '../../src/report/carry.ts';

const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'oclif.manifest.json'), 'utf8')) as {
  readonly commands: Readonly<Record<string, { readonly flags: Readonly<Record<string, unknown>> }>>;
};

/** What is of one command line only: how it acts and what it shows, what it lists or undoes, and credentials. */
const LEFT: readonly string[] = [
  ...['yes', 'dry-run', 'plan-file', 'out', 'detailed-exitcode', 'probe-images', 'read-only', 'for', 'undo', 'delete'],
  ...['output', 'report-file', 'v', 'quiet', 'no-progress', 'token', 'namespace', 'selector', 'owner'],
  ...['template', 'only-template', 'max-unavailable-workloads', 'batch', 'all', 'dir', 'fast', 'keep-going', 'watch'],
];

describe('flags carried to the next command', () => {
  for (const [command, { flags }] of Object.entries(manifest.commands))
    it(`are just those that ${command} knows`, () => {
      assert.deepEqual(
        carriedNames(command),
        CARRIED.filter((name) => Object.hasOwn(flags, name)),
      );
    });

  it('are all that say what is done, of the commands that do it', () => {
    const names = Object.values(manifest.commands).flatMap(({ flags }) => Object.keys(flags));
    const left = [...new Set(names)].filter((name) => !CARRIED.includes(name) && !LEFT.includes(name));
    assert.deepEqual(left, []);
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

  it('hold no credential', () => assert.ok(!CARRIED.includes('token')));
});
