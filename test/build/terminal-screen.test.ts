import assert from 'node:assert/strict';
import { TerminalScreen } from '../../build/terminal-screen.ts';
import { svgLines, terminalSvg } from '../../build/terminal-svg.ts';

function shown(output: string, columns = 10): TerminalScreen {
  const screen = new TerminalScreen(columns);
  screen.write(output);
  return screen;
}

const textOf = (screen: TerminalScreen) => screen.lines().map((line) => line.map(({ text }) => text).join(''));

describe('the terminal that pictures are made of', () => {
  for (const [what, output, lines] of [
    ['lines', 'a\r\nb\r\n', ['a', 'b']],
    ['a line that is too long', '0123456789ab', ['0123456789', 'ab']],
    ['a line that is written over', 'old\r\u001b[2Knew', ['new']],
    ['a line further up that is written over', 'one\r\ntwo\r\n\u001b[2A\u001b[G\u001b[2KONE\u001b[1B\r\u001b[Kx', ['ONE', 'x']],
    ['the rest of a line that is erased', 'abc\u001b[2G\u001b[K', ['a']],
    ['everything below that is erased', 'a\r\nb\r\nc\u001b[2A\u001b[J', ['a']],
    ['a hidden cursor', '\u001b[?25la\u001b[?25h', ['a']],
  ] as const)
    it(`shows ${what}`, () => assert.deepEqual(textOf(shown(output)), lines));

  it('keeps what is bold or coloured, until it ends', () => {
    assert.deepEqual(shown('\u001b[1m\u001b[32mok\u001b[39m!\u001b[22m.\u001b[2mx\u001b[0my').lines(), [
      [
        { text: 'ok', styles: ['1', '32'] },
        { text: '!', styles: ['1'] },
        { text: '.', styles: [] },
        { text: 'x', styles: ['2'] },
        { text: 'y', styles: [] },
      ],
    ]);
  });

  it('tells when the program has completed a picture', () => {
    const seen: string[] = [];
    const screen = new TerminalScreen(10);
    screen.write('\u001b[?2026ha\u001b[?2026l\u001b[?2026hb\u001b[?2026l', () => seen.push(textOf(screen).join()));
    assert.deepEqual(seen, ['a', 'ab']);
  });

  it('is drawn with every text as it is', () => {
    const svg = terminalSvg('a & b', shown('\u001b[31m<x>\u001b[39m & y').lines(), 10);
    assert.deepEqual(svgLines(svg), ['<x> & y']);
    assert.match(svg, /fill="#ff7b72">&lt;x&gt;</);
    assert.match(svg, /<title id="title">a &amp; b<\/title>/);
  });
});
