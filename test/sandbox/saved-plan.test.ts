import assert from 'node:assert/strict';
import { planDifferences } from '../../src/cli/plan/differences.ts';
import { differencesSince } from '../../src/cli/plan/file.ts';
import { runChain } from '../../src/engine/run-chain.ts';
import { usualChain as chain } from '../../src/features/chain.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { contextIn, installedSandbox, performIn, sandboxPorts } from '../support/sandbox-ports.ts';
import { savedPlan } from '../support/saved-plan.ts';

const installed = () => installedSandbox({ nodes: 1 });

const planOf = (scenario: Scenario) => savedPlan({ sources: sandboxPorts(scenario), context: contextIn(scenario) }, chain);

/** A process that performs the whole chain with the plan, and dies at that write. */
async function killedAt(scenario: Scenario, at: number, savedPlanDigest: string): Promise<void> {
  scenario.cluster.faults.plan({ at, kill: 'after' });
  const ports = sandboxPorts(scenario);
  await runChain(chain, ports, { ...contextIn(scenario), savedPlan: savedPlanDigest }, () => undefined).catch(() => undefined);
  assert.ok(scenario.cluster.faults.killed, 'the run was to be killed');
}

describe('a saved plan of the whole chain', () => {
  it('is still true for a new process, later', async () => {
    const scenario = await installed();
    const saved = await planOf(scenario);
    await scenario.clock.sleep(3_600_000);
    const again = await planOf(scenario);
    assert.deepEqual(planDifferences(saved, again), []);
    assert.equal(again.digest, saved.digest);
  });

  it('is what a run goes on with after it was killed at any seventh of its writes', async function () {
    this.timeout(180_000);
    const whole = await installed();
    await performIn(whole, chain);
    for (let at = 1; at <= whole.cluster.faults.writes; at += 7) {
      const scenario = await installed();
      const saved = await planOf(scenario);
      await killedAt(scenario, at, saved.digest);
      const { records } = sandboxPorts(scenario);
      const record = await records.load();
      if (record === undefined) continue;
      assert.equal(record.plan, saved.digest, `the record of a run that was killed at write ${at}`);
      assert.deepEqual(differencesSince(saved, await planOf(scenario)), [], `killed at write ${at}`);
    }
  });

  it('is stale for a run that goes on when somebody else has changed an object meanwhile', async () => {
    const scenario = await installed();
    const saved = await planOf(scenario);
    await killedAt(scenario, 8, saved.digest);
    const { cluster } = sandboxPorts(scenario);
    const [map] = await cluster
      .list(K.ConfigMap, { namespace: 'kube-system' })
      .then((maps) => maps.filter(({ metadata }) => metadata.name === 'netsvc-config'));
    assert.ok(map);
    await cluster.replace(K.ConfigMap, { ...map, data: { ...(map.data as object), veth_mtu: '1400' } });
    assert.match(
      differencesSince(saved, await planOf(scenario)).join('\n'),
      /^ConfigMap\/kube-system\/netsvc-config has changed since the plan, and not as planned/,
    );
  });
});
