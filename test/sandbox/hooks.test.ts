import assert from 'node:assert/strict';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { PlannedStage } from '../../src/kernel/plan.ts';
import { ApiFailure } from '../../src/kernel/ports.ts';
import { nodeOf } from '../../src/sandbox/pods-of.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import {
  AGENTS,
  agentPods,
  agents,
  allNodes,
  clockSetForward,
  newOn,
  removeNode,
  setAgent,
  setVariable,
  strategy,
  withVariable,
} from '../support/canary-sandbox.ts';
import { HOOKS, hooked } from '../support/hooked.ts';
import { groundOf } from '../support/incident-grounds.ts';
import { type Flags, installedSandbox, performIn } from '../support/sandbox-ports.ts';

const ROLLING = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };
const HELD = { type: 'OnDelete' };

function taint({ cluster: { store } }: Scenario, name: string): void {
  const node = store.get(K.Node, name) ?? assert.fail(name);
  store.update(K.Node, { ...node, spec: { ...(node.spec as object), taints: [{ key: 'dedicated', effect: 'NoSchedule' }] } } as KubeObject);
}

const titleIn = (plans: readonly PlannedStage[]) =>
  plans.flatMap(({ actions }) => actions).find(({ effect }) => effect.type === 'replace-agents')?.title;

