import assert from 'node:assert/strict';
import { chains } from '../../src/features/chain.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { AGENTS, newOn, ROLLING, strategy, waved } from '../support/canary-sandbox.ts';
import { HOOKS, hooked } from '../support/hooked.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { type Flags, installedSandbox, performIn, sandboxPorts } from '../support/sandbox-ports.ts';

/** As an admission rule of a cluster does it: "every DaemonSet rolls". */
function admits(scenario: Scenario, updateStrategy: unknown): void {
  const { cluster } = scenario;
  const { dryRunApply } = cluster;
  const admitted = (live: KubeObject): KubeObject =>
    live.metadata.name === AGENTS.name ? { ...live, spec: { ...(live.spec as object), updateStrategy } } : live;
  Object.assign(cluster, { dryRunApply: async (...of: Parameters<typeof dryRunApply>) => admitted(await dryRunApply(...of)) });
}

describe('a canary that cannot be held', () => {
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await installedSandbox({ nodes: 4 });
  });
  const run = (flags: Flags) => performIn(scenario, [applyStage], flags, { profile: waved });

  for (const [asked, wanted] of [
    [{ canary: '1' }, 'OnDelete'],
    [{ 'max-unavailable': '2' }, 'RollingUpdate, maxUnavailable 2'],
  ] as const)
    it(`is refused where an admission rule would store another strategy: ${JSON.stringify(asked)}`, async () => {
      admits(scenario, { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } });
      const { exit, message, writes } = await run(asked);
      assert.deepEqual([exit, newOn(scenario), writes], ['blocked', [], 0]);
      assert.match(message ?? '', /^DaemonSet\/kube-system\/netsvc-node: asked for .*, the API server would store RollingUpdate/);
      assert.ok(message?.includes(`the update strategy ${wanted}, `), message);
    });

  it('is refused where an admission rule removes the annotation that says whose the strategy is', async () => {
    const { dryRunApply } = scenario.cluster;
    const admitted = ({ metadata, ...rest }: KubeObject): KubeObject => {
      const { 'netsvc-upgrade/strategy': _, ...annotations } = metadata.annotations ?? {};
      return { ...rest, metadata: { ...metadata, annotations } };
    };
    Object.assign(scenario.cluster, { dryRunApply: async (...of: Parameters<typeof dryRunApply>) => admitted(await dryRunApply(...of)) });
    const { exit, message, writes } = await run({ canary: '1' });
    assert.deepEqual([exit, newOn(scenario), writes], ['blocked', [], 0]);
    assert.match(
      message ?? '',
      /netsvc-node: asked for an annotation that says whose the update strategy is, the API server would not store it$/,
    );
  });

  it('lets no agent be replaced without the commands around its node', async () => {
    admits(scenario, ROLLING);
    const { exit, told } = await hooked(scenario, HOOKS);
    assert.deepEqual([exit, newOn(scenario), told], ['blocked', [], []]);
  });

  it('is refused where the agents have the release already, and other waves have not', async () => {
    await run({ until: 'agents' });
    Object.assign(scenario.state, { record: undefined });
    const before = scenario.cluster.store.list(K.Deployment);
    const bench = sandboxCommand(scenario, waved);
    assert.equal(await bench.run('run', '--yes', '--canary', '1'), 64, bench.err());
    assert.match(bench.err(), /--canary: no agent is left for it: .*\nleave it out\n/);
    assert.deepEqual(scenario.cluster.store.list(K.Deployment), before);
  });
});

describe('a strategy of a run that ended early in its only wave', () => {
  it('lets no verify end the run, also where somebody removed the annotation', async () => {
    const scenario = await installedSandbox({ nodes: 4 });
    const bench = sandboxCommand(scenario);
    const run = async (name: string, { node = '' }) => ({
      durationMs: 1,
      ...(name + node === 'after-nodenode-04' ? { because: 'refused' } : {}),
    });
    const ports = sandboxPorts(scenario, { commands: { run } });
    assert.equal((await performIn(scenario, chains.upgrade, HOOKS, { ports })).exit, 'stopped');
    assert.deepEqual([newOn(scenario).length, strategy(scenario)], [4, { type: 'OnDelete' }]);
    const unmark = [{ op: 'remove', path: '/metadata/annotations/netsvc-upgrade~1strategy' }] as const;
    await scenario.cluster.patch(K.DaemonSet, { apiVersion: 'apps/v1', kind: 'DaemonSet', ...AGENTS }, unmark, 'kubectl-annotate');
    assert.notEqual(await bench.run('verify'), 0);
    assert.match(bench.out(), /NS-313 .*left its update strategy on DaemonSet\/kube-system\/netsvc-node/);
    assert.equal(scenario.state.record?.finishedAt, undefined);
    assert.equal(await bench.run('run', '--yes', '--before-node', 'true', '--after-node', 'true'), 0, bench.err());
    assert.deepEqual(strategy(scenario), ROLLING);
  });

  it('is not called left by a verify beside the run that is at work', async () => {
    const scenario = await installedSandbox({ nodes: 4 });
    const beside = sandboxCommand(scenario);
    const { compose } = beside.seams;
    const ofColleague = async (...how: Parameters<typeof compose>) => {
      const composed = await compose(...how);
      return { ...composed, lock: { ...composed.lock, identity: 'bob@other (2)' } };
    };
    Object.assign(beside.seams, { compose: ofColleague });
    const said: Promise<number>[] = [];
    scenario.clock.schedule(600_000, () => said.push(beside.run('verify')));
    assert.equal(await sandboxCommand(scenario).run('run', '--yes', '--canary', '1', '--soak', '30m'), 0);
    await Promise.all(said);
    assert.match(beside.out(), /NS-30/);
    assert.doesNotMatch(beside.out(), /left its update strategy/);
  });

  it('lets no verify end the run, and comes back with the run that is resumed', async () => {
    const scenario = await installedSandbox({ nodes: 4 });
    const bench = sandboxCommand(scenario);
    const flags = ['--yes', '--max-unavailable', '2'];
    scenario.cluster.nodes.fault('node-03', 'crash-loop');
    assert.equal(await bench.run('run', ...flags), 5, bench.err());
    assert.equal(await bench.run('status'), 0);
    assert.match(bench.out(), /for this run alone: RollingUpdate, maxUnavailable 2\. Its own comes back with the next run: /);
    scenario.cluster.nodes.fault('node-03', 'none');
    await scenario.clock.sleep(600_000);
    assert.equal(await bench.run('wait'), 0, bench.err());
    assert.notEqual(await bench.run('verify'), 0);
    assert.match(bench.out(), /NS-313 .*left its update strategy on DaemonSet\/kube-system\/netsvc-node/);
    assert.match(bench.out() + bench.err(), /\nNext: kubectl netsvc-upgrade run/);
    assert.equal(scenario.state.record?.finishedAt, undefined);
    assert.equal(await bench.run('run', ...flags), 0, bench.err());
    assert.deepEqual(strategy(scenario), ROLLING);
    assert.equal(await bench.run('verify'), 0, bench.out());
  });
});
