import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { ComposeRequest } from '../../src/cli/seams.ts';
import { chooseNodes } from '../../src/features/canary/choice.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { ApiFailure, type Cluster, type Lock } from '../../src/kernel/ports.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { newOn, waved } from '../support/canary-sandbox.ts';
import type { CommandBench } from '../support/command-bench.ts';
import { testFolder } from '../support/folders.ts';
import { groundOf, put } from '../support/incident-grounds.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { type Flags, installedSandbox, performIn, sandboxPorts } from '../support/sandbox-ports.ts';
import { felix } from './incident-worlds.ts';

/** What a plan says of the agents: how many restart, and how many at a time. */
async function planned(scenario: Scenario, flags: Flags = {}): Promise<readonly unknown[]> {
  const { plans } = await performIn(scenario, [applyStage], { 'dry-run': 'server', ...flags }, { profile: waved });
  const object = plans.flatMap(({ objects }) => objects).find(({ ref }) => ref.kind === 'DaemonSet');
  return [object?.restarts, object?.atOnce];
}

const READY = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };

describe('what is said before the first node of a canary', function () {
  this.timeout(60_000);

  it('names each of its nodes in the plan', async () => {
    const scenario = await installedSandbox({ nodes: 12, cli: false });
    const bench = sandboxCommand(scenario, waved);
    assert.equal(await bench.run('plan', '--canary', '5'), 0, bench.err());
    const said = bench.out().replaceAll(/\s+/g, ' ');
    assert.match(said, /canary: only the agents of node-01, node-02, node-03, node-04, node-05 are replaced first \(5 of 12\)/);
  });

  for (const flags of [
    ['--canary', '1'],
    ['--until', 'agents'],
  ])
    it(`is that none has an undo in eBPF mode, also with --yes: ${flags.join(' ')}`, async () => {
      const { scenario, profile } = await groundOf('calico');
      put(scenario.cluster, felix({ bpfEnabled: true }));
      const bench = sandboxCommand(scenario, profile);
      await bench.run('run', '--yes', ...flags);
      assert.match(bench.err(), /before the first node: a node has no undo once its agent is new\. In eBPF mode/);
    });
});

describe('the nodes of a canary that were confirmed', function () {
  this.timeout(60_000);

  for (const how of ['at the terminal', 'in a saved plan', 'as a number'])
    it(`are replaced, and no others, where somebody cordons one meanwhile: ${how}`, async () => {
      const scenario = await installedSandbox({ nodes: 4, cli: false });
      const bench = sandboxCommand(scenario, waved);
      const run = ['run', '--canary', '1'];
      if (how === 'in a saved plan') {
        const file = join(testFolder('canary-confirmed-'), 'plan.json');
        assert.equal(await bench.run('plan', '--canary', '1', '--out', file), 0, bench.err());
        run.push('--plan-file', file);
      }
      if (how === 'at the terminal') bench.answers = [true];
      else run.push('--yes');
      onceLocked(bench, scenario, () => {
        const node = scenario.cluster.store.get(K.Node, 'node-01') ?? assert.fail();
        scenario.cluster.store.update(K.Node, { ...node, spec: { unschedulable: true } } as KubeObject);
      });
      assert.equal(await bench.run(...run), 5, bench.err());
      assert.deepEqual(newOn(scenario), [how === 'as a number' ? 'node-02' : 'node-01']);
      assert.equal(scenario.state.record?.flags?.includes('--canary=1'), true);
    });

  it('are replaced by no others where one is not ready any more: the run stops', async () => {
    const scenario = await installedSandbox({ nodes: 4, cli: false });
    const bench = sandboxCommand(scenario, waved);
    bench.answers = [true];
    onceLocked(bench, scenario, () => scenario.cluster.nodes.fault('node-01', 'down'));
    assert.equal(await bench.run('run', '--canary', '1'), 5, bench.err());
    assert.match(bench.out() + bench.err(), /node node-01 is not ready, .*; it was confirmed, and no other is replaced in its place/);
    assert.deepEqual(newOn(scenario), []);
  });

  it('may have names of digits alone', async () => {
    const nodes = ['2', '1', '3'].map((name) => ({ node: { apiVersion: 'v1', kind: 'Node', metadata: { name }, ...READY }, isNew: false }));
    assert.deepEqual(await chooseNodes({ list: async () => [] }, '3,', nodes), ['3']);
  });

  /** After the plan, and before the agents are looked at once more. */
  function onceLocked({ seams }: CommandBench, { clock }: Scenario, act: () => void): void {
    const { compose } = seams;
    const waiting = async (request: ComposeRequest) => {
      const composed = await compose(request);
      const acquire: Lock['acquire'] = async (...how) => {
        await clock.sleep(5_000);
        act();
        return composed.lock.acquire(...how);
      };
      return { ...composed, lock: { ...composed.lock, acquire } };
    };
    Object.assign(seams, { compose: waiting });
  }
});

describe('the plan of a canary, and of what follows it', () => {
  const hooks = { 'before-node': './drain.sh {node}' };

  it('says how many agents restart, and at which pace', async () => {
    const scenario = await installedSandbox({ nodes: 6 });
    assert.deepEqual(await planned(scenario, { canary: '2' }), [2, 1]);
    assert.deepEqual(await planned(scenario, { canary: '2', soak: '5m', 'max-unavailable': '3' }), [6, 3]);
    await performIn(scenario, [applyStage], { canary: '2' }, { profile: waved });
    assert.deepEqual(await planned(scenario, { canary: '2' }), [undefined, undefined]);
    for (const flags of [{}, { canary: '2', soak: '5m' }, hooks, { probe: './look.sh' }] satisfies Flags[])
      assert.deepEqual(await planned(scenario, flags), [4, 1], JSON.stringify(flags));
    for (const flags of [{}, hooks] satisfies Flags[])
      assert.deepEqual(await planned(scenario, { ...flags, 'max-unavailable': '3' }), [4, 3], JSON.stringify(flags));
    await performIn(scenario, [applyStage], {}, { profile: waved });
    assert.deepEqual(await planned(scenario), [undefined, undefined]);
  });
  for (const flags of [{ canary: '1' }, hooks, { 'max-unavailable': '1' }] satisfies Flags[])
    it(`is refused where the server answers no dry run of the agents, also to who accepts that: --${Object.keys(flags)}`, async () => {
      const scenario = await installedSandbox({ nodes: 3 });
      const ports = sandboxPorts(scenario);
      const { cluster: own } = ports;
      const dryRunApply: Cluster['dryRunApply'] = async (kind, document, manager) => {
        if (kind.plural !== 'daemonsets') return own.dryRunApply(kind, document, manager);
        throw new ApiFailure(400, 'BadRequest', 'admission webhook "x" does not support dry run');
      };
      const cluster = new Proxy(own, {
        get(of, name) {
          const value: unknown = name === 'dryRunApply' ? dryRunApply : Reflect.get(of, name);
          return typeof value === 'function' ? value.bind(of) : value;
        },
      });
      const outcome = await performIn(
        scenario,
        [applyStage],
        { ...flags, accept: ['NS-202'] },
        { profile: waved, ports: { ...ports, cluster } },
      );
      assert.deepEqual([outcome.exit, outcome.writes, newOn(scenario)], ['blocked', 0, []], outcome.message);
      const found = outcome.findings.find(({ id }) => id === 'NS-202');
      assert.match(found?.hint ?? '', /nobody can accept this[\s\S]*it is kept only where the dry run of the DaemonSet is answered/);
    });
});
