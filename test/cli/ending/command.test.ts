import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunReport } from '../../../src/cli/documents.ts';
import { upgradeTo } from '../../fixtures/stored-record.ts';
import { applies, commandBench, fakeStage } from '../../support/command-bench.ts';
import { NETSVC_TARGET, pattern } from '../../support/target.ts';

const chain = () => [fakeStage('apply', { plan: applies('a.yaml') }), fakeStage('verify', { readOnly: true, judgesResult: true })];

describe('report', () => {
  it('tells a run later as it was told then: what was run, when, and the releases before and after', async () => {
    const bench = commandBench(chain());
    assert.equal(await bench.run('run', '--yes', '--context=prod', '--token=geheim'), 0);
    const runId = bench.engine.stored?.runId;
    assert.ok(runId);
    assert.equal(await bench.run('report', runId, '-o', 'json'), 0);
    const report = JSON.parse(bench.out().slice(bench.out().indexOf('{'))) as RunReport;
    assert.deepEqual([report.kind, report.runId, report.exit.code, report.writes], ['RunReport', runId, 'done', 1]);
    assert.equal(report.versions?.after, 'v3.26.4');
    assert.deepEqual(
      report.stages.map((one) => `${one.id} ${one.state}`),
      ['apply done', 'verify skipped'],
    );
    assert.deepEqual(
      report.history?.actions.map((one) => [one.command, one.outcome]),
      [['kubectl apply --server-side -f a.yaml', 'done']],
    );
    assert.match(report.parts?.[0]?.commandLine ?? '', /^kubectl netsvc-upgrade run --yes --context=prod$/);
    assert.doesNotMatch(JSON.stringify([...bench.engine.kept]), /geheim/);
  });

  it('without an id is that of the last run, for a person too', async () => {
    const bench = commandBench(chain());
    await bench.run('run', '--yes');
    assert.equal(await bench.run('report'), 0);
    assert.match(bench.out(), pattern`(?m:→ ${NETSVC_TARGET} .*\nrun \S+, begun 0s ago by tester@here$)`);
    assert.match(bench.out(), /^0s ago: done \(exit 0\): kubectl netsvc-upgrade run --yes$/m);
    assert.match(bench.out(), /Next: nothing is left for this program to do\n$/);
  });

  it('says what was left to a person', async () => {
    const effect = { type: 'ask', instruction: 'do configure', awaited: true } as const;
    const byHand = { actions: [{ id: 'configure', title: 'configure', ref: '§4.4/4', undo: 'full', effect } as const] };
    const bench = commandBench([...chain(), fakeStage('cli', { plan: byHand })]);
    await bench.run('run', '--yes');
    const told = bench.out().length;
    await bench.run('report');
    assert.deepEqual(
      bench
        .out()
        .slice(told)
        .match(/^MANUAL STEP.*$/gm),
      ['MANUAL STEP  do configure'],
    );
    assert.match(bench.out(), /\nNext: kubectl netsvc-upgrade verify\n$/);
    await bench.run('status');
    assert.match(bench.out(), /\nNext: kubectl netsvc-upgrade verify\n$/, 'which shows whether it is done');
  });

  it('writes nothing, takes no lock and asks nothing', async () => {
    const bench = commandBench(chain());
    await bench.run('run', '--yes');
    const before = [...bench.engine.calls];
    await bench.run('report');
    assert.deepEqual(bench.engine.calls, before);
    assert.deepEqual(bench.questions, []);
  });

  it('writes every form of file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'report-'));
    try {
      const bench = commandBench(chain());
      await bench.run('run', '--yes');
      for (const [name, expected] of [
        ['r.html', /^<!doctype html>[\s\S]*kubectl apply --server-side -f a\.yaml/],
        ['r.md', /kubectl apply --server-side -f a\.yaml/],
        ['r.json', /"parts"/],
      ] as const) {
        assert.equal(await bench.run('report', '--report-file', join(folder, name)), 0);
        assert.match(readFileSync(join(folder, name), 'utf8'), expected);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('puts the parts of a run together that was continued', async () => {
    const bench = commandBench(chain());
    bench.engine.tools.set('kubectl apply --server-side -f a.yaml', { exitCode: 1, stderr: 'the server is gone' });
    assert.equal(await bench.run('run', '--yes'), 1);
    const [first] = bench.engine.kept.keys();
    // The fake clock stands still, and the reports of a run are told apart by their times.
    bench.engine.kept.set(String(first).replace('/report/2026-11-21T02', '/report/2026-11-21T01'), bench.engine.kept.get(first ?? ''));
    bench.engine.tools.clear();
    assert.equal(await bench.run('run', '--yes'), 0);
    await bench.run('report', '-o', 'json');
    const report = JSON.parse(bench.out().slice(bench.out().lastIndexOf('\n{') + 1)) as RunReport;
    assert.equal(report.exit.code, 'done');
    assert.deepEqual([report.findings.map(({ id }) => id), report.tally.ok], [['NS-001'], 1], 'judged by every stage of both');
    assert.deepEqual(new Set(report.parts?.map((one) => one.exit.code)), new Set(['failed', 'done']));
    assert.deepEqual(new Set(report.history?.actions.map((one) => one.outcome)), new Set(['failed', 'done']));
  });

  it('of a run that was killed tells what the record knows, and that it knows no end', async () => {
    const bench = commandBench(chain());
    await bench.run('run', '--yes');
    bench.engine.kept.clear();
    const { outcome: _, finishedAt: __, ...open } = bench.engine.stored ?? assert.fail('no record');
    bench.engine.stored = open;
    assert.equal(await bench.run('report', '-o', 'json'), 0);
    const report = JSON.parse(bench.out().slice(bench.out().lastIndexOf('\n{') + 1)) as RunReport;
    assert.equal(report.exit.code, 'interrupted');
    assert.match(report.message ?? '', /at work, or its last command was killed/);
    assert.match(report.next, / run$/);
  });

  it('finds a run that a later one set aside, and names the runs there are', async () => {
    const bench = commandBench(chain());
    await bench.run('run', '--yes');
    const record = bench.engine.stored ?? assert.fail('no record');
    bench.engine.kept.set('older-1/record', { ...record, runId: 'older-1', intent: upgradeTo('v3.30.0') });
    assert.equal(await bench.run('report', 'older-1'), 0);
    assert.match(bench.out(), /→ v3\.30\.0 .*\nrun older-1, begun/);
    assert.equal(await bench.run('report', 'nonesuch'), 64);
    assert.match(bench.err(), /error: there is no run nonesuch on this cluster\nname one of: older-1, \S+\n/);
  });

  it('refuses where no run is recorded', async () => {
    const bench = commandBench(chain());
    assert.equal(await bench.run('report'), 64);
    assert.match(bench.err(), /no run of this program is recorded on this cluster/);
  });

  it('leaves out what somebody else wrote beside the record', async () => {
    const bench = commandBench(chain());
    await bench.run('run', '--yes');
    const { runId } = bench.engine.stored ?? assert.fail('no record');
    for (const [index, content] of [null, 7, {}, { kind: 'RunReport' }].entries())
      bench.engine.kept.set(`${runId}/report/x${index}`, content);
    assert.equal(await bench.run('report', '-o', 'markdown'), 0);
  });
});

describe('a run and its report in the cluster', () => {
  it('keeps nothing for a command that wrote nothing', async () => {
    const bench = commandBench([fakeStage('apply')]);
    await bench.run('apply');
    assert.equal(bench.engine.kept.size, 0);
  });

  it('keeps nothing under --dry-run=server', async () => {
    const bench = commandBench(chain());
    await bench.run('run', '--dry-run=server');
    assert.equal(bench.engine.kept.size, 0);
  });

  it('ends as it did where the report cannot be kept, with a warning', async () => {
    const bench = commandBench(chain());
    bench.engine.ports.records.append = async () => {
      throw new Error('etcd is full');
    };
    assert.equal(await bench.run('run', '--yes'), 0);
    assert.match(bench.err(), /the report could not be kept beside the run record: etcd is full/);
  });

  it('keeps at most ten reports of a run, the last one always', async () => {
    const bench = commandBench(chain());
    bench.engine.tools.set('kubectl apply --server-side -f a.yaml', { exitCode: 1, stderr: 'no' });
    await bench.run('run', '--yes');
    const { runId } = bench.engine.stored ?? assert.fail('no record');
    bench.engine.kept.clear();
    for (let index = 0; index < 10; index += 1) bench.engine.kept.set(`${runId}/report/${index}`, {});
    bench.engine.tools.clear();
    await bench.run('run', '--yes');
    assert.equal(bench.engine.kept.size, 10);
    assert.equal((bench.engine.kept.get(`${runId}/report/9`) as RunReport).exit.code, 'done');
  });
});
