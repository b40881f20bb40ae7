import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Labels, matches, type Selector, SelectorError, selectorText } from '../../../src/features/policy-rules/selector.ts';
import { parseSelector } from '../../../src/features/policy-rules/stored-selector.ts';
import { CASES, WRONG } from './selector-cases.ts';

const labelsOf = (text: string): Labels =>
  text === '-'
    ? {}
    : Object.fromEntries(text.split(' ').map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));

describe('selectors of the service', () => {
  for (const [selector, selects, leaves] of CASES) {
    it(`reads ${JSON.stringify(selector)}`, () => {
      const parsed = parseSelector(selector);
      for (const labels of selects) assert.equal(matches(parsed, labelsOf(labels)), true, `selects ${labels}`);
      for (const labels of leaves) assert.equal(matches(parsed, labelsOf(labels)), false, `leaves ${labels}`);
    });
  }

  it('are tried on more than 150 pairs of selector and labels', () => {
    const pairs = CASES.reduce((sum, [, selects, leaves]) => sum + selects.length + leaves.length, 0);
    assert.ok(pairs >= 150, String(pairs));
  });
});

describe('what is no selector', () => {
  for (const [selector, column] of WRONG) {
    it(`names column ${column} of ${JSON.stringify(selector.slice(0, 40))}`, () => {
      assert.throws(
        () => parseSelector(selector),
        (thrown) => thrown instanceof SelectorError && thrown.column === column && thrown.message.includes(`column ${column}`),
      );
    });
  }

  it('never ends in anything but a selector or an error with a column inside the text', () => {
    const pieces = fc.constantFrom(
      'a',
      ' ',
      '==',
      '!=',
      '!',
      '(',
      ')',
      '{',
      '}',
      ',',
      '"x"',
      "'",
      '"',
      '&&',
      '||',
      'in',
      'not ',
      'has(',
      'all()',
      'contains',
      'é',
      '\n',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(pieces, { maxLength: 20 }).map((all) => all.join('')),
          fc.string(),
        ),
        (text) => {
          try {
            parseSelector(text);
          } catch (thrown) {
            assert.ok(thrown instanceof SelectorError, String(thrown));
            assert.ok(thrown.column >= 1 && thrown.column <= text.length + 1);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});

const KEYS = ['a', 'b', 'in', 'x/y'];
const VALUES = ['', '1', '2', '12', `it's`];
const key = fc.constantFrom(...KEYS);
const value = fc.constantFrom(...VALUES);
const labels = fc.dictionary(key, value, { maxKeys: 4 });
const simple: fc.Arbitrary<Selector> = fc.oneof(
  fc.constantFrom<Selector>({ op: 'all' }, { op: 'global' }),
  key.map((label): Selector => ({ op: 'has', label })),
  fc.record({
    op: fc.constantFrom('==' as const, '!=' as const, 'contains' as const, 'starts with' as const, 'ends with' as const),
    label: key,
    value,
  }),
  fc.record({ op: fc.constantFrom('in' as const, 'not in' as const), label: key, values: fc.array(value, { maxLength: 3 }) }),
);
/** Trees as the parser makes them: no single operand, no `not` of a `not`. */
const tree: fc.Arbitrary<Selector> = fc.letrec<{ tree: Selector; plain: Selector }>((tie) => ({
  plain: fc.oneof(
    { weight: 3, arbitrary: simple },
    {
      weight: 1,
      arbitrary: fc.record({
        op: fc.constantFrom('and' as const, 'or' as const),
        operands: fc.array(tie('tree'), { minLength: 2, maxLength: 3 }),
      }),
    },
  ),
  tree: fc.oneof(
    { depthSize: 'small' },
    tie('plain'),
    tie('plain').map((operand): Selector => ({ op: 'not', operand })),
  ),
})).tree;

describe('laws of selectors', () => {
  it('the text of a selector is a selector that selects the same, and its text is that text again', () => {
    fc.assert(
      fc.property(tree, labels, (selector, on) => {
        const text = selectorText(selector);
        const again = parseSelector(text);
        assert.equal(matches(again, on), matches(selector, on), text);
        assert.equal(selectorText(again), text);
      }),
      { numRuns: 1000 },
    );
  });

  it('twice not is the same', () => {
    fc.assert(fc.property(tree, labels, (s, on) => matches({ op: 'not', operand: { op: 'not', operand: s } }, on) === matches(s, on)));
  });

  it('not (s and t) is not s or not t, and the other way round', () => {
    fc.assert(
      fc.property(tree, tree, labels, (s, t, on) => {
        const not = (operand: Selector): Selector => ({ op: 'not', operand });
        const same = (left: Selector, right: Selector) => assert.equal(matches(left, on), matches(right, on));
        same(not({ op: 'and', operands: [s, t] }), { op: 'or', operands: [not(s), not(t)] });
        same(not({ op: 'or', operands: [s, t] }), { op: 'and', operands: [not(s), not(t)] });
      }),
    );
  });

  it('!= and not in are the opposites of == and in, absent labels included', () => {
    fc.assert(
      fc.property(key, value, fc.array(value), labels, (label, text, values, on) => {
        assert.notEqual(matches({ op: '==', label, value: text }, on), matches({ op: '!=', label, value: text }, on));
        assert.notEqual(matches({ op: 'in', label, values }, on), matches({ op: 'not in', label, values }, on));
      }),
    );
  });
});
