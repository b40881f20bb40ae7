import assert from 'node:assert/strict';
import { cleanMigration, cleanUndo, hepTrial, undoTrial } from '../support/hep-sweep.ts';
import { faultPoints } from '../support/owner-faults.ts';
import { sampled } from '../support/owner-sweep.ts';
import { seedOf } from '../support/seed.ts';

const SAMPLE = 40;
const UNDO_SAMPLE = 20;

describe('requests of hep that fail', () => {
  const seed = seedOf(process.env, 20261121);
  it(`come to the same end at ${SAMPLE} points of the sweep, and nothing is lost at any moment (SEED=${seed})`, async function () {
    this.timeout(120_000);
    const { requests, end } = await cleanMigration();
    for (const point of sampled(faultPoints(requests), SAMPLE, seed)) await hepTrial(point, end);
  });

  it('leave no host without an endpoint on the way back where one list of endpoints or of settings is from before the migration', async function () {
    this.timeout(60_000);
    const { requests, end } = await cleanUndo();
    const isList = (what = '') => /^list (hostendpoints|kubecontrollersconfigurations)\//.test(what);
    const points = faultPoints(requests).filter(({ at, type }) => type === 'stale' && isList(requests[at - 1]));
    assert.ok(points.length >= 8, `${points.length} points`);
    for (const point of points) await undoTrial(point, end);
  });

  it(`come to the beginning at ${UNDO_SAMPLE} points of the way back, and nothing is lost at any moment (SEED=${seed})`, async function () {
    this.timeout(120_000);
    const { requests, end } = await cleanUndo();
    for (const point of sampled(faultPoints(requests), UNDO_SAMPLE, seed)) await undoTrial(point, end);
  });
});
