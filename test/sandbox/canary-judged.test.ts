import assert from 'node:assert/strict';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { K } from '../../src/kernel/kinds.ts';
import { nodeOf } from '../../src/sandbox/pods-of.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { AGENTS, agentPods, agents, allNodes, newOn, setVariable, strategy, waved, withVariable } from '../support/canary-sandbox.ts';
import { type Flags, installedSandbox, performIn } from '../support/sandbox-ports.ts';

const HELD = { type: 'OnDelete' };

const run = (scenario: Scenario, flags: Flags = {}): Promise<ChainOutcome> => performIn(scenario, [applyStage], flags, { profile: waved });

const patch = ({ cluster }: Scenario, path: string, value: unknown) =>
  cluster.patch(K.DaemonSet, { apiVersion: 'apps/v1', kind: 'DaemonSet', ...AGENTS }, [{ op: 'add', path, value }], 'kubectl-rollout');

/** What `kubectl rollout restart` writes. */
const restarted = (scenario: Scenario) =>
  patch(scenario, '/spec/template/metadata/annotations', { 'kubectl.kubernetes.io/restartedAt': '2026-01-01T00:00:00Z' });

function deleteAgent(scenario: Scenario, node: string): void {
  const pod = agentPods(scenario).find((one) => nodeOf(one) === node);
  scenario.cluster.store.delete(K.Pod, pod?.metadata.name ?? '', AGENTS.namespace);
}

describe('before the other agents follow a canary', function () {
  this.timeout(60_000);
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await installedSandbox({ nodes: 4 });
  });

  async function staysHeld(flags: Flags, because: RegExp): Promise<ChainOutcome> {
    await scenario.clock.sleep(60_000);
    const before = newOn(scenario);
    const outcome = await run(scenario, flags);
    await scenario.clock.sleep(600_000);
    assert.deepEqual([outcome.exit, newOn(scenario), strategy(scenario)], ['stopped', before, HELD], outcome.message);
    assert.match(outcome.message ?? '', because);
    return outcome;
  }

  for (const [what, change] of [
    ['restarted the held agents', restarted],
    ['set a variable of the held agents', (one: Scenario) => setVariable(one, '1')],
  ] as const)
    it(`one that failed holds them, also after somebody ${what}`, async () => {
      scenario.cluster.nodes.fault('node-01', 'crash-loop');
      assert.equal((await run(scenario, { canary: '1' })).exit, 'stopped');
      await change(scenario);
      const { steps } = await staysHeld({}, /^no agent has the template that DaemonSet kube-system\/netsvc-node has now/);
      assert.match(steps.join('\n'), /try it on one node first: kubectl netsvc-upgrade run --canary 1/);
      // It is seen to work on another node, and what failed is still there.
      deleteAgent(scenario, 'node-02');
      await staysHeld({}, /^1 pod failed, .*node-01/);
      scenario.cluster.nodes.fault('node-01', 'none');
      assert.deepEqual([(await run(scenario)).exit, newOn(scenario)], ['done', allNodes(scenario)]);
    });

  it('one whose template was changed after it worked is tried once more', async () => {
    await run(scenario, { canary: 'node-02' });
    await setVariable(scenario, '1');
    await staysHeld({}, /^no agent has the template/);
    await run(scenario, { canary: 'node-02' });
    assert.deepEqual(withVariable(scenario), ['node-02']);
    assert.deepEqual([(await run(scenario)).exit, withVariable(scenario)], ['done', allNodes(scenario)]);
  });

  it('one that was killed before its first agent is not passed over', async () => {
    scenario.cluster.store.listen(({ kind, after }) => {
      if (kind.plural === K.DaemonSet.plural && JSON.stringify(after?.spec ?? '').includes('OnDelete'))
        scenario.cluster.faults.killed = true;
    });
    await run(scenario, { canary: '1' }).catch(() => undefined);
    scenario.cluster.faults.killed = false;
    assert.deepEqual([newOn(scenario), strategy(scenario)], [[], HELD]);
    await staysHeld({}, /^no agent has the template/);
  });

  it('one that failed holds them, also where somebody put the old template back', async () => {
    const { template } = agents(scenario).spec as { readonly template: unknown };
    scenario.cluster.nodes.fault('node-01', 'crash-loop');
    await run(scenario, { canary: '1' });
    await patch(scenario, '/spec/template', template);
    await staysHeld({ accept: ['NS-208'] }, /^1 pod failed, .*node-01/);
  });
});
