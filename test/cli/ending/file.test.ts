import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatOfFile } from '../../../src/cli/ending/file.ts';
import { applies, commandBench, fakeStage, interruptedRun } from '../../support/command-bench.ts';
import { emptyFolder } from '../../support/folders.ts';

const failed = { status: 'failed', because: 'the server is gone', hint: 'bring it back' } as const;

describe('--report-file', () => {
  const folder = emptyFolder('report-');
  const at = (name: string) => join(folder, name);
  const text = (name: string) => readFileSync(at(name), 'utf8');

  for (const [file, format] of [
    ['a.json', 'json'],
    ['a.YML', 'yaml'],
    ['a.md', 'markdown'],
    ['a.xml', undefined],
    ['a.txt', 'table'],
    ['a', undefined],
    ['a.log', undefined],
  ] as const) {
    it(`${file} is ${format ?? 'no format'}`, () => assert.equal(formatOfFile(file), format));
  }

  for (const name of ['report', 'report.doc', 'report.json.gz'])
    it(`${name} is refused before the cluster is asked anything`, async () => {
      const bench = commandBench([fakeStage('apply', { plan: applies('a.yaml') })]);
      assert.equal(await bench.run('apply', '--yes', '--report-file', at(name)), 64);
      assert.match(bench.err(), /^error: --report-file \S+: its suffix is no known format\nname it with one of \.json /);
      assert.deepEqual([bench.requests.length, readdirSync(folder)], [0, []]);
    });

  it('tells what a run did, when, and how it ended', async () => {
    const bench = commandBench([fakeStage('apply', { plan: applies('a.yaml') })]);
    assert.equal(await bench.run('apply', '--yes', '--report-file', at('r.json')), 0);
    const report = JSON.parse(text('r.json'));
    assert.deepEqual([report.kind, report.exit.code, report.writes], ['RunReport', 'done', 1]);
    const [action] = report.history.actions;
    assert.deepEqual([action.stage, action.id, action.outcome], ['apply', 'a.yaml', 'done']);
    assert.equal(statSync(at('r.json')).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(folder), ['r.json']);
  });

  it('is written when a program fails, with what failed', async () => {
    const bench = commandBench([fakeStage('apply', { plan: applies('a.yaml') })]);
    bench.engine.tools.set('kubectl apply --server-side -f a.yaml', { exitCode: 1, stderr: 'kubectl is broken' });
    assert.equal(await bench.run('apply', '--yes', '--report-file', at('r.json')), 1);
    const report = JSON.parse(text('r.json'));
    assert.equal(report.exit.code, 'failed');
    assert.equal(report.history.actions[0].outcome, 'failed');
    assert.match(report.history.actions[0].detail, /kubectl is broken/);
  });

  for (const name of ['r.json', 'r.yaml', 'r.md', 'r.html', 'r.txt'])
    it(`${name} has no credentials, whether typed or said by a program`, async () => {
      const bench = commandBench([fakeStage('apply', { plan: applies('a.yaml') })]);
      const stderr = 'cannot read https://alice:geheim@mirror.example/x: Bearer geheim-geheim';
      bench.engine.tools.set('kubectl apply --server-side -f a.yaml', { exitCode: 1, stderr });
      const typed = ['--manifest-url=https://alice:geheim@mirror.example', '--token', 'geheim'];
      assert.equal(await bench.run('apply', '--yes', ...typed, '--report-file', at(name)), 1);
      assert.doesNotMatch(text(name), /geheim/);
      assert.doesNotMatch(JSON.stringify([...bench.engine.kept]), /geheim/);
    });

  it('is written when the run is interrupted', async () => {
    const bench = commandBench([fakeStage('apply', { plan: applies('a.yaml') })]);
    interruptedRun(bench);
    assert.equal(await bench.run('apply', '--yes', '--report-file', at('r.json')), 130);
    assert.equal(JSON.parse(text('r.json')).exit.code, 'interrupted');
  });

  it('is written when the look before the run is given up', async () => {
    const bench = commandBench([fakeStage('apply', { plan: applies('a.yaml') })]);
    bench.engine.soft.abort();
    assert.equal(await bench.run('apply', '--yes', '--report-file', at('r.json')), 130);
    assert.equal(JSON.parse(text('r.json')).error.code, 'interrupted');
  });

  it('is written when checks stop the run before it begins', async () => {
    const bench = commandBench([fakeStage('apply', { verdict: failed, plan: applies('a.yaml') })]);
    assert.equal(await bench.run('apply', '--yes', '--report-file', at('r.md')), 3);
    assert.match(text('r.md'), /the server is gone/);
  });

  for (const [name, expected] of [
    ['r.json', /"kind": "Error"[\s\S]*"message": "no such cluster"/],
    ['r.yaml', /^kind: Error$/m],
    ['r.md', /^- result: failed \(exit 1\)\n\n\*\*no such cluster\*\*$/m],
    ['r.html', /<strong>no such cluster<\/strong>/],
    ['r.txt', /^error: no such cluster\n/],
  ] as const)
    it(`${name} tells the error of a command that never reached a cluster`, async () => {
      const bench = commandBench([fakeStage('apply')]);
      bench.seams.compose = async () => {
        throw new Error('no such cluster');
      };
      assert.equal(await bench.run('apply', '--yes', '--report-file', at(name)), 1);
      assert.match(text(name), expected);
    });

  it('tells that the question was declined', async () => {
    const bench = commandBench([fakeStage('apply', { plan: applies('a.yaml') })]);
    bench.answers = [false];
    assert.equal(await bench.run('apply', '--report-file', at('r.json')), 5);
    assert.match(JSON.parse(text('r.json')).error.message, /^declined/);
  });

  it('says in the plan that is refused for want of --yes why nothing was done', async () => {
    const bench = commandBench([fakeStage('apply', { plan: applies('a.yaml') })]);
    assert.equal(await bench.run('apply', '-o', 'json', '--report-file', at('r.md')), 64);
    assert.match(JSON.parse(bench.out()).message, /^nothing was changed: there is no terminal/);
    assert.match(text('r.md'), /^\*\*nothing was changed: there is no terminal .*\*\*\n- read the plan, then add --yes$/m);
  });

  it('replaces an older report whole, and one that cannot be written costs a warning and not the exit code', async () => {
    const bench = commandBench([fakeStage('preflight', { readOnly: true })]);
    writeFileSync(at('r.txt'), 'x'.repeat(100_000), { mode: 0o644 });
    assert.equal(await bench.run('preflight', '--report-file', at('r.txt')), 0);
    assert.doesNotMatch(text('r.txt'), /xxx/);
    assert.equal(statSync(at('r.txt')).mode & 0o777, 0o600);
  });
});
