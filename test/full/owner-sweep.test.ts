import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { faultPoints } from '../support/owner-faults.ts';
import { cleanRequests, trial } from '../support/owner-sweep.ts';

describe('every request that takes owner references off and puts them back', function () {
  this.timeout(1_200_000);
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'owners-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('may fail in every way: one more run comes to the same end, and nothing is lost at any moment', async () => {
    for (const point of faultPoints(await cleanRequests(folder))) await trial(point, folder);
  });
});
