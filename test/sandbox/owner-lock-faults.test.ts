import assert from 'node:assert/strict';
import { testFolder } from '../support/folders.ts';
import { lockPoints, lockTrial, silentLock } from '../support/lock-sweep.ts';
import { sampled } from '../support/owner-sweep.ts';
import { seedOf } from '../support/seed.ts';

const SAMPLE = 40;

describe('owner references on the sandbox, under faults', function () {
  this.timeout(120_000);
  const folder = testFolder('owners-');

  const seed = seedOf(process.env, 20261121);
  it(`come to the same end from another machine at ${SAMPLE} points of the lock, and two never write at once (SEED=${seed})`, async () => {
    for (const point of sampled(await lockPoints(folder), SAMPLE, seed)) await lockTrial(point, folder);
  });

  it('are left to another machine where the lock is not answered any more, before that one may write', async () => {
    const { exit, message = '' } = await silentLock(folder);
    assert.equal(exit, 'locked', message);
    assert.match(message, /the lock was lost/);
  });
});
