import { describeGroundSweep } from '../support/describe-sweep.ts';
import { HEP } from '../support/hep-ground.ts';
import { cleanMigration, cleanUndo, hepTrial, undoTrial } from '../support/hep-sweep.ts';
import { faultPoints } from '../support/owner-faults.ts';
import { seedOf } from '../support/seed.ts';

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

// A few on a real API server: the sandbox's sweep has every request and every fault.
describeGroundSweep({ points: 3, seed: seedOf(process.env, Math.floor(Date.now() / 86_400_000)) }, HEP);
