import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runDemo } from '../../src/cli/demo.ts';
import type { RunReport } from '../../src/cli/documents.ts';
import { usualChain as chain } from '../../src/features/chain.ts';
import type { AnyStage } from '../../src/kernel/stage.ts';
import { commandBench } from '../support/command-bench.ts';
import { CALICO_TARGET, pattern } from '../support/target.ts';

describe('demo', () => {
  const demo = async (flags: Omit<Parameters<typeof runDemo>[0]['flags'], 'fast'>, stages: readonly AnyStage[] = chain) => {
    const bench = commandBench(stages);
    const exit = await runDemo({ flags: { ...flags, fast: true }, typed: 'demo', commands: [], seams: bench.seams });
    return { bench, exit };
  };

  it('performs the whole chain without asking, and without composing a real cluster', async () => {
    const { bench, exit } = await demo({ output: 'table' });
    assert.equal(exit, 'done');
    assert.deepEqual([bench.requests, bench.questions], [[], []]);
    assert.match(bench.err(), pattern`calico-node node-04 new ${CALICO_TARGET} 1/1`);
    assert.match(bench.out(), /^verify +done/m);
  });

  it('with --keep-going times out at a stuck node, and continues to the end', async () => {
    const { bench, exit } = await demo({ output: 'json', 'keep-going': true });
    assert.equal(exit, 'done');
    assert.match(bench.err(), /node-02: not ready[\s\S]*Exit code 124: timed out/);
    const document = JSON.parse(bench.out()) as { readonly kind: string };
    assert.equal(document.kind, 'RunReport');
  });

  it('reports a check once, however many stages judge it', async () => {
    const { bench } = await demo({ output: 'json' });
    const { findings, tally } = JSON.parse(bench.out()) as RunReport;
    const ids = findings.map(({ id }) => id);
    assert.deepEqual([...new Set(ids)], ids);
    assert.equal(tally.ok, findings.filter(({ outcome }) => ['ok', 'expected', 'cured'].includes(outcome)).length);
    assert.deepEqual(
      findings.filter(({ id }) => ['NS-701', 'NS-741'].includes(id)).map(({ outcome }) => outcome),
      ['ok', 'ok'],
    );
  });

  it('says nothing of its progress with --quiet, and all the rest', async () => {
    const bench = commandBench(chain);
    assert.equal(await bench.run('demo', '--fast', '--quiet'), 0);
    const said = bench
      .err()
      .split('\n')
      .filter((line) => line !== '');
    assert.deepEqual(
      said.filter((line) => !line.startsWith('Warning: ')),
      [],
    );
    assert.match(bench.out(), /^verify +done/m);
  });

  it('has a line per change with --no-progress, also on a terminal', async () => {
    const bench = commandBench(chain);
    Object.assign(bench.seams.terminal, { errIsTerminal: true });
    assert.equal(await bench.run('demo', '--fast', '--no-progress'), 0);
    assert.match(bench.err(), /^\S+ verify: done in/m);
  });

  it('has no flag that tells what goes on underneath: nothing does', async () => {
    const bench = commandBench(chain);
    assert.equal(await bench.run('demo', '--fast', '-v'), 64);
    assert.match(bench.err(), /^error: unknown flag -v/);
  });

  it('reports the command as it was typed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'demo-'));
    const file = join(folder, 'r.md');
    const exit = await commandBench(chain).run('demo', '--fast', '--quiet', '--report-file', file);
    const report = readFileSync(file, 'utf8');
    rmSync(folder, { recursive: true });
    assert.equal(exit, 0);
    assert.ok(report.includes(`- command: kubectl netsvc-upgrade demo --fast --quiet --report-file ${file}\n`), report.slice(0, 500));
  });
});
