import { cleanMigration, hepTrial } from '../support/hep-sweep.ts';
import { faultPoints } from '../support/owner-faults.ts';

describe('every request of hep', function () {
  this.timeout(2_400_000);

  it('may fail in every way: one more run comes to the same end, and no host is without an endpoint or a label at any moment', async () => {
    const { requests, end } = await cleanMigration();
    for (const point of faultPoints(requests)) await hepTrial(point, end);
  });
});
