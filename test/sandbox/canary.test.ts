import assert from 'node:assert/strict';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { ownStrategyOf, readOwnStrategies, withoutOwn } from '../../src/features/canary/index.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { nodeOf } from '../../src/sandbox/pods-of.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import {
  AGENTS,
  agentPods,
  agents,
  allNodes,
  newOn,
  restartAgent,
  setVariable,
  strategy,
  waved,
  withVariable,
} from '../support/canary-sandbox.ts';
import { groundOf } from '../support/incident-grounds.ts';
import { type Flags, installedSandbox, performIn, sandboxPorts } from '../support/sandbox-ports.ts';

const NODES = 6;
const ROLLING = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };

const run = (scenario: Scenario, flags: Flags = {}, profile: Profile = waved): Promise<ChainOutcome> =>
  performIn(scenario, [applyStage], flags, { profile });

async function isOurs(scenario: Scenario): Promise<boolean> {
  const { records } = sandboxPorts(scenario);
  return (
    ownStrategyOf(agents(scenario), await readOwnStrategies(records, await records.load(), scenario, [agents(scenario)])) !== undefined
  );
}

describe('a canary on the manifest path', function () {
  this.timeout(180_000);
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await installedSandbox({ nodes: NODES });
  });

  it('upgrades the chosen node alone, and stops for the user', async () => {
    const { exit, message, steps } = await run(scenario, { canary: '1' });
    assert.deepEqual([exit, newOn(scenario), strategy(scenario)], ['stopped', ['node-01'], { type: 'OnDelete' }]);
    assert.match(message ?? '', /^the canary runs: 1 of 6 agents has v\S+ and is ready \(node-01\)$/);
    assert.match(steps.join('\n'), /continue, with all other agents: kubectl netsvc-upgrade commit/);
    const again = await run(scenario, { canary: '1' });
    assert.deepEqual([again.exit, again.writes, newOn(scenario)], ['stopped', 0, ['node-01']], 'the same command changes nothing');
  });

  it('goes on without it, and the strategy that the merge gave comes back', async () => {
    await run(scenario, { canary: 'node-04,node-02' });
    assert.deepEqual(newOn(scenario), ['node-02', 'node-04']);
    const { exit, message } = await run(scenario);
    assert.deepEqual([exit, message, strategy(scenario), newOn(scenario)], ['done', undefined, ROLLING, allNodes(scenario)]);
    assert.equal(agents(scenario).metadata.annotations?.['netsvc-upgrade/strategy'], undefined);
    assert.equal((await run(scenario)).writes, 0);
  });

  it('is planned as the restart of its nodes alone, which are ready workers that take pods, from every zone', async () => {
    const { store } = scenario.cluster;
    const taints = [{ key: 'dedicated', value: 'gpu', effect: 'NoSchedule' }];
    for (const [name, labels, spec] of [
      ['node-01', { 'node-role.kubernetes.io/control-plane': '' }, {}],
      ['node-02', { 'topology.kubernetes.io/zone': 'a' }, { taints }],
      ['node-03', { 'topology.kubernetes.io/zone': 'a' }, { taints: [{ key: 'old', effect: 'PreferNoSchedule' }] }],
      ['node-04', { 'topology.kubernetes.io/zone': 'b' }, { unschedulable: true }],
      ['node-05', { 'topology.kubernetes.io/zone': 'b' }, {}],
      ['node-06', { 'topology.kubernetes.io/zone': 'b' }, {}],
    ] as const) {
      const node = store.get(K.Node, name) ?? assert.fail(name);
      const metadata = { ...node.metadata, labels: { ...node.metadata.labels, ...labels } };
      store.update(K.Node, { ...node, metadata, spec: { ...(node.spec as object), ...spec } } as KubeObject);
    }
    const planned = async (flags: Flags) => {
      const { plans } = await run(scenario, { 'dry-run': 'server', ...flags });
      return plans.flatMap(({ objects }) => objects).find(({ ref }) => ref.kind === 'DaemonSet') ?? assert.fail();
    };
    const canary = await planned({ canary: '2' });
    assert.deepEqual([canary.restarts, (await planned({ canary: '2', soak: '5m' })).restarts], [2, NODES]);
    assert.deepEqual(
      canary.hidden.filter((path) => path.includes('updateStrategy')),
      [],
      'the strategy comes back: the target does have it',
    );
    await run(scenario, { canary: '2' });
    assert.deepEqual(newOn(scenario), ['node-03', 'node-05']);
  });

  it('goes on by itself after the soak', async () => {
    const began = scenario.clock.now().getTime();
    let wait: number | undefined;
    scenario.cluster.store.listen(({ kind }) => {
      if (kind.plural === K.Pod.plural && newOn(scenario).length > 2) wait ??= scenario.clock.now().getTime() - began;
    });
    const { exit, message } = await run(scenario, { canary: '30%', soak: '30m' });
    assert.deepEqual([exit, message, strategy(scenario), newOn(scenario)], ['done', undefined, ROLLING, allNodes(scenario)]);
    assert.ok((wait ?? 0) >= 30 * 60_000, `a third agent after ${wait} ms`);
    assert.ok((wait ?? 0) < 31 * 60_000, `a third agent after ${wait} ms`);
  });

  it('is done before a pace, which then applies to the rest', async () => {
    const { exit, message } = await run(scenario, { canary: '1', soak: '1m', 'max-unavailable': '3' });
    assert.deepEqual([exit, message, strategy(scenario), newOn(scenario)], ['done', undefined, ROLLING, allNodes(scenario)]);
  });

  for (const fault of ['crash-loop', 'image-pull', 'not-ready'] as const)
    it(`that fails stops, and no further agent is touched: ${fault}`, async () => {
      scenario.cluster.nodes.fault('node-01', fault);
      const { exit, message, steps } = await run(scenario, { canary: '2', soak: '5m', timeout: '3m' });
      assert.deepEqual(
        [exit, newOn(scenario), strategy(scenario)],
        [fault === 'not-ready' ? 'timeout' : 'stopped', ['node-01'], { type: 'OnDelete' }],
        message,
      );
      assert.match(steps.join('\n'), /the update strategy stays OnDelete/);
      if (fault !== 'not-ready')
        assert.match(`${message}\n${steps.join('\n')}`, /^the canary failed: [\s\S]*the update strategy stays OnDelete/);
      await scenario.clock.sleep(3_600_000);
      assert.deepEqual(newOn(scenario), ['node-01']);
      const later = await run(scenario, { timeout: '2m' });
      assert.ok(['stopped', 'timeout'].includes(later.exit), later.exit);
      assert.deepEqual([newOn(scenario), strategy(scenario)], [['node-01'], { type: 'OnDelete' }], 'going on is refused while it fails');
      assert.doesNotMatch(later.message ?? '', /canary/, 'what continues is asked for no canary');
    });

  it('fails in the soak when its agent restarts, or its node goes down', async () => {
    for (const trouble of ['restart', 'down'] as const) {
      const one = await installedSandbox({ nodes: 3 });
      one.clock.schedule(10 * 60_000, () => {
        if (trouble === 'down') one.cluster.nodes.fault('node-01', 'down');
        else restartAgent(one);
      });
      const { exit, message, steps } = await run(one, { canary: '1', soak: '30m' });
      assert.deepEqual([exit, newOn(one)], ['stopped', ['node-01']], `${trouble}: ${message}`);
      assert.match(steps.join('\n'), /agents that somebody deletes, get the release that the run installs/);
      assert.match(message ?? '', trouble === 'down' ? /no longer|not ready any more|failed/ : /restarted since it was started: node-01/);
    }
  });

  it('is replaced again where somebody changed the template of the held agents, with the same image', async () => {
    await run(scenario, { canary: 'node-02' });
    await setVariable(scenario, '1');
    assert.deepEqual(withVariable(scenario), []);
    const { exit } = await run(scenario, { canary: 'node-02' });
    assert.deepEqual([exit, withVariable(scenario), newOn(scenario)], ['stopped', ['node-02'], ['node-02']]);
    assert.equal((await run(scenario)).exit, 'done');
    assert.deepEqual(withVariable(scenario), allNodes(scenario));
  });

  it('is the same nodes again, also where one is cordoned by now', async () => {
    await run(scenario, { canary: '1' });
    const { store } = scenario.cluster;
    const node = store.get(K.Node, 'node-01') ?? assert.fail('there is no node-01');
    store.update(K.Node, { ...node, spec: { ...(node.spec as object), unschedulable: true } });
    const { exit } = await run(scenario, { canary: '1' });
    assert.deepEqual([exit, newOn(scenario)], ['stopped', ['node-01']]);
  });

  it('waits in the soak for the agent of a node that joins', async () => {
    scenario.clock.schedule(10 * 60_000, () => {
      scenario.cluster.nodes.add(1);
      scenario.cluster.nodes.fault('node-07', 'not-ready');
    });
    const began = scenario.clock.now().getTime();
    const { exit } = await run(scenario, { canary: '1', soak: '30m', timeout: '15m' });
    assert.deepEqual([exit, newOn(scenario), strategy(scenario)], ['timeout', ['node-01', 'node-07'], { type: 'OnDelete' }]);
    assert.ok(scenario.clock.now().getTime() - began < 26 * 60_000, 'as long as any agent may take');
  });

  it('is watched for the whole time again where somebody deletes its agent', async () => {
    const began = scenario.clock.now().getTime();
    let third: number | undefined;
    scenario.cluster.store.listen(({ kind }) => {
      if (kind.plural === K.Pod.plural && newOn(scenario).length > 1) third ??= scenario.clock.now().getTime() - began;
    });
    scenario.clock.schedule(29 * 60_000, () => {
      const pod = agentPods(scenario).find((one) => nodeOf(one) === 'node-01');
      scenario.cluster.store.delete(K.Pod, pod?.metadata.name ?? '', AGENTS.namespace);
    });
    const { exit, message } = await run(scenario, { canary: '1', soak: '30m' });
    assert.deepEqual([exit, message, newOn(scenario)], ['done', undefined, allNodes(scenario)]);
    assert.ok((third ?? 0) >= 59 * 60_000, `another agent after ${third} ms`);
  });

  it('that has a pace afterwards leaves its user’s strategy known, wherever it is killed', async () => {
    const flags = { canary: '1', soak: '1m', 'max-unavailable': '3' };
    const whole = await installedSandbox({ nodes: 3 });
    await run(whole, flags);
    for (let at = 1; at <= whole.cluster.faults.writes; at += 1)
      for (const kill of ['before', 'after'] as const) {
        const one = await installedSandbox({ nodes: 3 });
        one.cluster.faults.plan({ at, kill });
        await run(one, flags).catch(() => undefined);
        one.cluster.faults.plan();
        const { records } = sandboxPorts(one);
        const own = await readOwnStrategies(records, await records.load(), one, [agents(one)]);
        const plain = withoutOwn(agents(one), own, agents(one));
        assert.deepEqual((plain.spec as { updateStrategy?: unknown }).updateStrategy, ROLLING, `killed ${kill} write ${at}`);
      }
  });

  it('shows nodes that join apart, and judges them as well', async () => {
    await run(scenario, { canary: '1' });
    scenario.cluster.nodes.add(1);
    await scenario.clock.sleep(60_000);
    const { message } = await run(scenario, { canary: 'node-01' });
    assert.match(message ?? '', /node-07 has it too, though not chosen/);
    scenario.cluster.nodes.add(1);
    scenario.cluster.nodes.fault('node-08', 'crash-loop');
    await scenario.clock.sleep(60_000);
    const { exit, message: failed } = await run(scenario, { canary: 'node-01' });
    assert.deepEqual([exit, strategy(scenario)], ['stopped', { type: 'OnDelete' }]);
    assert.match(failed ?? '', /^the canary failed: .*node-08/);
  });

  it('gives no further node up where somebody changes the strategy meanwhile', async () => {
    await run(scenario, { canary: '1' });
    const patch = [{ op: 'replace', path: '/spec/updateStrategy', value: ROLLING }] as const;
    await scenario.cluster.patch(K.DaemonSet, { apiVersion: 'apps/v1', kind: 'DaemonSet', ...AGENTS }, patch, 'kubectl-edit');
    assert.equal(await isOurs(scenario), false);
    const { exit, message } = await run(scenario);
    assert.deepEqual([exit, message, strategy(scenario)], ['done', undefined, ROLLING]);
  });
});

