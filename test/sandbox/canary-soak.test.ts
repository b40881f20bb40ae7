import assert from 'node:assert/strict';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { K } from '../../src/kernel/kinds.ts';
import { nodeOf } from '../../src/sandbox/pods-of.ts';
import { agentPods, newOn, restartAgent, strategy, waved } from '../support/canary-sandbox.ts';
import { groundOf } from '../support/incident-grounds.ts';
import { installedSandbox, performIn } from '../support/sandbox-ports.ts';

describe('the second soak, after Typha', function () {
  this.timeout(120_000);

  for (const [action, afterMs, exit] of [
    ['wait-typha', 0, 'done'],
    ['soak-typha', 60_000, 'stopped'],
  ] as const)
    it(`is ${exit} where an agent restarts ${afterMs / 1000} s after the begin of ${action}`, async () => {
      const { scenario, profile } = await groundOf('typha');
      scenario.cluster.nodes.add(2);
      await scenario.clock.sleep(60_000);
      let soaks = 0;
      const outcome = await performIn(
        scenario,
        [applyStage],
        { canary: '1', soak: '30m' },
        {
          profile,
          observe: (event) => {
            if (event.type === 'action-started' && event.action.id === 'soak-typha') soaks += 1;
            if (event.type === 'action-started' && event.action.id === action)
              scenario.clock.schedule(afterMs, () => restartAgent(scenario, 'node-02'));
          },
        },
      );
      // The stage is planned again before the controllers: the soak is not.
      assert.deepEqual([outcome.exit, soaks], [exit, 1], outcome.message);
      if (exit === 'stopped') assert.match(outcome.message ?? '', /^1 new agent restarted since it was started: node-02: /);
    });
});

describe('the soak of a canary whose agent is deleted again and again', () => {
  for (const [times, exit] of [
    [2, 'done'],
    [400, 'stopped'],
  ] as const)
    it(`${times} times is ${exit}`, async () => {
      const scenario = await installedSandbox({ nodes: 3 });
      const { clock, cluster } = scenario;
      const begun = clock.now().getTime();
      for (let time = 1; time <= times; time += 1)
        clock.schedule(time * 8 * 60_000, () => {
          const [pod, other] = agentPods(scenario).filter((one) => nodeOf(one) === 'node-01' && newOn(scenario).length === 1);
          if (pod && !other) cluster.store.delete(K.Pod, pod.metadata.name, pod.metadata.namespace);
        });
      const outcome = await performIn(scenario, [applyStage], { canary: '1', soak: '10m' }, { profile: waved });
      assert.equal(outcome.exit, exit, outcome.message);
      if (exit === 'done') return;
      assert.match(
        outcome.message ?? '',
        /^the canary failed: 1 new agent replaced 3 times while watched: node-01: kube-system\/netsvc-node-/,
      );
      assert.match(outcome.steps.join('\n'), /see what deletes or evicts it: kubectl -n kube-system get events/);
      assert.deepEqual([newOn(scenario), strategy(scenario)], [['node-01'], { type: 'OnDelete' }]);
      assert.ok(clock.now().getTime() - begun < 30 * 60_000);
    });
});
