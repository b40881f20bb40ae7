import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type AgentNode, chooseNodes } from '../../src/features/canary/choice.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import type { Fault } from '../../src/kernel/fault.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { object } from '../fixtures/facts.ts';
import { allNodes, newOn, removeNode, setAgent, waved } from '../support/canary-sandbox.ts';
import { testFolder } from '../support/folders.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox, performIn } from '../support/sandbox-ports.ts';

const agent = (name: string, isNew: boolean, ready: boolean, zone?: string): AgentNode => ({
  node: object('v1', `Node/${name}`, {
    metadata: { labels: zone === undefined ? {} : { 'topology.kubernetes.io/zone': zone } },
    status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  }),
  isNew,
});
const cluster = { list: async () => [object('v1', 'Node/a'), object('v1', 'Node/b')] };
const chosen = (text: string, agents: readonly AgentNode[], isBegun: boolean) =>
  chooseNodes(cluster, text, agents, { isBegun }).catch((thrown: Fault) => thrown.message);

describe('a canary that is resumed', () => {
  const failed = [agent('a', true, false), agent('b', false, true), agent('c', false, true)];

  it('is the same where its new agent has made the node not ready', async () => {
    assert.deepEqual(await chosen('a', failed, true), ['a']);
    assert.deepEqual(await chosen('zone=1', failed, true), ['a', 'b']);
  });

  it('is refused where the agent of such a node is still old', async () =>
    assert.equal(
      await chosen('a', [agent('a', false, false), ...failed.slice(1)], true),
      '--canary: node a is not ready, so its agent cannot be evaluated',
    ));

  it('leaves out a node that has gone since, and is refused where it was the only one', async () => {
    assert.deepEqual(await chosen('a,gone', failed, true), ['a']);
    assert.equal(await chosen('gone', failed, true), '--canary: there is no node gone with an agent for Linux');
    assert.equal(await chosen('a,gone', failed, false), '--canary: there is no node gone with an agent for Linux');
  });
});

describe('a canary of a number', () => {
  const agents = (...done: readonly string[]) =>
    ['a1', 'a2', 'a3', 'b1', 'b2'].map((name) => agent(name, done.includes(name), true, name.charAt(0)));

  it('takes the same nodes when it is resumed, from every zone', async () => {
    for (const done of [[], ['a1'], ['b1'], ['a1', 'b1']])
      assert.deepEqual(await chosen('2', agents(...done), true), ['a1', 'b1'], done.join());
    assert.deepEqual(await chosen('3', agents('a1'), true), ['a1', 'a2', 'b1']);
  });

  it('begins with those that the run chose before, also where one of them is still old and another agent was deleted', async () => {
    const found = (text: string, done: readonly string[], before: readonly string[]) =>
      chooseNodes(cluster, text, agents(...done), { isBegun: true, before });
    assert.deepEqual(await found('1', ['b2'], ['a1']), ['a1']);
    assert.deepEqual(await found('1', ['b1'], ['a1', 'b1']), ['b1']);
    assert.deepEqual(await found('2', ['b2'], ['a1']), ['a1', 'b2']);
  });

  it('begins with agents that joined, and fills up with other zones', async () =>
    assert.deepEqual(await chosen('2', agents('b2'), true), ['a1', 'b2']));
});

describe('a canary that was interrupted after the first of its nodes', function () {
  this.timeout(60_000);

  /** Once the first agent is new. */
  function atFirst(scenario: Scenario, act: () => void): void {
    const stop = scenario.cluster.store.listen(({ kind }) => {
      if (kind.plural !== K.Pod.plural || newOn(scenario).length === 0) return;
      stop();
      act();
    });
  }

  it('goes to its end where the others have left the cluster', async () => {
    const scenario = await installedSandbox({ nodes: 4 });
    const run = () => performIn(scenario, [applyStage], { canary: 'node-01,node-02' }, { profile: waved });
    atFirst(scenario, () => {
      scenario.cluster.faults.killed = true;
    });
    await run().catch(() => undefined);
    assert.deepEqual(newOn(scenario), ['node-01']);
    // Held until it is gone.
    setAgent(scenario, 'node-03', 'not-ready');
    scenario.clock.schedule(20_000, () => {
      removeNode(scenario, 'node-02');
      setAgent(scenario, 'node-03', 'ready');
    });
    const { exit, message } = await run();
    assert.deepEqual([exit, newOn(scenario)], ['stopped', ['node-01']]);
    assert.match(message ?? '', /^the canary runs: /);
  });

  const PROBED = ['--probe-network', '--probe-image', 'registry.netsvc.io/tools/busybox:1.37', '--probe-namespace', 'probe'];
  for (const flags of [
    ['--canary', '2'],
    ['--before-node', 'true', '--max-unavailable', '1', ...PROBED],
  ])
    it(`resumes with its saved plan: ${flags.slice(0, 2).join(' ')}`, async () => {
      const scenario = await installedSandbox({ nodes: 4, cli: false });
      await scenario.cluster.create(K.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'probe' } });
      const file = join(testFolder('canary-plan-'), 'plan.json');
      const ran = async (...argv: readonly string[]) => {
        const bench = sandboxCommand(scenario, waved);
        const exit = await bench.run(...argv, ...flags);
        return { exit, text: bench.err() + bench.out() };
      };
      const planned = await ran('plan', '--skip', 'cli', '--out', file);
      assert.equal(planned.exit, 0, planned.text);
      atFirst(scenario, () => {
        scenario.cluster.faults.killed = true;
      });
      await ran('run', '--skip', 'cli', '--yes', '--plan-file', file);
      assert.deepEqual(newOn(scenario), ['node-01']);
      const { exit, text } = await ran('run', '--skip', 'cli', '--yes', '--plan-file', file);
      const ends = flags[0] === '--canary' ? [5, ['node-01', 'node-02']] : [0, allNodes(scenario)];
      assert.deepEqual([exit, newOn(scenario)], ends, text);
    });
});

describe('a canary of a percentage', () => {
  it('is rounded up, and no node more', async () => {
    const all = Array.from({ length: 100 }, (_, at) => agent(`node-${at}`, false, true));
    assert.equal((await chosen('7%', all, false)).length, 7);
    assert.equal((await chosen('7%', all.slice(0, 99), false)).length, 7);
  });
});
