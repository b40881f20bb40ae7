import { testFolder } from '../support/folders.ts';
import { lockPoints, lockTrial } from '../support/lock-sweep.ts';

describe('every request that takes owner references off and puts them back', function () {
  this.timeout(1_200_000);
  const folder = testFolder('owners-');

  it('may be cut off from the lock in every way: another machine gets on when the lock is free, and two never write at once', async () => {
    for (const point of await lockPoints(folder)) await lockTrial(point, folder);
  });
});
