import assert from 'node:assert/strict';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ProgramRun, runProgram } from '../../../src/adapters/tools/run-program.ts';
import { testFolder } from '../../support/folders.ts';
import { patient } from '../../support/patience.ts';

const LIMIT = 64 * 1024 * 1024;

describe('runProgram', () => {
  const folder = testFolder('run program-');

  async function run(script: string, more: Partial<ProgramRun> = {}) {
    const file = join(folder, 'stub');
    await writeFile(file, `#!/bin/sh\n${script}\n`);
    await chmod(file, 0o755);
    return runProgram(file, [], { env: { PATH: '/usr/bin:/bin' }, ...more });
  }

  it('tells every line before it is done, the last one without an end too', async () => {
    const lines: string[] = [];
    const { stdout } = await run('printf "a\\r\\n\\nlast"', { onLine: (line) => lines.push(line) });
    assert.deepEqual(lines, ['a', '', 'last']);
    assert.equal(stdout, 'a\r\n\nlast');
  });

  it('keeps letters whole that arrive in two pieces', async () => {
    const lines: string[] = [];
    const { stdout } = await run('printf "\\303"; sleep 0.05; printf "\\274\\n"', { onLine: (line) => lines.push(line) });
    assert.deepEqual([stdout, lines], ['ü\n', ['ü']]);
  });

  it('calls output over the limit no success, even if the program does', async () => {
    const result = await run(`trap "" PIPE TERM; head -c ${LIMIT + 1} /dev/zero; exit 0`);
    assert.deepEqual([result.exitCode, result.problem, result.stdout.length], [undefined, 'signal', LIMIT]);
  });

  it('takes output that is exactly as long as the limit', async () => {
    const result = await run(`head -c ${LIMIT} /dev/zero`);
    assert.deepEqual([result.exitCode, result.problem, result.stdout.length], [0, undefined, LIMIT]);
  });

  it('does not wait for what a stopped program had started', async () => {
    const result = await run('sleep 30 & wait', { timeoutMs: 50 });
    assert.deepEqual([result.exitCode, result.problem], [undefined, 'timed-out']);
  });

  const held: Readonly<Record<string, string>> = {
    'a program that ends with a code of its own when it is asked to': 'trap "exit 3" TERM; sleep 15 & wait',
    'one that left something in another session': 'setsid sleep 15 & wait',
  };
  for (const [title, script] of Object.entries(held)) {
    it(`has a time limit over ${title}`, async () => {
      const started = performance.now();
      assert.equal((await run(script, { timeoutMs: 50 })).problem, 'timed-out');
      assert.ok(performance.now() - started < patient(10_000));
    });
  }

  const left: Readonly<Record<string, string>> = { 'in its group': 'sleep 15 &', 'in another session': 'setsid sleep 15 &' };
  for (const [title, script] of Object.entries(left))
    for (const timeoutMs of [undefined, 900, 10_000])
      it(`does not wait for what a program left behind ${title}, limit ${timeoutMs ?? 'none'}`, async () => {
        const started = performance.now();
        const { exitCode, problem, stdout } = await run(`echo said\n${script}\nexit 4`, timeoutMs === undefined ? {} : { timeoutMs });
        assert.deepEqual([exitCode, problem, stdout], [4, undefined, 'said\n']);
        assert.ok(performance.now() - started < patient(5_000));
      });

  const loud = '(while :; do echo x; sleep 0.3; done) & echo $! > pid; exit 0';
  for (const isEnded of [false, true])
    it(`does not wait for what keeps printing${isEnded ? ', and less after Ctrl-C' : ''}`, async () => {
      const started = performance.now();
      const { exitCode } = await run(
        loud.replace('> pid', `> ${join(folder, 'pid').replaceAll(' ', '\\ ')}`),
        isEnded ? { signal: AbortSignal.timeout(2_000) } : {},
      );
      process.kill(Number(await readFile(join(folder, 'pid'), 'utf8')));
      assert.equal(exitCode, 0);
      assert.ok(performance.now() - started < patient(15_000));
    });

  it('has all that a program printed before it ended, however much and however slowly it is read', async () => {
    let lines = 0;
    const onLine = () => {
      lines += 1;
      if (lines % 100 !== 0) return;
      const until = performance.now() + 20;
      while (performance.now() < until);
    };
    const { exitCode, stdout } = await run('seq 1 12000', { onLine });
    assert.deepEqual([exitCode, lines, stdout.length], [0, 12_000, 60_894]);
  });

  it('tells a program that was ended by somebody else', async () => {
    assert.equal((await run('kill -9 $$')).problem, 'signal');
  });

  it('keeps the exit code of a program that does not read its input', async () => {
    const result = await run('exit 3', { stdin: 'x'.repeat(1_000_000) });
    assert.deepEqual([result.exitCode, result.problem], [3, undefined]);
  });

  it('does not start a program for a signal that came before', async () => {
    assert.equal((await run('echo ran', { signal: AbortSignal.abort() })).problem, 'cancelled');
  });

  it('finds no program in a file that may not be run', async () => {
    await writeFile(join(folder, 'plain'), 'text');
    assert.equal((await runProgram(join(folder, 'plain'), [], { env: {} })).problem, 'not-found');
  });
});
