import assert from 'node:assert/strict';
import fc from 'fast-check';
import { effects } from '../../src/cli/effects.ts';
import { actionTexts } from '../../src/kernel/effect-type.ts';
import { cell, code, markdownTable, markdownText } from '../../src/report/report-markdown.ts';
import { reportOf } from '../support/big-report.ts';

const room = { rows: 10, text: 10_000 };
const HOSTILE = [
  '![x](https://evil.example/beacon)',
  '[log in](https://evil.example)',
  'https://evil.example/a|b',
  'www.evil.example',
  '<https://evil.example>',
  '<img src=x>',
  '\\|',
  '\\\\|',
  'a\\https://e.example\\|b',
  '`x` | ``y``',
  '@org/team #1',
  '[ref]: https://evil.example',
  '# heading',
  '- item',
  '**bold** _it_ ~~no~~',
  'x\n| forged | row |',
  '&#91;x&#93;(y)',
  '$\\color{red}$',
];

/** Text outside code, as a reader of Markdown finds it: code spans are read from the left, escapes before them. */
function outsideCode(line: string): string {
  let [rest, outside] = [line, ''];
  while (rest !== '') {
    const fence = /^`+/.exec(rest)?.[0];
    const end = fence && new RegExp(`(?<!\`)${fence}(?!\`)`).exec(rest.slice(fence.length));
    if (rest.startsWith('\\')) [outside, rest] = [outside + rest.slice(0, 2), rest.slice(2)];
    else if (fence && end) rest = rest.slice(fence.length + end.index + fence.length);
    else [outside, rest] = [outside + rest[0], rest.slice(1)];
  }
  return outside;
}

/** Cells of a row as the tables of GFM divide it: at each pipe that no backslash takes the meaning from. */
const cells = (row: string) => row.replace(/\\./g, '..').split('|').length - 2;

/** What would be a link, a picture, a mention, markup or an entity. */
const LIVE = /(?<!\\)(?:\\\\)*[[\]*`~$]|:\/\/|www\.|@|#\d|<|&(?!(amp|lt);)/i;

describe('foreign text in Markdown', () => {
  const text = fc.oneof(
    fc.constantFrom(...HOSTILE),
    fc.array(fc.constantFrom(...HOSTILE, '\\', '|', '`', ' ', 'x'), { maxLength: 6 }).map((all) => all.join('')),
  );

  it('has no link, no picture and no markup', () => {
    fc.assert(
      fc.property(text, (one) => assert.doesNotMatch(outsideCode(cell(`x${one}`, room)), LIVE)),
      { numRuns: 500 },
    );
    for (const one of HOSTILE) assert.doesNotMatch(cell(one, room), /^(#|-|\+|>|\d+[.)]) /, one);
  });

  it('stays in its cell', () => {
    fc.assert(
      fc.property(text, (one) => {
        const rows = markdownTable(['A', 'B'], [[one, one]], room).split('\n');
        assert.equal(rows.length, 3);
        assert.deepEqual(rows.map(cells), [2, 2, 2]);
      }),
      { numRuns: 500 },
    );
  });

  it('is shown with what nobody sees', () => {
    assert.equal(cell('a\u202eb', room), 'a\\\\u202eb');
    assert.equal(code('\u001b]52;c;x\u0007', room), '`\\u001b]52;c;x\\u0007`');
  });

  for (const one of HOSTILE)
    it(`leaves the shape of a report as it is: ${JSON.stringify(one)}`, () => {
      const shape = (word: string) =>
        markdownText(
          reportOf({ word: () => word }),
          actionTexts(effects, (tool) => tool),
        )
          .split('\n')
          .map((line) => (line.startsWith('|') ? cells(line) : (/^(#+ |\d+\. |- |\*\*)?/.exec(line)?.[0] ?? '')));
      assert.deepEqual(shape(`x${one}`), shape('x'));
    });
});
