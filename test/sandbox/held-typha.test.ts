import assert from 'node:assert/strict';
import { usualChain } from '../../src/features/chain.ts';
import { type HeldFleet, heldFleet } from '../support/held-fleet.ts';
import { FLAGS, heldPoints, heldTrial } from '../support/held-sweep.ts';
import { ORDER, TYPHA, unheld } from '../support/operated-bench.ts';
import { sampled } from '../support/owner-sweep.ts';
import { performIn } from '../support/sandbox-ports.ts';
import { seedOf } from '../support/seed.ts';
import { CALICO_TARGET } from '../support/target.ts';

const NODES = 30;
const SAMPLE = Number(process.env.SAMPLE) || 8;

describe('a fleet whose agents a new Typha refuses, on the sandbox', function () {
  this.timeout(120_000);

  it('loses most agents at once where nothing keeps the operator from Typha', async () => {
    const fleet = await heldFleet(NODES);
    const outcome = await performIn(fleet.scenario, usualChain, { ...FLAGS, accept: ['NS-301', `${ORDER}=${TYPHA}`] }, { profile: unheld });
    assert.deepEqual([outcome.exit, outcome.message], ['done', undefined]);
    assert.ok(fleet.worst() > NODES / 3, `${fleet.worst()} of ${NODES}`);
  });

  it('never has more agents unavailable than maxUnavailable, and ends without an annotation', async () => {
    const fleet = await heldFleet(NODES);
    await upgrade(fleet);
    assert.equal(fleet.worst(), 1);
  });

  const seed = seedOf(process.env, 20261128);
  it(`is released by the next run, wherever this one was killed: after each write, and at ${SAMPLE} points of the sweep (SEED=${seed})`, async () => {
    const points = await heldPoints();
    const writes = points.filter(({ type }) => type === 'kill-after');
    for (const point of [...writes, ...sampled(points, SAMPLE, seed)]) await heldTrial(point);
  });
});

async function upgrade({ scenario, profile, ...fleet }: HeldFleet): Promise<void> {
  const outcome = await performIn(scenario, usualChain, FLAGS, { profile });
  const open = outcome.findings.filter((one) => one.outcome === 'error').map(({ id, message }) => `${id} ${message}`);
  assert.deepEqual([outcome.exit, outcome.message, open], ['done', undefined, []]);
  assert.deepEqual(fleet.runs(), [CALICO_TARGET]);
  assert.deepEqual(fleet.marks(), []);
}
