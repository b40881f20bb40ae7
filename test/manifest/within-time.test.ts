import assert from 'node:assert/strict';
import { withinTime } from '../../src/manifest/within-time.ts';

describe('work within a time limit', () => {
  it('gives its result, and its error', () => {
    assert.equal(
      withinTime(10_000, () => 42),
      42,
    );
    const broken = () => {
      throw new Error('no number');
    };
    assert.throws(() => withinTime(10_000, broken), /no number/);
  });

  it('is ended where it is, also in the middle of a pattern', () => {
    let steps = 0;
    const endless = () => {
      for (;;) steps += 1;
    };
    assert.equal(withinTime(50, endless), undefined);
    assert.ok(steps > 0);
    const slow = /^(a+)+$/;
    assert.equal(
      withinTime(50, () => slow.test(`${'a'.repeat(200)}b`)),
      undefined,
    );
  });
});
