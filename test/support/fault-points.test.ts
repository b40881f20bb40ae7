import assert from 'node:assert/strict';
import type { SeenRequest } from '../control-plane/proxy-log.ts';
import { chooseFaultPoints, everyFaultPoint, fromEnd, isAmong, STRATA } from './fault-points.ts';
import { seedOf } from './seed.ts';

const request = (number: number, more: Partial<SeenRequest>): SeenRequest => ({
  number,
  method: 'GET',
  path: '/api',
  purpose: 'read',
  userAgent: 'kubectl',
  isRepeated: false,
  ...more,
});

const RUN: readonly SeenRequest[] = Array.from({ length: 60 }, (_, index) =>
  request(index + 1, { purpose: (['read', 'write', 'watch'] as const)[index % 3] ?? 'read', isRepeated: index % 6 === 3 }),
);

describe('the points of a fault sweep', () => {
  it('are the same for the same seed, and others for another', () => {
    const points = chooseFaultPoints(RUN, 32, 7);
    assert.deepEqual(chooseFaultPoints(RUN, 32, 7), points);
    assert.notDeepEqual(chooseFaultPoints(RUN, 32, 8), points);
  });

  it('hold every fault equally often when there are enough, and no two alike', () => {
    const points = chooseFaultPoints(RUN, 3 * STRATA.length, 1);
    for (const { kind, among } of STRATA) {
      const numbers = points.filter((one) => one.kind === kind && one.among === among).map(({ nth }) => nth);
      assert.equal(new Set(numbers).size, 3, `${kind} ${among}: ${numbers}`);
    }
  });

  it('name only requests that the run sends', () => {
    for (const { among, nth } of chooseFaultPoints(RUN, 200, 3)) {
      assert.ok(nth >= 1 && nth <= RUN.filter((one) => isAmong(among, one)).length, `${nth} of the ${among}`);
    }
  });

  it('take the most harmful faults first when there are few', () => {
    const points = chooseFaultPoints(RUN, 4, 1);
    assert.deepEqual(
      points.map(({ kind }) => kind),
      STRATA.slice(0, 4).map(({ kind }) => kind),
    );
  });
});

describe('a point that counts from the end', () => {
  it('is the last of its sort for -1, and stays as it is above zero', () => {
    assert.deepEqual(fromEnd(RUN, { kind: 'kill-after', among: 'writes', nth: -1 }), { kind: 'kill-after', among: 'writes', nth: 20 });
    assert.deepEqual(fromEnd(RUN, { kind: 'stale', among: 'reads', nth: 3 }), { kind: 'stale', among: 'reads', nth: 3 });
  });
});

describe('every point of a fault sweep', () => {
  it('is every request of the sort, once for each fault', () => {
    const points = everyFaultPoint(RUN, [
      { kind: 'conflict', among: 'writes' },
      { kind: 'gone', among: 'watches' },
    ]);
    assert.equal(points.length, 40);
    assert.equal(new Set(points.map(({ kind, nth }) => `${kind} ${nth}`)).size, 40);
    assert.deepEqual(points.at(0), { kind: 'conflict', among: 'writes', nth: 1 });
    assert.deepEqual(points.at(-1), { kind: 'gone', among: 'watches', nth: 20 });
  });
});

describe('the seed', () => {
  it('is that of the environment, else the usual one', () => {
    assert.equal(seedOf({ SEED: '42' }, 1), 42);
    assert.equal(seedOf({}, 1), 1);
  });

  it('is refused if it is no number', () => {
    assert.throws(() => seedOf({ SEED: 'monday' }, 1), /SEED is a whole number/);
  });
});
