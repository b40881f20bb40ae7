import assert from 'node:assert/strict';
import { rememberAnswers } from '../../src/adapters/tools/tools.ts';
import type { Invocation, RunToolOptions, Tools } from '../../src/kernel/argv.ts';

const SHOW: Invocation = { tool: 'helm', args: ['show', 'chart', 'x'] };

/** Tools that answer with the number of times that they were asked. */
function counting(exitCode = 0) {
  let asked = 0;
  const seen: (RunToolOptions | undefined)[] = [];
  const run: Tools['run'] = async (_invocation, options) => {
    seen.push(options);
    asked += 1;
    return { exitCode, stdout: String(asked), stderr: '', durationMs: 1 };
  };
  return { tools: rememberAnswers({ run } as Tools), seen };
}

describe('answers of programs that are remembered', () => {
  const cases: readonly (readonly [string, readonly RunToolOptions['answer'][], string])[] = [
    ['asks once where earlier answers will do', ['earlier', 'earlier'], '1 1'],
    ['asks again when told so, and is content with that answer later', ['earlier', 'anew', 'earlier'], '1 2 2'],
    ['asks always, and remembers nothing, unless told to', [undefined, undefined, 'earlier', undefined], '1 2 3 4'],
  ];
  for (const [title, answers, expected] of cases) {
    it(title, async () => {
      const { tools } = counting();
      const said: string[] = [];
      for (const answer of answers) said.push((await tools.run(SHOW, answer === undefined ? {} : { answer })).stdout);
      assert.equal(said.join(' '), expected);
    });
  }

  it('forgets a failure', async () => {
    const { tools } = counting(1);
    await tools.run(SHOW, { answer: 'earlier' });
    assert.equal((await tools.run(SHOW, { answer: 'earlier' })).stdout, '2');
  });

  it('gives two that ask at the same time one answer', async () => {
    const { tools } = counting();
    const [a, b] = await Promise.all([tools.run(SHOW, { answer: 'earlier' }), tools.run(SHOW, { answer: 'earlier' })]);
    assert.deepEqual([a.stdout, b.stdout], ['1', '1']);
  });

  it('tells commands apart by arguments and variables, and hands on the other options', async () => {
    const { tools, seen } = counting();
    await tools.run(SHOW, { answer: 'earlier', timeoutMs: 5 });
    await tools.run({ ...SHOW, env: { HELM_DRIVER: 'configmap' } }, { answer: 'earlier' });
    assert.equal((await tools.run({ ...SHOW, args: ['version'] }, { answer: 'earlier' })).stdout, '3');
    assert.deepEqual(seen, [{ timeoutMs: 5 }, {}, {}]);
  });
});
