import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../../../src/kernel/fault.ts';
import { applies, commandBench, fakeStage, interruptedRun } from '../../support/command-bench.ts';
import { testFolder } from '../../support/folders.ts';
import { NETSVC_TARGET, pattern } from '../../support/target.ts';

const upgrade = () => [
  fakeStage('preflight', { readOnly: true }),
  fakeStage('apply', { plan: applies('upgrade.yaml') }),
  fakeStage('verify', { readOnly: true, judgesResult: true }),
];

describe('run --metrics-file', () => {
  const folder = testFolder('metrics-');
  const file = join(folder, 'upgrade.prom');
  const value = (name: string, text = readFileSync(file, 'utf8')) =>
    new RegExp(`^netsvc_upgrade_${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(text)?.[1];
  const run = async (bench = commandBench(upgrade()), ...flags: readonly string[]) => {
    const exit = await bench.run('run', '--yes', '--metrics-file', file, ...flags);
    return { exit, bench, text: existsSync(file) ? readFileSync(file, 'utf8') : '' };
  };
  beforeEach(() => rmSync(file, { force: true }));

  it('has the end of a run, its releases, its stages and its checks, for every account to read, whatever the umask', async () => {
    const umask = process.umask(0o077);
    const { exit, text } = await run().finally(() => process.umask(umask));
    assert.equal(exit, 0);
    assert.deepEqual(
      ['running', 'finished', 'exit_code', 'step', 'steps'].map((name) => value(name)),
      ['0', '1', '0', '1', '1'],
    );
    assert.match(text, pattern`(?m:^netsvc_upgrade_info\{to="${NETSVC_TARGET}",from="v3\.26\.4",run="\d{8}T\d{6}Z-2c9e0000"\} 1$)`);
    assert.match(text, /^netsvc_upgrade_stage_state\{stage="apply",state="done"\} 1$/m);
    assert.match(text, /^netsvc_upgrade_findings\{outcome="error"\} 0$/m);
    assert.equal(statSync(file).mode & 0o777, 0o644);
    assert.deepEqual(readdirSync(folder), ['upgrade.prom'], 'nothing is left beside it');
  });

  it('is written before the cluster is asked anything, and says that the command is at work', async () => {
    const bench = commandBench(upgrade());
    let seen = '';
    const { compose } = bench.seams;
    bench.seams.compose = async (request) => {
      seen = readFileSync(file, 'utf8');
      return compose(request);
    };
    await run(bench);
    assert.deepEqual([value('running', seen), value('finished', seen), value('exit_code', seen)], ['1', '0', undefined]);
  });

  it('is not finished by a part of the upgrade, and the notification says so too', async () => {
    const { exit } = await run(undefined, '--through', 'apply');
    assert.deepEqual([exit, value('exit_code'), value('finished')], [0, '0', '0']);
  });

  it('has the exit code of a run that fails, is interrupted, is refused, or does not reach the cluster', async () => {
    const failing = commandBench(upgrade());
    failing.engine.ports.tools.run = async () => {
      throw new Fault('failed', 'no', []);
    };
    assert.deepEqual([(await run(failing)).exit, value('exit_code')], [1, '1']);
    assert.match(readFileSync(file, 'utf8'), /stage="apply",state="failed"/);
    const stopped = commandBench(upgrade());
    interruptedRun(stopped);
    assert.deepEqual([(await run(stopped)).exit, value('exit_code'), value('finished')], [130, '130', '0']);
    const refused = commandBench([fakeStage('apply', { verdict: { status: 'failed', because: 'no', hint: 'x' } as never })]);
    assert.deepEqual([(await run(refused)).exit, value('exit_code')], [3, '3']);
    const lost = commandBench(upgrade());
    lost.seams.compose = async () => {
      throw new Fault('failed', 'no answer', []);
    };
    assert.deepEqual([(await run(lost)).exit, value('exit_code'), value('running')], [1, '1', '0']);
  });

  it('is not written by a dry run', async () => {
    assert.equal((await run(undefined, '--dry-run=server')).text, '');
  });

  it('that cannot be written later is one warning, and the run ends as it would have', async () => {
    const place = join(folder, 'gone');
    mkdirSync(place);
    const bench = commandBench(upgrade());
    const { compose } = bench.seams;
    bench.seams.compose = async (request) => {
      rmSync(place, { recursive: true });
      return compose(request);
    };
    assert.equal(await bench.run('run', '--yes', '--metrics-file', join(place, 'a.prom')), 0);
    assert.equal(bench.err().match(/Warning: the metrics could not be written to /g)?.length, 1, bench.err());
  });

  for (const [what, name, because] of [
    ['a missing folder', 'none/a.prom', /^error: --metrics-file \S+: there is no folder \S+\n/],
    ['a folder', 'folder.prom', /^error: --metrics-file \S+ is a folder\n/],
    [
      'another suffix',
      'a.txt',
      /^error: --metrics-file \S+a\.txt: node_exporter reads files with the suffix \.prom alone\nname it so: --metrics-file \S+a\.prom\n/,
    ],
    ['a place where nothing can be written', '/proc/a.prom', /^error: --metrics-file \/proc\/a\.prom cannot be written: /],
  ] as const)
    it(`is refused for ${what}, with one error, before anything is asked or changed`, async () => {
      mkdirSync(join(folder, 'folder.prom'), { recursive: true });
      const bench = commandBench(upgrade());
      assert.equal(await bench.run('run', '--yes', '--metrics-file', name.startsWith('/') ? name : join(folder, name)), 64);
      assert.match(bench.err(), because);
      assert.deepEqual([bench.requests, bench.engine.calls], [[], []]);
      rmSync(join(folder, 'folder.prom'), { recursive: true });
    });
});
