import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { faultPoints } from '../support/owner-faults.ts';
import { cleanRequests, sampled, trial } from '../support/owner-sweep.ts';
import { seedOf } from '../support/seed.ts';

const SAMPLE = 40;

describe('owner references on the sandbox, under faults', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'owners-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const seed = seedOf(process.env, 20261121);
  it(`come to the same end at ${SAMPLE} points of the sweep (SEED=${seed})`, async function () {
    this.timeout(120_000);
    const points = faultPoints(await cleanRequests(folder));
    for (const point of sampled(points, SAMPLE, seed)) await trial(point, folder);
  });
});
