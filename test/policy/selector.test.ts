import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseSelector } from '../../src/policy/parse-selector.ts';
import { type Labels, matches, type Selector, SelectorError, selectorText } from '../../src/policy/selector.ts';

/** Selector, labels it selects, labels it does not: `a=1 b=` is {a: '1', b: ''}; `-` is no label at all. */
const CASES: readonly (readonly [selector: string, selects: readonly string[], leaves: readonly string[]])[] = [
  ['', ['-', 'a=1'], []],
  ['  \t ', ['-', 'a=1'], []],
  ['all()', ['-', 'a=1'], []],
  ['all( )', ['-', 'a=1'], []],
  ['!all()', [], ['-', 'a=1']],
  ['global()', ['-', 'a=1'], []],
  ['has(a)', ['a=1', 'a=', 'a=1 b=2'], ['-', 'b=1', 'A=1']],
  ['has( a )', ['a=1'], ['-']],
  ['!has(a)', ['-', 'b=1'], ['a=1', 'a=']],
  ['! has(a)', ['-'], ['a=1']],
  ['!!has(a)', ['a=1'], ['-']],
  ['!!!has(a)', ['-'], ['a=1']],
  ['has(projectcalico.org/namespace)', ['projectcalico.org/namespace=x'], ['-', 'namespace=x']],
  ['has(a-b_c.d/e)', ['a-b_c.d/e=1'], ['a-b_c.d=1']],
  ['a == "1"', ['a=1', 'a=1 b=2'], ['-', 'a=2', 'a=', 'a=11', 'b=1']],
  ["a == '1'", ['a=1'], ['a=2']],
  ['a=="1"', ['a=1'], ['a=2']],
  ['a\t==\t"1"', ['a=1'], ['a=2']],
  ['a == ""', ['a='], ['-', 'a=1']],
  [`a == "it's"`, ["a=it's"], ['a=its']],
  [`a == 'say"no'`, ['a=say"no'], ['a=sayno']],
  ['a != "1"', ['-', 'a=2', 'a=', 'b=1'], ['a=1', 'a=1 b=2']],
  ["a!='1'", ['-', 'a=2'], ['a=1']],
  ['a != ""', ['-', 'a=1'], ['a=']],
  ['!a == "1"', ['-', 'a=2'], ['a=1']],
  ['!a != "1"', ['a=1'], ['-', 'a=2']],
  ['a in {"1"}', ['a=1'], ['-', 'a=2']],
  ['a in {"1", "2"}', ['a=1', 'a=2'], ['-', 'a=3', 'a=']],
  ["a in {'1','2',}", ['a=1', 'a=2'], ['a=3']],
  [`a in {"1", '2'}`, ['a=1', 'a=2'], ['a=3']],
  ['a in {}', [], ['-', 'a=1', 'a=']],
  ['a in{"1"}', ['a=1'], ['a=2']],
  ['a not in {"1"}', ['-', 'a=2', 'b=1'], ['a=1']],
  ['a not in {"1", "2"}', ['-', 'a=3'], ['a=1', 'a=2']],
  ['a not in {}', ['-', 'a=1'], []],
  ['a not  in {"1"}', ['a=2'], ['a=1']],
  ['a notin {"1"}', ['a=2'], ['a=1']],
  ['!a in {"1"}', ['-', 'a=2'], ['a=1']],
  ['!a not in {"1"}', ['a=1'], ['-', 'a=2']],
  ['a contains "bc"', ['a=bc', 'a=abcd'], ['-', 'a=b', 'a=cb', 'a=']],
  ['a contains ""', ['a=', 'a=1'], ['-']],
  ['a starts with "ab"', ['a=ab', 'a=abc'], ['-', 'a=a', 'a=cab']],
  ['a startswith "ab"', ['a=abc'], ['a=cab']],
  ['a starts\t with "ab"', ['a=abc'], ['a=cab']],
  ['a ends with "yz"', ['a=yz', 'a=xyz'], ['-', 'a=z', 'a=yzx']],
  ['a endswith "yz"', ['a=xyz'], ['a=yzx']],
  ['!a contains "x"', ['-', 'a=b'], ['a=x']],
  ['a == "1" && b == "2"', ['a=1 b=2'], ['-', 'a=1', 'b=2', 'a=1 b=3']],
  ['a == "1"&&b == "2"', ['a=1 b=2'], ['a=1']],
  ['a == "1" || b == "2"', ['a=1', 'b=2', 'a=1 b=2'], ['-', 'a=2 b=1']],
  ['has(a) && has(b) && has(c)', ['a=1 b=1 c=1'], ['a=1 b=1', 'c=1']],
  ['has(a) || has(b) || has(c)', ['a=1', 'b=1', 'c=1'], ['-', 'd=1']],
  ['has(a) || has(b) && has(c)', ['a=1', 'b=1 c=1'], ['b=1', 'c=1']],
  ['has(a) && has(b) || has(c)', ['a=1 b=1', 'c=1'], ['a=1', 'b=1']],
  ['(has(a) || has(b)) && has(c)', ['a=1 c=1', 'b=1 c=1'], ['a=1', 'c=1']],
  ['!(has(a) || has(b))', ['-', 'c=1'], ['a=1', 'b=1']],
  ['!(has(a) && has(b))', ['-', 'a=1', 'b=1'], ['a=1 b=1']],
  ['!has(a) && !has(b)', ['-'], ['a=1', 'b=1']],
  ['((((has(a)))))', ['a=1'], ['-']],
  ['has(a)&&!b in {"1"}||c contains "x"', ['a=1', 'a=1 b=2', 'c=x'], ['-', 'a=1 b=1', 'c=y']],
  ['in == "1"', ['in=1'], ['-']],
  ['not not in {"1"}', ['not=2', '-'], ['not=1']],
  ['contains contains "contains"', ['contains=contains'], ['-']],
  ['all == "1"', ['all=1'], ['-']],
  ['has == "1"', ['has=1'], ['has=2']],
  ['global == "1"', ['global=1'], ['-']],
  ['starts starts with "x"', ['starts=xy'], ['starts=yx']],
  ['kubernetes.io/os == "linux"', ['kubernetes.io/os=linux'], ['kubernetes.io/os=windows', '-']],
  ['node-role.kubernetes.io/control-plane == ""', ['node-role.kubernetes.io/control-plane='], ['-']],
  ['toString == "1"', ['toString=1'], ['-']],
  ['has(constructor)', ['constructor=1'], ['-']],
  ['__proto__ != "1"', ['-'], []],
];

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
  const wrong: readonly (readonly [selector: string, column: number])[] = [
    ['a', 2],
    ['a ', 3],
    ['a = "1"', 3],
    ['a == 1', 6],
    ['a == "1', 6],
    ['a == \'1"', 6],
    ['a == b', 6],
    ['a b', 3],
    ['"a" == "1"', 1],
    ['== "1"', 1],
    ['a == "1" &&', 12],
    ['a == "1" & b == "2"', 10],
    ['a == "1" | b == "2"', 10],
    ['|| has(a)', 1],
    ['has(a) has(b)', 8],
    ['has()', 1],
    ['has(a', 1],
    ['has(a b)', 1],
    ['all(a)', 1],
    ['all(', 1],
    ['(has(a)', 8],
    ['has(a))', 7],
    ['()', 2],
    ['!', 2],
    ['a in', 5],
    ['a in "1"', 6],
    ['a in {"1"', 10],
    ['a in {"1" "2"}', 11],
    ['a in {1}', 7],
    ['a in {,}', 7],
    ['a not {"1"}', 3],
    ['a starts "x"', 3],
    ['a === "1"', 5],
    ['a == "1"; b == "2"', 9],
    ['é == "1"', 1],
    ['a\n== "1"', 2],
    [`${'l'.repeat(513)} == "1"`, 1],
    ['('.repeat(5000), 201],
  ];
  for (const [selector, column] of wrong) {
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