describe('commands around each node', function () {
  this.timeout(180_000);
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await installedSandbox({ nodes: 3 });
  });

  it('are run before its agent is replaced, and once the new one is ready, one node after another', async () => {
    const { exit, message, told, plans } = await hooked(scenario);
    assert.equal(titleIn(plans), 'replace the agents, 1 node at a time, and wait for each');
    assert.deepEqual([exit, message, strategy(scenario), newOn(scenario)], ['done', undefined, ROLLING, allNodes(scenario)]);
    assert.deepEqual(
      told,
      ['node-01', 'node-02', 'node-03'].flatMap((node, at) => [`before-node ${node}: ${at} new`, `after-node ${node}: ${at + 1} new`]),
    );
    const again = await hooked(scenario);
    assert.deepEqual([again.exit, again.writes, again.told], ['done', 0, []]);
  });

  it('replace no agent of another DaemonSet that selects the same labels', async () => {
    const { store } = scenario.cluster;
    const { uid: _, resourceVersion: _v, ...metadata } = agents(scenario).metadata;
    store.insert(K.DaemonSet, { ...agents(scenario), metadata: { ...metadata, name: 'another' } } as KubeObject);
    const others = () => store.list(K.Pod).filter(({ metadata: { name } }) => name.startsWith('another-'));
    await scenario.clock.sleep(60_000);
    const before = others();
    const { exit, message, told } = await hooked(scenario, { ...HOOKS, variant: 'netsvc' });
    assert.deepEqual([exit, message, newOn(scenario)], ['done', undefined, allNodes(scenario)]);
    assert.deepEqual([told.length, before.length], [6, 3]);
    assert.deepEqual(
      others().map(({ metadata: { uid } }) => uid),
      before.map(({ metadata: { uid } }) => uid),
    );
  });

  it('are run for as many nodes at a time as may be away', async () => {
    const { exit, told } = await hooked(scenario, { ...HOOKS, 'max-unavailable': '2' });
    assert.deepEqual([exit, strategy(scenario)], ['done', ROLLING]);
    assert.deepEqual(told.slice(0, 5), [
      'before-node node-01: 0 new',
      'before-node node-02: 1 new',
      'after-node node-01: 2 new',
      'after-node node-02: 2 new',
      'before-node node-03: 2 new',
    ]);
  });

  it('are run for the canary, then for the rest', async () => {
    const { exit, told } = await hooked(scenario, { ...HOOKS, canary: 'node-02' });
    assert.deepEqual([exit, told, newOn(scenario)], ['stopped', ['before-node node-02: 0 new', 'after-node node-02: 1 new'], ['node-02']]);
    const rest = await hooked(scenario);
    assert.equal(titleIn(rest.plans), 'replace the other agents, 1 node at a time, and wait for each');
    assert.deepEqual([rest.exit, rest.told.length, strategy(scenario), newOn(scenario)], ['done', 4, ROLLING, allNodes(scenario)]);
    assert.ok(rest.told.every((one) => !one.includes('node-02')));
  });

  it('that fail before a node stop there; its agent is left alone', async () => {
    const { exit, message, steps, told } = await hooked(scenario, HOOKS, (call) =>
      call === 'before-node node-02' ? 'exit code 1' : undefined,
    );
    assert.deepEqual([exit, message], ['stopped', '--before-node failed for node-02: exit code 1']);
    assert.match(
      steps.join('\n'),
      /the agent of node-02 was not replaced: undo there what --before-node did \(a number in --canary takes no node that is cordoned\)\n[\s\S]*the update strategy stays OnDelete[\s\S]*rollback runs --before-node for each of its nodes, too\. To go back without it, give --before-node=true/,
    );
    await scenario.clock.sleep(600_000);
    assert.deepEqual([newOn(scenario), strategy(scenario), told.length], [['node-01'], HELD, 3]);
    const resumed = await hooked(scenario);
    assert.deepEqual([resumed.exit, resumed.told.length, newOn(scenario)], ['done', 4, allNodes(scenario)]);
  });

  it('that fail before the second of two nodes let the first one come to its end', async () => {
    const flags = { ...HOOKS, 'max-unavailable': '2' };
    const { exit, told } = await hooked(scenario, flags, (call) => (call === 'before-node node-02' ? 'exit code 1' : undefined));
    assert.deepEqual([exit, newOn(scenario), told.at(-1)], ['stopped', ['node-01'], 'after-node node-01: 1 new']);
  });

  it('that take their time: an agent that fails meanwhile keeps the rest of its group from being replaced', async () => {
    scenario.cluster.nodes.add(2);
    await scenario.clock.sleep(60_000);
    scenario.cluster.nodes.fault('node-01', 'crash-loop');
    const { exit, message, steps, told } = await hooked(scenario, { ...HOOKS, 'max-unavailable': '5' }, undefined, { takesMs: 120_000 });
    assert.deepEqual([exit, newOn(scenario), strategy(scenario)], ['stopped', ['node-01'], HELD]);
    assert.deepEqual(told, ['before-node node-01: 0 new', 'before-node node-02: 1 new']);
    assert.match(message ?? '', /^1 pod failed, .*node-01/);
    assert.match(
      steps.join('\n'),
      /--before-node was run for node-02, whose agent this run did not replace: .*; --after-node was not run for node-01: /,
    );
  });

  it('that take their time: what is away by then counts, and a node that was prepared waits', async () => {
    const { exit, message, told } = await hooked(scenario, HOOKS, (call) => {
      if (call === 'before-node node-01') setAgent(scenario, 'node-03', 'not-ready');
      return undefined;
    });
    assert.deepEqual([exit, message, strategy(scenario), newOn(scenario)], ['done', undefined, ROLLING, allNodes(scenario)]);
    assert.deepEqual(told, [
      'before-node node-01: 0 new',
      'before-node node-03: 0 new',
      'after-node node-03: 1 new',
      'after-node node-01: 2 new',
      'before-node node-02: 2 new',
      'after-node node-02: 3 new',
    ]);
  });

  it('that take their time: what comes after a node does not wait for the others of its group', async () => {
    const { exit, told } = await hooked(scenario, { ...HOOKS, 'max-unavailable': '3' }, undefined, { takesMs: 120_000 });
    assert.equal(exit, 'done');
    assert.deepEqual(told.slice(0, 3), ['before-node node-01: 0 new', 'before-node node-02: 1 new', 'after-node node-01: 2 new']);
  });

  it('are run for agents of the same image as well, where their template was changed meanwhile', async () => {
    const stopped = await hooked(scenario, HOOKS, (call) => (call === 'before-node node-03' ? 'exit code 1' : undefined));
    assert.deepEqual([stopped.exit, newOn(scenario)], ['stopped', ['node-01', 'node-02']]);
    await setVariable(scenario, '1');
    const { exit, message, told } = await hooked(scenario);
    assert.deepEqual([exit, message, strategy(scenario)], ['done', undefined, ROLLING]);
    assert.deepEqual([withVariable(scenario), newOn(scenario)], [allNodes(scenario), allNodes(scenario)]);
    assert.deepEqual(
      told.map((one) => one.replace(/:.*/, '')),
      ['node-01', 'node-02', 'node-03'].flatMap((node) => [`before-node ${node}`, `after-node ${node}`]),
    );
  });

  it('begin with agents that are not ready: they are away already, and count', async () => {
    scenario.cluster.nodes.add(2);
    await scenario.clock.sleep(60_000);
    setAgent(scenario, 'node-04', 'not-ready');
    const { exit, message, told } = await hooked(scenario, { ...HOOKS, 'max-unavailable': '2' });
    assert.deepEqual([exit, message], ['done', undefined]);
    assert.deepEqual(told.slice(0, 3), ['before-node node-04: 0 new', 'before-node node-01: 1 new', 'after-node node-04: 2 new']);
  });

  const PROBE = { 'probe-network': true, 'probe-image': 'registry.netsvc.io/tools/busybox:1.37', 'probe-namespace': 'probe' };
  for (const [what, change, ends] of [
    ['lost', (one: Scenario) => one.cluster.nodes.fault('node-01', 'down'), 'timeout'],
    ['tainted', (one: Scenario) => taint(one, 'node-01'), 'done'],
    [
      'tainted, as all are',
      (one: Scenario) => {
        for (const name of allNodes(one)) taint(one, name);
      },
      'done',
    ],
  ] as const)
    it(`begin with a node that takes pods where the first one probes the network: node-01 is ${what}`, async () => {
      await scenario.cluster.create(K.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'probe' } });
      change(scenario);
      await scenario.clock.sleep(60_000);
      const { exit, message, told } = await hooked(scenario, { ...HOOKS, ...PROBE, timeout: '5m' });
      assert.deepEqual([exit, newOn(scenario)], [ends, allNodes(scenario)], message);
      assert.equal(told[0], `before-node ${what === 'tainted, as all are' ? 'node-01' : 'node-02'}: 0 new`);
    });

  for (const others of ['take none', 'take pods'])
    it(`follow the probe where the first agent is new already and was not probed: other nodes ${others}`, async () => {
      await scenario.cluster.create(K.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'probe' } });
      if (others === 'take none') for (const name of ['node-02', 'node-03']) taint(scenario, name);
      await scenario.clock.sleep(60_000);
      const stopped = await hooked(scenario, { ...HOOKS, ...PROBE }, (call) => (call === 'after-node node-01' ? 'exit code 1' : undefined));
      assert.deepEqual([stopped.exit, newOn(scenario), stopped.told.length], ['stopped', ['node-01'], 2], stopped.message);
      const { exit, message, told } = await hooked(scenario, { ...HOOKS, ...PROBE });
      assert.deepEqual([exit, newOn(scenario)], ['done', allNodes(scenario)], message);
      assert.deepEqual(told.slice(0, 2), ['probe', 'before-node node-02: 1 new']);
    });

  it('begin with another node where the one that was to be probed disappears before its turn', async () => {
    await scenario.cluster.create(K.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'probe' } });
    await scenario.clock.sleep(60_000);
    scenario.cluster.store.listen(({ kind }) => {
      const isHeld = kind.plural === K.DaemonSet.plural && (strategy(scenario) as { readonly type: string }).type === HELD.type;
      if (isHeld && allNodes(scenario).includes('node-01')) removeNode(scenario, 'node-01');
    });
    const began = scenario.clock.now().getTime();
    const { exit, message, told } = await hooked(scenario, { ...HOOKS, ...PROBE });
    assert.deepEqual([exit, newOn(scenario)], ['done', ['node-02', 'node-03']], message);
    assert.equal(told[0], 'before-node node-02: 0 new');
    assert.ok(told.includes('probe'));
    assert.ok(scenario.clock.now().getTime() - began < 300_000);
  });

  it('wait for a moment where as many agents are away as may be, then say so', async () => {
    setAgent(scenario, 'node-03', 'not-ready');
    const flags = { ...HOOKS, canary: 'node-01', timeout: '20m' };
    const begun = scenario.clock.now().getTime();
    const { exit, message, steps, told } = await hooked(scenario, flags);
    assert.deepEqual([exit, told, newOn(scenario), strategy(scenario)], ['stopped', [], [], HELD]);
    assert.equal(message, 'the agent of node-03 is not ready, and at most 1 may be away at a time');
    assert.match(steps.join('\n'), /describe pod netsvc-node-[\s\S]*run the same command again with --max-unavailable=2/);
    assert.ok(scenario.clock.now().getTime() - begun < 300_000, 'not the whole time limit');
    // A clock that is set meanwhile changes nothing.
    scenario.clock.schedule(20_000, () => setAgent(scenario, 'node-03', 'ready'));
    const later = await hooked(scenario, flags, undefined, { ports: { clock: clockSetForward(scenario, 15_000) } });
    assert.deepEqual([later.exit, later.told.length, newOn(scenario)], ['stopped', 2, ['node-01']]);
  });

  it('come with no surge: the plan says so, one agent is away at a time, and the user’s strategy comes back', async () => {
    const surge = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
    const patch = [{ op: 'replace', path: '/spec/updateStrategy', value: surge }] as const;
    await scenario.cluster.patch(K.DaemonSet, { apiVersion: 'apps/v1', kind: 'DaemonSet', ...AGENTS }, patch, 'kubectl-edit');
    const { exit, plans, message, told } = await hooked(scenario);
    assert.match(JSON.stringify(plans), /without maxSurge meanwhile/);
    assert.deepEqual([exit, message, strategy(scenario), newOn(scenario)], ['done', undefined, surge, allNodes(scenario)]);
    assert.deepEqual(told.slice(0, 2), ['before-node node-01: 0 new', 'after-node node-01: 1 new']);
  });

  for (const flags of [HOOKS, { probe: './look.sh' }] satisfies Flags[])
    it(`leave as much time between two nodes as minReadySeconds says: --${Object.keys(flags)}`, async () => {
      const patch = [{ op: 'add', path: '/spec/minReadySeconds', value: 90 }] as const;
      await scenario.cluster.patch(K.DaemonSet, { apiVersion: 'apps/v1', kind: 'DaemonSet', ...AGENTS }, patch, 'kubectl-edit');
      const replaced: number[] = [];
      scenario.cluster.store.listen(() => {
        if (newOn(scenario).length > replaced.length) replaced.push(scenario.clock.now().getTime());
      });
      const { exit, message } = await hooked(scenario, flags);
      assert.deepEqual([exit, message, newOn(scenario)], ['done', undefined, allNodes(scenario)]);
      const gaps = replaced.slice(1).map((at, before) => at - (replaced[before] ?? 0));
      assert.ok(gaps.length === 2 && gaps.every((ms) => ms > 90_000 && ms < 120_000), gaps.join(', '));
    });

  it('that fail after a node stop before the next', async () => {
    const fails = (call: string) => (call === 'after-node node-01' ? 'exit code 1' : undefined);
    const { exit, message, steps, told } = await hooked(scenario, HOOKS, fails);
    assert.deepEqual([exit, message], ['stopped', '--after-node failed for node-01: exit code 1']);
    assert.deepEqual([newOn(scenario), strategy(scenario), told.length], [['node-01'], HELD, 2]);
    assert.match(steps.join('\n'), /^do on node-01 yourself what --after-node does: a resumed run does not run it there again$/m);
    const resumed = await hooked(scenario, HOOKS, fails);
    assert.deepEqual([resumed.exit, resumed.told.filter((one) => one.includes('node-01'))], ['done', []]);
  });

  it('that are left out after an agent fails are named', async () => {
    scenario.cluster.nodes.fault('node-01', 'crash-loop');
    const { exit, message, steps, told } = await hooked(scenario);
    assert.deepEqual([exit, newOn(scenario), strategy(scenario), told], ['stopped', ['node-01'], HELD, ['before-node node-01: 0 new']]);
    assert.match(message ?? '', /^1 pod failed, /, 'nobody asked for a canary');
    assert.match(steps.join('\n'), /--after-node was not run for node-01: do there yourself what it does/);
  });

  it('are planned again where somebody changes the strategy meanwhile', async () => {
    let changed = false;
    const { exit, message, warned, record } = await hooked(scenario, HOOKS, (call) => {
      if (call === 'before-node node-02' && !changed) {
        changed = true;
        scenario.cluster.store.update(K.DaemonSet, {
          ...agents(scenario),
          spec: { ...(agents(scenario).spec as object), updateStrategy: ROLLING },
        });
      }
      return undefined;
    });
    assert.deepEqual([exit, message, newOn(scenario), strategy(scenario)], ['done', undefined, allNodes(scenario), ROLLING]);
    assert.deepEqual(warned, [
      'DaemonSet kube-system/netsvc-node has another update strategy by now; --before-node was run for node-02, whose agent this run did not replace: undo there what it did',
    ]);
    // The DaemonSet has replaced it: no later round comes to the node.
    assert.deepEqual(record?.owed, [
      '--before-node was run for node-02, whose agent this run did not replace: undo there what it did, unless this run has come to it since',
    ]);
  });

  for (const because of [undefined, 'exit code 1'])
    it(`leave nodes alone that disappear, and judge those that join: ${because ?? 'exit code 0'}`, async () => {
      const leave = () => {
        scenario.cluster.nodes.add(1);
        removeNode(scenario, 'node-02');
      };
      const says = (call: string) => {
        if (call === 'after-node node-01') scenario.clock.schedule(30_000, leave);
        return call === 'before-node node-02' ? because : undefined;
      };
      const { exit, message } = await hooked(scenario, HOOKS, says, { takesMs: 60_000 });
      assert.deepEqual([exit, message, newOn(scenario), strategy(scenario)], ['done', undefined, allNodes(scenario), ROLLING]);
    });

  it('do not wait for the first node where it disappears before its new agent is ready', async () => {
    const began = scenario.clock.now().getTime();
    const says = (call: string) => {
      if (call === 'before-node node-01') scenario.clock.schedule(1_000, () => removeNode(scenario, 'node-01'));
      return undefined;
    };
    const { exit, message } = await hooked(scenario, HOOKS, says);
    assert.deepEqual([exit, message, newOn(scenario), strategy(scenario)], ['done', undefined, ['node-02', 'node-03'], ROLLING]);
    assert.ok(scenario.clock.now().getTime() - began < 300_000);
  });

  it('are run to their end where the answer to a deleted agent is lost', async () => {
    const { cluster } = scenario;
    const { remove } = cluster;
    let lost = 0;
    const losing = async (...of: Parameters<typeof remove>) => {
      await remove(...of);
      if (of[0] === K.Pod && lost++ === 0) throw new ApiFailure(0, '', 'socket hang up');
    };
    const { exit, message, told } = await hooked(scenario, HOOKS, undefined, { ports: { cluster: { ...cluster, remove: losing } } });
    assert.deepEqual([exit, message, newOn(scenario)], ['done', undefined, allNodes(scenario)]);
    assert.equal(told.length, 6);
  });

  it('are not run for a node that disappears, or gets its new agent, while they are at work for another of its group', async () => {
    scenario.cluster.nodes.add(1);
    await scenario.clock.sleep(60_000);
    const { exit, message, told } = await hooked(scenario, { ...HOOKS, 'max-unavailable': '3' }, (call) => {
      if (call !== 'before-node node-01') return undefined;
      removeNode(scenario, 'node-02');
      const [pod] = agentPods(scenario).filter((one) => nodeOf(one) === 'node-03');
      scenario.cluster.store.delete(K.Pod, pod?.metadata.name ?? '', AGENTS.namespace);
      return undefined;
    });
    assert.deepEqual([exit, message, newOn(scenario)], ['done', undefined, ['node-01', 'node-03', 'node-04']]);
    assert.deepEqual(
      told.filter((one) => one.startsWith('before-node')).map((one) => one.replace(/:.*/, '')),
      ['before-node node-01', 'before-node node-04'],
    );
  });

  it('are counted by the agents that are to be replaced, and have ten minutes each, or what --timeout says', async () => {
    const { shown, limits, counts } = await hooked(scenario);
    const named = shown.filter((one) => one.includes('--'));
    assert.deepEqual(counts.slice(0, 4), ['0/3', '1/3', '2/3', '3/3']);
    assert.deepEqual(named.slice(0, 3), ['0/3 --before-node of node-01', '1/3 --after-node of node-01', '1/3 --before-node of node-02']);
    assert.deepEqual(new Set(limits), new Set([600_000]));
    const canary = await hooked(await installedSandbox({ nodes: 4 }), { ...HOOKS, canary: '2' });
    assert.deepEqual(canary.counts, ['0/2', '1/2', '2/2']);
    const other = await installedSandbox({ nodes: 2 });
    assert.deepEqual(new Set((await hooked(other, { ...HOOKS, timeout: '20m' })).limits), new Set([1_200_000]));
  });

  it('are refused where an operator replaces the agents, and where the user does', async () => {
    for (const path of ['operator', 'chart'] as const) {
      const { scenario: operated, profile } = await groundOf(path);
      for (const [flag, flags] of Object.entries({
        'before-node': HOOKS,
        'after-node': { 'after-node': './x' },
        canary: { canary: '1' },
      })) {
        const refused = await performIn(operated, [applyStage], flags, { profile });
        assert.deepEqual([refused.exit, refused.writes], ['usage', 0]);
        assert.match(refused.message ?? '', new RegExp(`^--${flag} is not possible on an installation by ${path}: `));
      }
    }
    const patch = [{ op: 'replace', path: '/spec/updateStrategy', value: HELD }] as const;
    await scenario.cluster.patch(K.DaemonSet, { apiVersion: 'apps/v1', kind: 'DaemonSet', ...AGENTS }, patch, 'kubectl-edit');
    const own = await hooked(scenario);
    assert.deepEqual([own.exit, own.writes], ['usage', 0], own.message);
    assert.match(own.message ?? '', /^--before-node is not possible: the update strategy of the agents is OnDelete/);
  });
});
