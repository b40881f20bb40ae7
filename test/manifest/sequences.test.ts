import assert from 'node:assert/strict';
import fc from 'fast-check';
import { mergeText } from '../../src/manifest/sequences.ts';

const lines = fc.array(fc.constantFrom('a', 'b', 'c', '', 'image: x:v1'), { maxLength: 12 }).map((all) => all.join('\n'));
const merged = (base: string, mine: string, theirs: string) => {
  const result = mergeText(base, mine, theirs);
  return 'text' in result ? result.text : undefined;
};

describe('three-way merge of texts', () => {
  const rows: readonly (readonly [title: string, base: string, mine: string, theirs: string, result: string | undefined])[] = [
    ['keeps an added line beside a changed one', 'a\nimage: v1\nb', 'a\nimage: v1\nb\nmine', 'a\nimage: v2\nb', 'a\nimage: v2\nb\nmine'],
    ['keeps a removed line removed', 'a\nb\nc\nd', 'a\nc\nd', 'a\nb\nc\nD', 'a\nc\nD'],
    ['takes what both changed alike once', 'a\nb', 'a\nB', 'a\nB', 'a\nB'],
    ['is in conflict where both changed one line', 'a\nimage: v1\nb', 'a\nimage: mine\nb', 'a\nimage: v2\nb', undefined],
    ['is in conflict where one removed what the other changed', 'a\nb\nc', 'a\nc', 'a\nB\nc', undefined],
    ['keeps changes far from each other', 'a\nb\nc\nd\ne', 'A\nb\nc\nd\ne', 'a\nb\nc\nd\nE', 'A\nb\nc\nd\nE'],
  ];
  for (const [title, base, mine, theirs, result] of rows) it(title, () => assert.equal(merged(base, mine, theirs), result));

  it('names the line and the three versions of a conflict', () => {
    assert.deepEqual(mergeText('a\nb\nc', 'a\nx\nc', 'a\ny\nc'), { conflicts: [{ line: 2, base: ['b'], mine: ['x'], theirs: ['y'] }] });
  });

  it('without edits gives theirs, and without news gives mine', () => {
    fc.assert(
      fc.property(lines, lines, (base, other) => {
        assert.equal(merged(base, base, other), other);
        assert.equal(merged(base, other, base), other);
        assert.equal(merged(base, other, other), other);
      }),
    );
  });

  it('merged once more changes nothing', () => {
    fc.assert(
      fc.property(lines, lines, lines, (base, mine, theirs) => {
        const once = merged(base, mine, theirs);
        if (once !== undefined) assert.equal(merged(theirs, once, theirs), once);
      }),
    );
  });
});
