import assert from 'node:assert/strict';
import { ageText, agoText } from '../../src/kernel/counted.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

describe('an age', () => {
  for (const [ms, text] of [
    [-5 * SECOND, '0s'],
    [119 * SECOND, '119s'],
    [2 * MINUTE, '2m'],
    [3 * MINUTE + 12 * SECOND, '3m12s'],
    [72 * MINUTE + 5 * SECOND, '72m'],
    [5 * HOUR + 20 * MINUTE, '5h20m'],
    [47 * HOUR, '47h'],
    [72 * HOUR, '3d'],
  ] as const)
    it(`is written as kubectl does: ${text}`, () => assert.equal(ageText(ms), text));

  const now = new Date('2026-01-02T00:00:00Z');
  for (const [stamp, text] of [
    ['2026-01-01T23:56:00Z', '4m ago'],
    ['2026-01-02T00:05:00Z', '0s ago'],
    ['not a time', 'not a time'],
  ] as const)
    it(`since a stamp is told from now: ${stamp}`, () => assert.equal(agoText(stamp, now), text));
});
