import assert from 'node:assert/strict';
import { quoteFor } from '../../src/kernel/quoting.ts';

describe('an argument in a command that a person is told to type', () => {
  const cases: readonly [argument: string, posix: string, windows: string][] = [
    ['run', 'run', 'run'],
    ['--context=prod', '--context=prod', '--context=prod'],
    ['', "''", '""'],
    ['two words', "'two words'", '"two words"'],
    ["it's", "'it'\\''s'", '"it\'s"'],
    ['C:\\Users\\me\\k.yaml', "'C:\\Users\\me\\k.yaml'", 'C:\\Users\\me\\k.yaml'],
    ['C:\\My Files\\', "'C:\\My Files\\'", '"C:\\My Files\\\\"'],
    ['say "hi"', `'say "hi"'`, '"say \\"hi\\""'],
    ['a\\"b', `'a\\"b'`, '"a\\\\\\"b"'],
    ['a&b|c', "'a&b|c'", '"a&b|c"'],
    ['50%', '50%', '"50%"'],
    ['a,b', 'a,b', '"a,b"'],
  ];
  for (const [argument, posix, windows] of cases) {
    it(`is ${posix} for a POSIX shell and ${windows} on Windows, for ${JSON.stringify(argument)}`, () => {
      assert.deepEqual([quoteFor('linux', argument), quoteFor('darwin', argument), quoteFor('win32', argument)], [posix, posix, windows]);
    });
  }

  it('comes back whole through the rules by which Windows programs take a command line apart', () => {
    for (const [argument, , windows] of cases) assert.equal(asWindowsProgramsRead(windows), argument);
  });
});

/** One word by the rules of CommandLineToArgvW: 2n backslashes before a quote are n, and 2n+1 are n and the quote itself. */
function asWindowsProgramsRead(word: string): string {
  return word.replaceAll(/(\\*)(")/g, (_, slashes: string) => '\\'.repeat(slashes.length / 2) + (slashes.length % 2 ? '"' : ''));
}
