import assert from 'node:assert/strict';
import { usualChain } from '../../src/features/chain.ts';
import { K } from '../../src/kernel/kinds.ts';
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

  it('says in the plan what is held, and not that it is held where a resumed run holds it no more', async () => {
    // An operator that does nothing: Typha stays old.
    const fleet = await heldFleet(NODES, 'operator', () => undefined);
    const { scenario, profile } = fleet;
    const { faults, store } = scenario.cluster;
    const planned = async () => {
      const { plans } = await performIn(scenario, usualChain, { ...FLAGS, 'dry-run': 'server' }, { profile });
      return plans.flatMap(({ notes }) => notes.map(String)).filter((note) => note.startsWith('Deployment/calico-system/calico-typha '));
    };
    assert.match(String(await planned()), /calico-typha gets the annotation unsupported\S+: the operator does not change it until/);
    await performIn(scenario, usualChain, FLAGS, {
      profile,
      observe: (event) => {
        if (event.type === 'action-done' && event.action.id === 'operator') faults.killed = true;
      },
    }).catch(() => undefined);
    assert.match(String(await planned()), /calico-typha has the annotation unsupported\S+: the operator does not change it until/);
    const typha = store.get(K.Deployment, 'calico-typha', 'calico-system') ?? assert.fail('there is no Typha');
    store.update(K.Deployment, { ...typha, metadata: { ...typha.metadata, annotations: {} } });
    assert.deepEqual(await planned(), []);
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
