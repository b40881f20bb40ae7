import assert from 'node:assert/strict';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import type { Observer } from '../../src/kernel/event.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { AGENTS, newOn, ROLLING, restartAgent, roll, setVariable, strategy, waved, withVariable } from '../support/canary-sandbox.ts';
import { type Flags, installedSandbox, performIn, sandboxPorts } from '../support/sandbox-ports.ts';
import { NETSVC_TARGET } from '../support/target.ts';

const newDeployments = ({ cluster: { store } }: Scenario): readonly string[] =>
  store
    .list(K.Deployment)
    .filter((one) => JSON.stringify(one).includes(`:${NETSVC_TARGET}`))
    .map(({ metadata }) => metadata.name);

/** Does it once, as soon as this node has a new agent. */
function once(scenario: Scenario, node: string, what: () => void): void {
  let isDone = false;
  scenario.cluster.store.listen(({ kind }) => {
    if (isDone || kind.plural !== K.Pod.plural || !newOn(scenario).includes(node)) return;
    isDone = true;
    scenario.clock.schedule(1, what);
  });
}

const run = (scenario: Scenario, flags: Flags) => performIn(scenario, [applyStage], flags, { profile: waved });

describe('a canary that is to stop, and whose strategy somebody changes meanwhile', () => {
  for (const canary of ['1', '2'])
    for (const keepsMark of [true, false])
      it(`--canary ${canary}, ${keepsMark ? 'with' : 'without'} the annotation: no wave follows that was not confirmed`, async () => {
        const scenario = await installedSandbox({ nodes: 6 });
        once(scenario, 'node-01', () => void roll(scenario, keepsMark));
        const { exit, message, steps } = await run(scenario, { canary });
        assert.deepEqual([exit, newDeployments(scenario), strategy(scenario)], ['stopped', [], ROLLING], message);
        assert.equal(message, '--canary: no agent is left for it: all were replaced, or the DaemonSet replaces them by itself');
        assert.match(steps.join('\n'), /continue without it: kubectl netsvc-upgrade commit/);
      });
});

describe('what a canary says when it stops', () => {
  it('is of the nodes that are there by then, and one that joined is told apart', async () => {
    const scenario = await installedSandbox({ nodes: 6 });
    once(scenario, 'node-01', () => void scenario.cluster.nodes.add(1));
    const { exit, message } = await run(scenario, { canary: '1' });
    assert.equal(exit, 'stopped');
    assert.match(message ?? '', /^the canary runs: 1 of 7 agents has \S+ and is ready \(node-01\); node-07 has it too, though not chosen$/);
  });

  it('is not that it runs where a node joined whose agent crashes', async () => {
    const scenario = await installedSandbox({ nodes: 6 });
    once(scenario, 'node-01', () => {
      scenario.cluster.nodes.add(1);
      scenario.cluster.nodes.fault('node-07', 'crash-loop');
    });
    const { exit, message } = await run(scenario, { canary: '1' });
    assert.equal(exit, 'stopped');
    assert.match(message ?? '', /^the canary failed: .*node-07/);
  });

  it('is that it failed where its agent restarts while the network is probed', async () => {
    const scenario = await installedSandbox({ nodes: 4 });
    await scenario.cluster.create(K.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'probe' } });
    const observe: Observer = (event) => {
      if (event.type === 'action-started' && event.action.effect.type === 'probe-network')
        scenario.clock.schedule(1_000, () => restartAgent(scenario));
    };
    const probe = { 'probe-network': true, 'probe-image': 'registry.netsvc.io/tools/busybox:1.37', 'probe-namespace': 'probe' };
    const { exit, message } = await performIn(scenario, [applyStage], { canary: '1', ...probe }, { profile: waved, observe });
    assert.equal(exit, 'stopped');
    assert.match(message ?? '', /^the canary failed: 1 agent restarted since it was started: node-01/);
  });
});

describe('the DaemonSet that is let go after a soak', () => {
  /** What happens to it between the read and the patch, once. */
  async function letGo(happens: (scenario: Scenario) => unknown) {
    const scenario = await installedSandbox({ nodes: 4 });
    const ports = sandboxPorts(scenario);
    let [soaks, isRolling, isOver] = [0, false, false];
    const cluster: typeof ports.cluster = Object.create(ports.cluster);
    cluster.patch = async (kind, ...more) => {
      if (kind.plural === K.DaemonSet.plural && isRolling) {
        [isRolling, isOver] = [false, true];
        await happens(scenario);
      }
      return ports.cluster.patch(kind, ...more);
    };
    const observe: Observer = (event) => {
      if (event.type !== 'action-started') return;
      isRolling = !isOver && event.action.id === 'roll-agents';
      if (event.action.id === 'soak') soaks += 1;
    };
    const outcome = await performIn(
      scenario,
      [applyStage],
      { canary: '1', soak: '5m' },
      { profile: waved, observe, ports: { ...ports, cluster } },
    );
    return { scenario, soaks, ...outcome };
  }

  it('is not watched again because its controller has written its status', async () => {
    const { exit, soaks, scenario } = await letGo(({ cluster: { store } }) => {
      const live = store.get(K.DaemonSet, AGENTS.name, AGENTS.namespace) ?? assert.fail();
      store.update(K.DaemonSet, { ...live, status: { ...(live.status as object), numberMisscheduled: 1 } });
    });
    assert.deepEqual([exit, soaks, strategy(scenario), newOn(scenario).length], ['done', 1, ROLLING, 4]);
  });

  it('is not let go with a template that nobody has watched', async () => {
    const { exit, soaks, scenario } = await letGo((one) => setVariable(one, '1'));
    assert.deepEqual([exit, soaks, withVariable(scenario).length], ['done', 2, 4]);
  });
});
