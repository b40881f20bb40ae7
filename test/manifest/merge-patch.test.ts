import assert from 'node:assert/strict';
import { withDifference } from '../../src/features/install-chart/conflicts.ts';

const CASES: readonly (readonly [string, readonly [unknown, unknown, unknown], unknown])[] = [
  [
    'leaves what neither state changes to the live one',
    [
      { a: 'mine', b: 1 },
      { a: 'x', b: 1 },
      { a: 'x', b: 2 },
    ],
    { a: 'mine', b: 2 },
  ],
  ['leaves away what was removed, as long as nothing changes there', [{}, { a: 1, b: { c: 1 } }, { a: 1, b: { c: 1 } }], {}],
  ['puts back what was removed where the states differ, and no more', [{}, { b: { c: 1, d: 1 } }, { b: { c: 2, d: 1 } }], { b: { c: 2 } }],
  ['removes what the new state drops, changed or not', [{ a: 'mine', b: 1 }, { a: 'x', b: 1 }, { b: 1 }], { b: 1 }],
  ['replaces a list as a whole', [{ a: [1, 9] }, { a: [1] }, { a: [1, 2] }], { a: [1, 2] }],
  ['adds a map whole', [{}, {}, { a: { b: 1 } }], { a: { b: 1 } }],
  ['writes over a map that became something else in the cluster', [{ a: 'text' }, { a: { b: 1 } }, { a: { b: 2 } }], { a: { b: 2 } }],
];

describe('withDifference', () => {
  for (const [what, [live, before, after], expected] of CASES) {
    it(what, () => assert.deepEqual(withDifference(live, before, after), expected));
  }

  it('treats no key as anything but a key', () => {
    const after = JSON.parse('{"__proto__": {"x": 1}, "constructor": 1}') as unknown;
    assert.equal(JSON.stringify(withDifference({}, {}, after)), '{"__proto__":{"x":1},"constructor":1}');
  });
});
