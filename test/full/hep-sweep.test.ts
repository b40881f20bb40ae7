import { cleanMigration, cleanUndo, hepTrial, undoTrial } from '../support/hep-sweep.ts';
import { faultPoints } from '../support/owner-faults.ts';

describe('every request of hep', function () {
  this.timeout(2_400_000);

  it('may fail in every way: one more run comes to the same end, and no host is without an endpoint or a label at any moment', async () => {
    const { requests, end } = await cleanMigration();
    for (const point of faultPoints(requests)) await hepTrial(point, end);
  });

  it('may fail in every way on the way back: one more comes to where the migration began, and nothing is lost at any moment', async () => {
    const { requests, end } = await cleanUndo();
    for (const point of faultPoints(requests)) await undoTrial(point, end);
  });
});
