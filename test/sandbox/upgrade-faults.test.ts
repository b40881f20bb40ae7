import assert from 'node:assert/strict';
import { chainGround } from '../support/describe-chain-sweep.ts';
import { sampled } from '../support/owner-sweep.ts';
import { seedOf } from '../support/seed.ts';

const SAMPLE = 16;

describe('owned objects through strip, upgrade and restore on the sandbox, under faults', function () {
  this.timeout(120_000);
  const ground = chainGround();

  const seed = seedOf(process.env, 20261122);
  it(`come to the same end at ${SAMPLE} points of the sweep (SEED=${seed})`, async () => {
    const { points, trial } = ground();
    // Nearly all requests read; what can do harm is among the others.
    const writes = points.filter(({ isRead }) => !isRead);
    for (const point of [...sampled(writes, SAMPLE / 2, seed), ...sampled(points, SAMPLE / 2, seed)]) await trial(point);
  });

  it('come to the same end where the watch of the restore’s wait is lost, outdated, silent or killed', async () => {
    const { points, trial } = ground();
    const wanted = ['kill-after', 'timeout-after', 'stale', 'expired', 'reset'] as const;
    const waits = points.filter(({ what, type }) => what === 'watch apiservices/' && wanted.some((one) => one === type));
    assert.equal(waits.length, wanted.length, 'the restore waits for the aggregated API once');
    for (const point of waits) await trial(point);
  });
});
