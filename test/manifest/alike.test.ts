import assert from 'node:assert/strict';
import { sameMeaning } from '../../src/manifest/alike.ts';

describe('sameMeaning', () => {
  const same: [unknown, unknown][] = [
    [1, '1'],
    [true, 'true'],
    ['', undefined],
    [null, undefined],
    ['0.25', '250m'],
    ['1Gi', '1024Mi'],
    ['2Ki', '2048'],
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    ['{"a": 1}', '{ "a":1 }'],
  ];
  for (const [a, b] of same) it(`takes ${JSON.stringify(a)} and ${JSON.stringify(b)} for the same`, () => assert.ok(sameMeaning(a, b)));

  const different: [unknown, unknown][] = [
    ['1', '2'],
    ['v1.0', 'v1.00'],
    ['10.0.0.0/8', '10.0.0.0/16'],
    [{ a: 1 }, { a: 2 }],
    ['{"a":1}', '{"a":2}'],
    ['250m', '25m'],
    ['{"a":"x y"}', '{"a":"xy"}'],
    ['[s]\na=1\nb=2', '[s]\na=1b=2'],
    [0, undefined],
    [false, undefined],
  ];
  it('tells an entry without text from no entry, where the keys are a person’s', () => {
    assert.ok(!sameMeaning('', undefined, true));
    assert.ok(sameMeaning(null, undefined, true));
    assert.ok(sameMeaning('', '', true));
  });
  for (const [a, b] of different) it(`tells ${JSON.stringify(a)} from ${JSON.stringify(b)}`, () => assert.ok(!sameMeaning(a, b)));
});
