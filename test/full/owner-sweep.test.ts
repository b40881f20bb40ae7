import { testFolder } from '../support/folders.ts';
import { lockPoints, lockTrial } from '../support/lock-sweep.ts';
import { faultPoints } from '../support/owner-faults.ts';
import { cleanRequests, trial } from '../support/owner-sweep.ts';

describe('every request that takes owner references off and puts them back', function () {
  this.timeout(1_200_000);
  const folder = testFolder('owners-');

  it('may fail in every way: one more run comes to the same end, and nothing is lost at any moment', async () => {
    for (const point of faultPoints(await cleanRequests(folder))) await trial(point, folder);
  });

  it('may be cut off from the lock in every way: another machine gets on when the lock is free, and two never write at once', async () => {
    for (const point of await lockPoints(folder)) await lockTrial(point, folder);
  });
});
