import assert from 'node:assert/strict';
import { usualChain } from '../../src/features/chain.ts';
import { type HeldFleet, heldFleet } from '../support/held-fleet.ts';
import { ORDER, TYPHA, unheld } from '../support/operated-bench.ts';
import { type Flags, performIn } from '../support/sandbox-ports.ts';

const NODES = 30;
// No agent here writes the release into ClusterInformation.
const ACCEPTED = ['NS-301'];
const FLAGS: Flags = { release: 'v3.32.1', skip: ['cli'], yes: true, accept: ACCEPTED };

describe('a fleet whose agents a new Typha refuses, on the sandbox', function () {
  this.timeout(120_000);

  it('loses most agents at once where nothing keeps the operator from Typha', async () => {
    const fleet = await heldFleet(NODES);
    const outcome = await performIn(fleet.scenario, usualChain, { ...FLAGS, accept: [...ACCEPTED, `${ORDER}=${TYPHA}`] }, { profile: unheld });
    assert.deepEqual([outcome.exit, outcome.message], ['done', undefined]);
    assert.ok(fleet.worst() > NODES / 3, `${fleet.worst()} of ${NODES}`);
  });

  it('never has more agents unavailable than maxUnavailable, and ends without an annotation', async () => {
    const fleet = await heldFleet(NODES);
    await upgrade(fleet);
    assert.equal(fleet.worst(), 1);
  });
});

async function upgrade({ scenario, profile, ...fleet }: HeldFleet): Promise<void> {
  const outcome = await performIn(scenario, usualChain, FLAGS, { profile });
  const open = outcome.findings.filter((one) => one.outcome === 'error').map(({ id, message }) => `${id} ${message}`);
  assert.deepEqual([outcome.exit, outcome.message, open], ['done', undefined, []]);
  assert.deepEqual(fleet.runs(), ['v3.32.1']);
  assert.deepEqual(fleet.marks(), []);
}
