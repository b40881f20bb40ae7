import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CARRIED, carriedNames, carriedTo, flagsWithRecord, isOn } from '../../src/cli/carried.ts';
import { CREDENTIAL_FLAGS } from '../../src/cli/command-line.ts';
import { FLAG_ROWS } from '../../src/cli/flags.ts';
import type { RunRecord } from '../../src/kernel/run-record.ts';
import { applies, commandBench, fakeStage } from '../support/command-bench.ts';

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
    assert.equal(carriedTo('ownerrefs strip', [{ name: 'qps', word: '--qps=9' }]), ' --qps=9');
  });

  it('hold no credential', () => {
    for (const name of CREDENTIAL_FLAGS) assert.ok(!CARRIED.includes(name), name);
  });
});

const record = {
  ...{ clusterUid: 'uid-1', target: 'v3.31.0', profile: 'calico' },
  flags: ['--manifest-url=/mirror', '--accept=NS-001', '--timeout=1h', '--context=theirs', '--profile=calico'],
} as unknown as RunRecord;

describe('what a command takes from the run record', () => {
  it('is the release, its source and the profile, where no flag says otherwise', () => {
    const { flags, recorded } = flagsWithRecord({ 'manifest-url': 'https://mine', context: 'mine' }, record, 'uid-1');
    assert.deepEqual(flags, { 'manifest-url': 'https://mine', context: 'mine', profile: 'calico', release: 'v3.31.0' });
    assert.deepEqual(
      recorded.map(({ word }) => word),
      ['--profile=calico', '--release=v3.31.0'],
    );
  });

  it('is nothing of the record of another cluster, and nothing without one', () => {
    assert.deepEqual(flagsWithRecord({ v: 1 }, record, 'uid-2'), { flags: { v: 1 }, recorded: [] });
    assert.deepEqual(flagsWithRecord({ v: 1 }, undefined, 'uid-1'), { flags: { v: 1 }, recorded: [] });
  });

  for (const command of ['wait', 'verify'] as const)
    it(`is used by ${command}, said, and given to the next command`, async () => {
      const bench = commandBench([fakeStage('apply', { plan: applies('a.yaml') }), fakeStage(command, { readOnly: true })]);
      await bench.run('run', '--yes', '--manifest-url=/mirror', '--release=v3.31.0');
      const told = bench.err().length;
      assert.equal(await bench.run(command), 0);
      const { flags } = bench.requests.at(-1) ?? {};
      assert.deepEqual([flags?.release, flags?.['manifest-url']], ['v3.31.0', '/mirror']);
      assert.match(
        bench.err().slice(told),
        /^taken from the run record in namespace kube-system: --release=v3\.31\.0 --manifest-url=\/mirror$/m,
      );
    });

  it('leaves a command that begins a run to its own flags', async () => {
    const bench = commandBench([fakeStage('apply', { plan: applies('a.yaml') }), fakeStage('preflight', { readOnly: true })]);
    await bench.run('run', '--yes', '--manifest-url=/mirror');
    await bench.run('preflight');
    assert.equal(bench.requests.at(-1)?.flags['manifest-url'], undefined);
  });
});
