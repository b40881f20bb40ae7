import assert from 'node:assert/strict';
import { nearest } from '../../src/kernel/nearest.ts';

describe('nearest', () => {
  const known = ['preflight', 'plan', 'apply', 'wait'];
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['preflite', 'preflight'],
    ['aply', 'apply'],
    ['APPLY', 'apply'],
    ['wiat', 'wait'],
    ['pre', 'preflight'],
    ['frobnicate', undefined],
  ];
  for (const [written, meant] of cases) it(`takes ${written} for ${meant}`, () => assert.equal(nearest(written, known), meant));
});
