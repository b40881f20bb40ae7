import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { confirm, processTerminal } from '../../src/cli/terminal.ts';

function asking(stop = new AbortController()) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const answer = confirm('Change it?', stop.signal, { input, output, terminal: true });
  return { input, output, stop, answer };
}

const INTERRUPTED = { code: 'interrupted', message: 'stopped before anything was changed' };

describe('a question at the terminal', () => {
  for (const [typed, agreed] of [
    ['y\r', true],
    ['YES\r', true],
    ['n\r', false],
    ['\r', false],
    ['yess\r', false],
  ] as const)
    it(`is answered ${agreed ? 'yes' : 'no'} by ${JSON.stringify(typed)}`, async () => {
      const { input, answer, output } = asking();
      input.write(typed);
      assert.equal(await answer, agreed);
      assert.match(String(output.read()), /Change it\? \[y\/N\] /);
    });

  it('is answered no by the end of the input', async () => {
    for (const end of [(input: PassThrough) => input.write('\u0004'), (input: PassThrough) => input.end()]) {
      const { input, answer, output } = asking();
      end(input);
      assert.equal(await answer, false);
      assert.match(String(output.read()), /\n$/);
    }
  });

  it('is interrupted, not declined, by Ctrl-C', async () => {
    const { input, answer } = asking();
    input.write('\u0003');
    await assert.rejects(answer, INTERRUPTED);
  });

  it('is interrupted by a signal', async () => {
    const { stop, answer } = asking();
    stop.abort();
    await assert.rejects(answer, INTERRUPTED);
  });
});

describe('the terminal', () => {
  it('is never shown the credentials of an address, on stdout or on stderr', () => {
    const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
    const terminal = processTerminal({}, streams as unknown as Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>);
    terminal.out('{"next":"get https://anna:geheim@mirror.example/"}\n');
    terminal.err('error: https://anna:geheim@mirror.example/x redirects too often\n');
    assert.equal(String(streams.stdout.read()), '{"next":"get https://(hidden)@mirror.example/"}\n');
    assert.equal(String(streams.stderr.read()), 'error: https://(hidden)@mirror.example/x redirects too often\n');
  });
});
