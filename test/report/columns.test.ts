import assert from 'node:assert/strict';
import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { command, ownCommand } from '../../src/kernel/command.ts';
import { text } from '../../src/kernel/step.ts';
import { forTerminal, ownColour } from '../../src/kernel/visible.ts';
import { palette } from '../../src/report/colour.ts';
import { clip, columns, displayWidth, fitted } from '../../src/report/columns.ts';
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
    for (const width of [9, 11, 14]) assert.equal(clip('labels 120/5000', width), 'labels…', 'half of a number would be another number');
    assert.equal(clip('not ready, 134 s', 14), 'not ready…');
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
      assert.equal(palette({ isTerminal, env }).bad('x') !== 'x', expected);
    });
  }
});

const ours = palette({ isTerminal: true, env: {} });
const lines = (text: string, width: number) => fitted(text, width).split('\n');

describe('fitted', () => {
  it('leaves alone what fits', () => {
    assert.equal(fitted('a b\n\n  c', 5), 'a b\n\n  c');
  });

  it('goes on a little further right', () => {
    assert.deepEqual(lines('error: one two three', 12), ['error: one', '  two three']);
    assert.deepEqual(lines('    - one two three', 14), ['    - one two', '      three']);
  });

  it('goes on below the text of a finding', () => {
    assert.deepEqual(lines(`× NS-606 ${ours.column}images come from quay.io`, 26), ['× NS-606 images come from', '         quay.io']);
  });

  it('goes on in the last column that has room', () => {
    assert.deepEqual(lines('crds   not needed  the manifest holds the CRDs', 38), [
      'crds   not needed  the manifest holds',
      '                   the CRDs',
    ]);
    assert.deepEqual(lines('a-very-long-name/of-an-object  update  restarts 4 pods', 40), [
      'a-very-long-name/of-an-object  update',
      '  restarts 4 pods',
    ]);
  });

  it('keeps together what stands between dots', () => {
    assert.deepEqual(lines('1 create · restarts 2 pods · about 4 min · no undo', 36), [
      '1 create · restarts 2 pods ·',
      '  about 4 min · no undo',
    ]);
    assert.deepEqual(lines('a · restarts one pod of each node · b', 20), ['a · restarts one pod', '  of each node · b']);
  });

  it('keeps the parts of a header together', () => {
    const pieces = ['manifest path, calico', 'v3.27.5 → v3.32.1', '3 nodes', 'cluster 05aa2a29…'].map(ours.piece);
    assert.deepEqual(lines(pieces.join('   '), 50), ['manifest path, calico   v3.27.5 → v3.32.1', '  3 nodes   cluster 05aa2a29…']);
    assert.deepEqual(lines(ours.piece('context "a-cluster" of this company'), 20), ['context "a-cluster"', '  of this company']);
    assert.equal(
      stripVTControlCharacters(forTerminal(ours.strong(pieces.join('   ')))),
      'manifest path, calico   v3.27.5 → v3.32.1   3 nodes   cluster 05aa2a29…',
    );
  });

  it('goes on further left where a word has no room in its column', () => {
    assert.deepEqual(lines('1     backup   write to /state/00000000-0000-4000-8000-000000000002/x', 50), [
      '1     backup   write to /state/',
      '      00000000-0000-4000-8000-000000000002/x',
    ]);
  });

  it('parts a path where even a line of its own is too short', () => {
    assert.deepEqual(lines('backup: /var/lib/state/backup-20261126', 22), ['backup: /var/lib/', '  state/', '  backup-20261126']);
  });

  it('keeps a command whole, and begins it in a row of its own where it then fits', () => {
    const long = ownCommand(`run ${'--manifest-url=/a/very/long/path'.repeat(3)}`);
    assert.deepEqual(lines(`Next: ${ours.said(long)}`, 60), [`Next: ${long}`]);
    const explained = ours.said(text`see why: ${command`kubectl -n kube-system describe pod ${'a'}`}, then wait`);
    assert.deepEqual(lines(explained, 44), ['see why:', '  kubectl -n kube-system describe pod a,', '  then wait']);
    assert.deepEqual(lines('kubectl get was not asked for', 20), ['kubectl get was not', '  asked for'], 'words alone are no command');
  });

  it('leaves no mark in what fits, and none in what is no terminal’s', () => {
    const next = ownCommand('run');
    assert.equal(fitted(`${ours.column}${ours.said(next)}`, 80), String(next));
    assert.equal(palette({ isTerminal: false, env: {} }).said(next), String(next));
  });

  it('parts the commands of a plan, which nobody pastes', () => {
    assert.deepEqual(lines('35    apply  kubectl apply --server-side -f /state/of/the/run/upgrade.yaml', 40), [
      '35    apply  kubectl apply --server-side',
      '             -f /state/of/the/run/',
      '             upgrade.yaml',
    ]);
  });

  it('loses no word, and has no line that is too wide', () => {
    const word = fc.stringMatching(/^[a-z]{1,12}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), fc.integer({ min: 20, max: 60 }), (words, width) => {
        const text = words.join(' ');
        const shown = lines(text, width);
        assert.deepEqual(
          shown.flatMap((line) => line.trim().split(' ')),
          words,
        );
        for (const line of shown) assert.ok(displayWidth(line) <= width);
      }),
    );
  });
});
