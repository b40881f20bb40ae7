import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { confirm, processTerminal } from '../../src/cli/terminal.ts';

function asking(stop = new AbortController()) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const answer = confirm('Change it?', stop.signal, { input, output, terminal: true });
  return { input, output, stop, answer };
}

const INTERRUPTED = { code: 'interrupted', message: 'stopped before this command changed anything' };

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

  /** A terminal of this kind, with a person who types `typed`. */
  function dumb(typed: string) {
    const [stdin, stderr] = [new PassThrough(), new PassThrough()].map((stream) => Object.assign(stream, { isTTY: true, columns: 80 }));
    const streams = { stdin, stdout: new PassThrough(), stderr } as unknown as Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>;
    const terminal = processTerminal({ TERM: 'dumb' }, streams);
    return { terminal, stderr, type: () => stdin?.write(typed) };
  }

  it('asks also where there is no cursor, and writes the question alone', async () => {
    const { terminal, stderr, type } = dumb('y\n');
    assert.equal(terminal.interactive, true);
    const answer = terminal.confirm('Change it?', new AbortController().signal);
    type();
    assert.equal(await answer, true);
    assert.equal(String(stderr?.read()), 'Change it? [y/N] ');
  });

  it('is interrupted where there is no cursor by the signal of Ctrl-C', async () => {
    const stop = new AbortController();
    const answer = dumb('').terminal.ask('Which?', stop.signal);
    stop.abort();
    await assert.rejects(answer, INTERRUPTED);
  });
});