describe('what --canary refuses before anything is written', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['0', /names no nodes/],
    ['100%', /is every node/],
    ['6', /is every node with an agent/],
    ['7', /is every node with an agent/],
    ['node-1', /there is no node node-1 /],
    ['node-01,nodes-02', /there is no node nodes-02 /],
    ['zone=nowhere', /selects no node/],
    ['kubernetes.io/os=linux', /is every node with an agent/],
    ['kubernetes.io/os!=windows', /is every node with an agent/],
    [',', /names no nodes/],
    ['', /^--canary is empty: it names no nodes$/],
    ['5', /^--canary: 5 nodes of 6 wanted, with only 4 ready workers that take pods$/],
    ['-1', /names no nodes/],
  ];
  for (const [text, because] of cases)
    it(`--canary ${text}`, async () => {
      const scenario = await installedSandbox({ nodes: NODES });
      if (text === '5') for (const node of ['node-01', 'node-02']) scenario.cluster.nodes.fault(node, 'down');
      const { exit, message, writes } = await run(scenario, { canary: text });
      assert.deepEqual([exit, writes], ['usage', 0], message);
      assert.match(message ?? '', because);
    });

  it('a node that is not ready, and a cluster of one node', async () => {
    const scenario = await installedSandbox({ nodes: 3 });
    scenario.cluster.nodes.fault('node-02', 'down');
    assert.match((await run(scenario, { canary: 'node-02' })).message ?? '', /node node-02 is not ready/);
    const alone = await run(await installedSandbox({ nodes: 1 }), { canary: '1' });
    assert.deepEqual([alone.exit, alone.writes], ['usage', 0]);
  });

  it('a node with Windows, and only those', async () => {
    const scenario = await installedSandbox({ nodes: 3 });
    const { store } = scenario.cluster;
    const node = store.get(K.Node, 'node-03') ?? assert.fail('there is no node-03');
    const labels = { ...node.metadata.labels, 'kubernetes.io/os': 'windows' };
    store.update(K.Node, { ...node, metadata: { ...node.metadata, labels } });
    for (const [canary, because] of [
      ['node-03', /^--canary: node node-03 runs Windows, where this DaemonSet has no agent$/],
      ['node-04', /there is no node node-04 with an agent for Linux/],
      ['kubernetes.io/os=windows', /selects no node with an agent/],
      ['2', /is every node with an agent/],
    ] as const) {
      const { exit, message, writes, steps } = await run(scenario, { canary });
      assert.deepEqual([exit, writes], ['usage', 0], canary);
      assert.match(message ?? '', because);
      assert.equal(steps.join().includes('did you mean'), canary === 'node-04', canary);
    }
  });

  it('an installation by the operator', async () => {
    const { scenario, profile } = await groundOf('operator');
    const { exit, message, writes } = await run(scenario, { canary: '1' }, profile);
    assert.deepEqual([exit, writes], ['usage', 0]);
    assert.match(message ?? '', /^--canary is not possible on an installation by operator/);
  });
});
