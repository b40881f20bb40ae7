import assert from 'node:assert/strict';
import { firstReached } from './describe-sweep.ts';

describe('a fault point that a run does not reach', () => {
  for (const [sent, from, tried, reached] of [
    [20, 20, [20], true],
    [15, 20, [20, 15], true],
    [2, 20, [20, 15, 11, 8, 6, 4, 3, 2], true],
    [0, 4, [4, 3, 2, 1], false],
  ] as const)
    it(`gives way to earlier ones: number ${from} of ${sent}`, async () => {
      const seen: number[] = [];
      const point = { kind: 'conflict', among: 'writes', nth: from } as const;
      const found = await firstReached(
        point,
        async ({ nth }) => nth <= sent,
        ({ nth }) => seen.push(nth),
      );
      assert.deepEqual([seen, found], [tried, reached]);
    });
});
