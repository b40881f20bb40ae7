import assert from 'node:assert/strict';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import type { Observer } from '../../src/kernel/event.ts';
import { K } from '../../src/kernel/kinds.ts';
import { nodeOf } from '../../src/sandbox/pods-of.ts';
import { object } from '../fixtures/facts.ts';
import { agentPods, newOn, restartAgent, setAgent, strategy, waved } from '../support/canary-sandbox.ts';
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
      if (exit === 'stopped') assert.match(outcome.message ?? '', /^1 agent restarted since it was started: node-02: /);
    });
});

describe('the soak of a canary', () => {
  it('tells at every look how much of it is over', async () => {
    const scenario = await installedSandbox({ nodes: 3 });
    const seen: number[] = [];
    const observe: Observer = (event) => {
      if (event.type === 'rollout') seen.push(...event.progress.flatMap(({ watched }) => (watched ? [Math.floor(watched.ms / 1000)] : [])));
    };
    const { exit } = await performIn(scenario, [applyStage], { canary: '1', soak: '10m' }, { profile: waved, observe });
    assert.deepEqual([exit, seen.slice(0, 3), seen.at(-1)], ['done', [0, 1, 2], 600]);
  });
});

describe('agents that are away for a while in the second soak', function () {
  this.timeout(120_000);
  const OUTAGES = {
    'are each counted by itself': { flags: {}, away: { 'node-01': [1, 21], 'node-02': [11, 36] }, exit: 'done', because: /^$/ },
    'are tolerated up to --max-failed': { flags: { 'max-failed': 1 }, away: { 'node-01': [1, 100] }, exit: 'done', because: /^$/ },
    'stop the run above it': {
      flags: { 'max-failed': 1 },
      away: { 'node-01': [1, 100], 'node-02': [11, 100] },
      exit: 'stopped',
      because: /^2 agents not ready any more for 30s: node-01: .*; node-02: /,
    },
  } as const;
  for (const [title, { flags, away, exit, because }] of Object.entries(OUTAGES))
    it(title, async () => {
      const { scenario, profile } = await groundOf('typha');
      scenario.cluster.nodes.add(2);
      await scenario.clock.sleep(60_000);
      const observe: Observer = (event) => {
        if (event.type !== 'action-started' || event.action.id !== 'soak-typha') return;
        for (const [node, [from, until]] of Object.entries(away)) {
          scenario.clock.schedule(from * 1000, () => setAgent(scenario, node, 'not-ready'));
          scenario.clock.schedule(until * 1000, () => setAgent(scenario, node, 'ready'));
        }
      };
      const outcome = await performIn(scenario, [applyStage], { canary: '1', soak: '5m', ...flags }, { profile, observe });
      assert.equal(outcome.exit, exit, outcome.message);
      assert.match(outcome.message ?? '', because);
    });
});

describe('the soak of a canary whose agent is deleted', () => {
  it('has a time limit for the one that follows it, however long the soak is', async () => {
    const scenario = await installedSandbox({ nodes: 3 });
    const { clock, cluster } = scenario;
    const begun = clock.now().getTime();
    clock.schedule(3_600_000, () => {
      // The sandbox derives names of pods from how many there are.
      cluster.store.insert(K.Pod, object('v1', 'Pod/web', { spec: { nodeName: 'node-02' } }));
      const pod = agentPods(scenario).find((one) => nodeOf(one) === 'node-01');
      cluster.store.delete(K.Pod, pod?.metadata.name ?? '', pod?.metadata.namespace);
      cluster.nodes.fault('node-01', 'not-ready');
    });
    const outcome = await performIn(scenario, [applyStage], { canary: '1', soak: '24h' }, { profile: waved });
    assert.deepEqual([outcome.exit, newOn(scenario), strategy(scenario)], ['timeout', ['node-01'], { type: 'OnDelete' }], outcome.message);
    assert.match(outcome.message ?? '', /^not complete after 600 s: .*node-01/);
    const tookMs = clock.now().getTime() - begun;
    assert.ok(tookMs >= 70 * 60_000 && tookMs < 72 * 60_000, `${tookMs} ms`);
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
      assert.match(outcome.message ?? '', /^the canary failed: 1 agent replaced 3 times while watched: node-01: kube-system\/netsvc-node-/);
      assert.match(outcome.steps.join('\n'), /see what deletes or evicts it: kubectl -n kube-system get events/);
      assert.deepEqual([newOn(scenario), strategy(scenario)], [['node-01'], { type: 'OnDelete' }]);
      assert.ok(clock.now().getTime() - begun < 30 * 60_000);
    });
});
