import { cleanMigration, hepTrial } from '../support/hep-sweep.ts';
import { faultPoints } from '../support/owner-faults.ts';
import { sampled } from '../support/owner-sweep.ts';
import { seedOf } from '../support/seed.ts';

const SAMPLE = 40;

describe('requests of hep that fail', () => {
  const seed = seedOf(process.env, 20261121);
  it(`come to the same end at ${SAMPLE} points of the sweep, and nothing is lost at any moment (SEED=${seed})`, async function () {
    this.timeout(120_000);
    const { requests, end } = await cleanMigration();
    for (const point of sampled(faultPoints(requests), SAMPLE, seed)) await hepTrial(point, end);
  });
});
