import assert from 'node:assert/strict';
import { ownColour } from '../../src/kernel/visible.ts';
import { hasColour, palette } from '../../src/report/colour.ts';
import { clip, columns, displayWidth } from '../../src/report/columns.ts';
import { SUMMARY_LIMIT, summaryTable } from '../../src/report/table.ts';

describe('columns', () => {
  it('are as wide as their widest cell, two spaces apart, without trailing spaces', () => {
    assert.deepEqual(
      columns([
        ['KIND', 'ACTION', 'NOTE'],
        ['DaemonSet/a', 'update', ''],
        ['b', '', 'x'],
      ]),
      ['KIND         ACTION  NOTE', 'DaemonSet/a  update', 'b                    x'],
    );
  });

  it('line up wide letters and colours', () => {
    assert.deepEqual(
      columns([
        ['日本', 'x'],
        [`${ownColour(31)}ab${ownColour(39)}`, 'y'],
      ]),
      ['日本  x', `${ownColour(31)}ab${ownColour(39)}    y`],
    );
  });

  const widths: readonly (readonly [string, number])[] = [
    ['abc', 3],
    ['', 0],
    ['√ ok', 4],
    ['日本', 4],
    ['e\u0301', 1],
    [`${ownColour(1)}x${ownColour(22)}`, 1],
  ];
  for (const [text, width] of widths) it(`count ${JSON.stringify(text)} as ${width}`, () => assert.equal(displayWidth(text), width));

  it('are clipped with an ellipsis', () => {
    assert.equal(clip('abcdef', 4), 'abc…');
    assert.equal(clip('abcd', 4), 'abcd');
    assert.equal(clip('日本語', 4), '日…');
  });
});

describe('a summary table', () => {
  it('has no borders and no colours, and keeps cells of several lines together', () => {
    assert.deepEqual(
      summaryTable(
        ['STAGE', 'WHY'],
        [
          ['apply', 'one\ntwo'],
          ['wait', ''],
        ],
      ),
      ['STAGE  WHY', 'apply  one', '       two', 'wait'],
    );
  });

  it('refuses more rows than it can draw fast', () => {
    assert.throws(
      () =>
        summaryTable(
          ['A'],
          Array.from({ length: SUMMARY_LIMIT + 1 }, () => ['x']),
        ),
      RangeError,
    );
  });
});

describe('colour', () => {
  const cases: readonly (readonly [string, boolean, Readonly<Record<string, string>>, boolean])[] = [
    ['a terminal', true, { TERM: 'xterm' }, true],
    ['a pipe', false, { TERM: 'xterm' }, false],
    ['NO_COLOR', true, { NO_COLOR: '1' }, false],
    ['an empty NO_COLOR', true, { NO_COLOR: '' }, true],
    ['TERM=dumb', true, { TERM: 'dumb' }, false],
  ];
  for (const [title, isTerminal, env, expected] of cases) {
    it(`is ${expected ? 'on' : 'off'} for ${title}`, () => {
      assert.equal(hasColour({ isTerminal, env }), expected);
      assert.equal(palette({ isTerminal, env }).bad('x') !== 'x', expected);
    });
  }
});
