import assert from 'node:assert/strict';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { ProbeWatch } from '../../src/features/canary/index.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { localCommand } from '../../src/kernel/command.ts';
import type { EngineEvent } from '../../src/kernel/event.ts';
import { Fault } from '../../src/kernel/fault.ts';
import { History } from '../../src/kernel/history.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { newOn, strategy, waved } from '../support/canary-sandbox.ts';
import { type Flags, installedSandbox, performIn, sandboxPorts } from '../support/sandbox-ports.ts';

const BY = localCommand`./check.sh`;
const never = new AbortController().signal;

interface Probed extends ChainOutcome {
  readonly events: readonly EngineEvent[];
  readonly history: History;
}

/** A run beside a probe that says what `says` says, by the minutes since the first agent was new. */
async function probed(scenario: Scenario, flags: Flags, says: (minutes: number, runs: number) => string | undefined): Promise<Probed> {
  let [runs, began]: [number, number | undefined] = [0, undefined];
  const commands = {
    async run(name: string) {
      if (name !== 'probe') return { durationMs: 1 };
      runs += 1;
      await scenario.clock.sleep(20);
      const now = scenario.clock.now().getTime();
      if (newOn(scenario).length > 0) began ??= now;
      const because = says((now - (began ?? now)) / 60_000, runs);
      return { durationMs: 20 * runs, ...(because === undefined ? {} : { because }) };
    },
  };
  const ports = sandboxPorts(scenario, { commands });
  const probe = new ProbeWatch(ports);
  const events: EngineEvent[] = [];
  const history = new History(scenario.clock.now(), () => '');
  const observe = (event: EngineEvent) => {
    events.push(event);
    history.observe(event, scenario.clock.now());
  };
  await probe.first(BY, never);
  probe.watch(observe);
  const outcome = await performIn(
    scenario,
    [applyStage],
    { probe: './check.sh', ...flags },
    { profile: waved, ports, observe, sentinel: probe },
  ).finally(() => probe.end());
  return { ...outcome, events, history };
}

describe('a probe beside a run', function () {
  this.timeout(120_000);
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await installedSandbox({ nodes: 4 });
  });

  it('that passes changes nothing, and its times are in the history', async () => {
    const { exit, history } = await probed(scenario, { canary: '1', soak: '1m' }, () => undefined);
    const { probe } = history.told(scenario.clock.now());
    assert.equal(exit, 'done');
    assert.equal(newOn(scenario).length, 4);
    assert.ok(probe && probe.runs > 12, `${probe?.runs} runs in more than a minute`);
    assert.deepEqual([probe.failed, probe.failures, probe.longestMs], [0, [], 20 * probe.runs]);
  });

  it('that fails twice in a row in the soak stops: the canary has failed', async () => {
    const { exit, message, steps, history, events } = await probed(scenario, { canary: '1', soak: '30m' }, (minutes) =>
      minutes > 5 ? 'it ended with exit code 1: no answer' : undefined,
    );
    assert.deepEqual([exit, newOn(scenario), strategy(scenario)], ['stopped', ['node-01'], { type: 'OnDelete' }], message);
    assert.equal(message, 'the canary failed: the probe failed 2 times in a row: it ended with exit code 1: no answer');
    assert.deepEqual(
      events.flatMap((event) => (event.type === 'action-failed' ? [[event.message, event.interrupted]] : [])),
      [[message, undefined]],
    );
    assert.match(steps.join('\n'), /spec\.nodeName=node-01[\s\S]*the update strategy stays OnDelete/);
    assert.equal(history.told(scenario.clock.now()).probe?.failures.length, 2);
    assert.ok(
      history.told(scenario.clock.now()).rollouts.every(({ seconds }) => seconds < 400),
      'at once, not at the end of the soak',
    );
  });

  it('that fails once the agents are ready stops a canary without a soak, too', async () => {
    const { exit, message } = await probed(scenario, { canary: '1' }, (minutes) =>
      minutes > 0.01 ? 'it ended with exit code 1' : undefined,
    );
    assert.deepEqual([exit, newOn(scenario), strategy(scenario)], ['stopped', ['node-01'], { type: 'OnDelete' }]);
    assert.match(message ?? '', /^the canary failed: the probe failed 2 times in a row: it ended with exit code 1/);
  });

  it('that fails once is told, and the run goes on', async () => {
    const { exit, events } = await probed(scenario, { canary: '1', soak: '1m' }, (_, runs) => (runs === 7 ? 'it was ended' : undefined));
    assert.equal(exit, 'done');
    assert.deepEqual(
      events.flatMap((event) => (event.type === 'probe' && event.because !== undefined ? [event.because] : [])),
      ['it was ended'],
    );
  });

  it('that fails after the canary stops the rest, too: this program replaces the agents itself', async () => {
    scenario = await installedSandbox({ nodes: 4, readyMs: 30_000 });
    const { exit, message } = await probed(scenario, { canary: '1', soak: '1m' }, () =>
      newOn(scenario).length > 1 ? 'it was ended' : undefined,
    );
    await scenario.clock.sleep(600_000);
    assert.deepEqual([exit, newOn(scenario), strategy(scenario)], ['stopped', ['node-01', 'node-02'], { type: 'OnDelete' }], message);
  });

  it('that fails while an agent is not ready names the node that --after-node was not run for', async () => {
    scenario.cluster.nodes.fault('node-01', 'not-ready');
    const hooks = { 'before-node': 'drain {node}', 'after-node': 'uncordon {node}' };
    const { exit, message, steps } = await probed(scenario, hooks, (minutes) => (minutes > 1 ? 'no answer' : undefined));
    assert.deepEqual([exit, newOn(scenario)], ['stopped', ['node-01']], message);
    assert.match(message ?? '', /the probe failed 2 times in a row/);
    assert.match(steps.join('\n'), /--after-node was not run for node-01/);
  });

  it('that fails between two agents of the canary leaves the next one alone', async () => {
    scenario = await installedSandbox({ nodes: 4, readyMs: 30_000 });
    const { exit, message } = await probed(scenario, { canary: '3' }, () => (newOn(scenario).length > 0 ? 'it was ended' : undefined));
    assert.deepEqual([exit, newOn(scenario), strategy(scenario)], ['stopped', ['node-01'], { type: 'OnDelete' }], message);
  });

  it('that does not pass before the start is refused, and nothing is written', async () => {
    const writes = scenario.cluster.faults.writes;
    await assert.rejects(
      probed(scenario, { canary: '1' }, () => 'it ended with exit code 1'),
      (thrown) => thrown instanceof Fault && thrown.code === 'blocked' && /before the start.*exit code 1/.test(thrown.message),
    );
    assert.equal(scenario.cluster.faults.writes, writes);
  });
});
