import assert from 'node:assert/strict';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { nodeOf, podStatus } from '../../src/sandbox/pods-of.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { groundOf } from '../support/incident-grounds.ts';
import { performIn } from '../support/sandbox-ports.ts';

/** The kubelet starts a container of this agent again, which is ready at once. */
function restart({ cluster: { store }, clock }: Scenario, node: string): void {
  const pod = store.list(K.Pod).find((one) => one.metadata.name.startsWith('calico-node-') && nodeOf(one) === node);
  assert.ok(pod);
  const status = podStatus(pod, 'ready', clock.now().toISOString());
  const containerStatuses = status.containerStatuses.map((one, index) => (index === 0 ? { ...one, restartCount: 1 } : one));
  store.update(K.Pod, { ...pod, status: { ...status, containerStatuses } } as KubeObject);
}

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
              scenario.clock.schedule(afterMs, () => restart(scenario, 'node-02'));
          },
        },
      );
      // The stage is planned again before the controllers: the soak is not.
      assert.deepEqual([outcome.exit, soaks], [exit, 1], outcome.message);
      if (exit === 'stopped') assert.match(outcome.message ?? '', /^1 new agent restarted since it was started: node-02: /);
    });
});
