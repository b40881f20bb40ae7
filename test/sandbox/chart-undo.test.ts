import assert from 'node:assert/strict';
import { sliceOf } from '../../src/cli/stage-command.ts';
import { usualChain } from '../../src/features/chain.ts';
import { K } from '../../src/kernel/kinds.ts';
import { storedIn } from '../support/chart-bench.ts';
import type { HeldFleet } from '../support/held-fleet.ts';
import { FLAGS } from '../support/held-sweep.ts';
import { makeCharted, put } from '../support/incident-grounds.ts';
import { FROM, sourceFleet } from '../support/operator-back.ts';
import { assertDone } from '../support/owner-faults.ts';
import { playedHelm, withKnownChart } from '../support/played-helm.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { performIn, sandboxPorts } from '../support/sandbox-ports.ts';

const UNTIL = { until: 'agents' } as const;
const NAMED = { release: 'calico', operator: 'tigera-operator', group: 'operator.tigera.io' };
const OLD = { chart: { metadata: { name: 'tigera-operator', version: FROM }, values: {} } };

/** A chart release of v3.31.7 whose upgrade has stopped with the agents. */
async function stoppedChart(): Promise<HeldFleet> {
  const fleet = await sourceFleet(3);
  const { scenario, profile } = fleet;
  makeCharted(scenario, NAMED);
  for (const one of storedIn({ stored: OLD })) put(scenario.cluster, one);
  const ports = sandboxPorts(scenario);
  const [tools, artifacts] = [playedHelm(scenario, ports.tools), withKnownChart(ports.artifacts)];
  const stages = sliceOf(UNTIL)(usualChain);
  assertDone(await performIn(scenario, stages, { ...FLAGS, ...UNTIL }, { profile, ports: { ...ports, tools, artifacts } }), 'the run');
  return fleet;
}

async function undoOf({ scenario, profile }: HeldFleet): Promise<string> {
  const status = sandboxCommand(scenario, profile);
  assert.equal(await status.run('status'), 0, status.err());
  return status
    .out()
    .replaceAll(/\s+/g, ' ')
    .replace(/.*undo: (.*) STAGE .*/, '$1');
}

describe('the undo of a chart release, as status says it', function () {
  this.timeout(60_000);

  it('is possible as long as helm has the former revision, and not any more without it', async () => {
    const fleet = await stoppedChart();
    const { store } = fleet.scenario.cluster;
    assert.equal(await undoOf(fleet), 'possible: kubectl netsvc-upgrade rollback');
    store.delete(K.Secret, 'sh.helm.release.v1.calico.v3', 'tigera-operator');
    assert.match(await undoOf(fleet), /^not possible any more \S+ no revision of tigera-operator\/calico is left that is of v3\.31\.7/);
  });
});
