import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stepsHere } from '../../src/cli/carried.ts';
import { goalBack } from '../../src/cli/rollback-goal.ts';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { runChain } from '../../src/engine/run-chain.ts';
import { chains } from '../../src/features/chain.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import type { Observer } from '../../src/kernel/event.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { RunRecord } from '../../src/kernel/run-record.ts';
import { nodeOf } from '../../src/sandbox/pods-of.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import {
  AGENTS,
  agentPods,
  agents,
  allNodes,
  newOn,
  setAgent,
  setVariable,
  strategy,
  waved,
  withVariable,
} from '../support/canary-sandbox.ts';
import { HOOKS, hooked } from '../support/hooked.ts';
import { ownReleases } from '../support/releases.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { contextIn, type Flags, installedSandbox, performIn, sandboxPorts } from '../support/sandbox-ports.ts';
import { NETSVC_TARGET } from '../support/target.ts';

const HELD = { type: 'OnDelete' };

const run = (scenario: Scenario, flags: Flags = {}): Promise<ChainOutcome> => performIn(scenario, [applyStage], flags, { profile: waved });

const patch = ({ cluster }: Scenario, path: string, value: unknown) =>
  cluster.patch(K.DaemonSet, { apiVersion: 'apps/v1', kind: 'DaemonSet', ...AGENTS }, [{ op: 'add', path, value }], 'kubectl-rollout');

/** What `kubectl rollout restart` writes. */
const restarted = (scenario: Scenario) =>
  patch(scenario, '/spec/template/metadata/annotations', { 'kubectl.kubernetes.io/restartedAt': '2026-01-01T00:00:00Z' });

function deleteAgent(scenario: Scenario, node: string): void {
  const pod = agentPods(scenario).find((one) => nodeOf(one) === node);
  scenario.cluster.store.delete(K.Pod, pod?.metadata.name ?? '', AGENTS.namespace);
}

describe('before the other agents follow a canary', function () {
  this.timeout(60_000);
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await installedSandbox({ nodes: 4 });
  });

  async function staysHeld(flags: Flags, because: RegExp): Promise<ChainOutcome> {
    await scenario.clock.sleep(60_000);
    const before = newOn(scenario);
    const outcome = await run(scenario, flags);
    await scenario.clock.sleep(600_000);
    assert.deepEqual([outcome.exit, newOn(scenario), strategy(scenario)], ['stopped', before, HELD], outcome.message);
    assert.match(outcome.message ?? '', because);
    return outcome;
  }

  for (const [what, change] of [
    ['restarted the held agents', restarted],
    ['set a variable of the held agents', (one: Scenario) => setVariable(one, '1')],
  ] as const)
    it(`one that failed holds them, also after somebody ${what}`, async () => {
      scenario.cluster.nodes.fault('node-01', 'crash-loop');
      assert.equal((await run(scenario, { canary: '1' })).exit, 'stopped');
      await change(scenario);
      const { steps } = await staysHeld({}, /^no agent has the template that DaemonSet kube-system\/netsvc-node has now/);
      assert.match(steps.join('\n'), /try it on one node first: kubectl netsvc-upgrade run --canary 1/);
      // It is seen to work on another node, and what failed is still there.
      deleteAgent(scenario, 'node-02');
      await staysHeld({}, /^1 pod failed, .*node-01/);
      scenario.cluster.nodes.fault('node-01', 'none');
      assert.deepEqual([(await run(scenario)).exit, newOn(scenario)], ['done', allNodes(scenario)]);
    });

  it('one whose template was changed after it worked is tried once more', async () => {
    await run(scenario, { canary: 'node-02' });
    await setVariable(scenario, '1');
    await staysHeld({}, /^no agent has the template/);
    await run(scenario, { canary: 'node-02' });
    assert.deepEqual(withVariable(scenario), ['node-02']);
    assert.deepEqual([(await run(scenario)).exit, withVariable(scenario)], ['done', allNodes(scenario)]);
  });

  it('one is looked at once, also where that takes its time: the others follow', async () => {
    await run(scenario, { canary: '1' });
    const { watch } = scenario.cluster;
    Object.assign(scenario.cluster, {
      async *watch(...of: Parameters<typeof watch>) {
        if (of[0].plural === K.Node.plural) await scenario.clock.sleep(15_000);
        yield* watch(...of);
      },
    });
    const looked: string[] = [];
    const observe: Observer = (event) => {
      if (event.type === 'action-started' && event.action.id === 'judge') looked.push(event.action.id);
    };
    const { exit, message } = await performIn(scenario, [applyStage], {}, { profile: waved, observe });
    assert.deepEqual([exit, newOn(scenario), looked], ['done', allNodes(scenario), ['judge']], message);
  });

  it('one of another release is tried first: no agent has it, and no wait changes that', async () => {
    const [releasesFolder, other] = [mkdtempSync(join(tmpdir(), 'releases-')), 'v3.32.3'];
    cpSync(ownReleases, releasesFolder, { recursive: true });
    cpSync(join(ownReleases, NETSVC_TARGET), join(releasesFolder, other), { recursive: true });
    const file = join(releasesFolder, other, 'manifests', 'netsvc.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(NETSVC_TARGET, other));
    scenario = await installedSandbox({ nodes: 4, releasesFolder });
    const accepted = ['NS-012', 'NS-206', 'NS-107', 'NS-401'].flatMap((id) => ['--accept', id]);
    const command = sandboxCommand(scenario, waved);
    assert.equal(await command.run('run', '--yes', '--canary', '1'), 5);
    await scenario.clock.sleep(60_000);
    const began = scenario.clock.now().getTime();
    const exit = await command.run('run', '--yes', '--release', other, ...accepted);
    assert.deepEqual([exit, newOn(scenario), strategy(scenario)], [5, ['node-01'], HELD], command.err());
    assert.match(command.err(), /no agent has \S+:v3\.32\.3: it was not seen to work yet/);
    assert.ok(scenario.clock.now().getTime() - began < 120_000, 'it waited');
    rmSync(releasesFolder, { recursive: true });
  });

  it('one that was killed before its first agent is not passed over', async () => {
    scenario.cluster.store.listen(({ kind, after }) => {
      if (kind.plural === K.DaemonSet.plural && JSON.stringify(after?.spec ?? '').includes('OnDelete'))
        scenario.cluster.faults.killed = true;
    });
    await run(scenario, { canary: '1' }).catch(() => undefined);
    scenario.cluster.faults.killed = false;
    assert.deepEqual([newOn(scenario), strategy(scenario)], [[], HELD]);
    await staysHeld({}, /^no agent has the template/);
  });

  it('one that failed holds them, also where somebody put the old template back', async () => {
    const { template } = agents(scenario).spec as { readonly template: unknown };
    scenario.cluster.nodes.fault('node-01', 'crash-loop');
    await run(scenario, { canary: '1' });
    await patch(scenario, '/spec/template', template);
    await staysHeld({ accept: ['NS-208'] }, /^1 pod failed, .*node-01/);
  });

  it('one that failed holds them, also where somebody removed the annotation', async () => {
    const remove = { op: 'remove', path: '/metadata/annotations/netsvc-upgrade~1strategy' } as const;
    const command = async (...argv: readonly string[]) => {
      const one = sandboxCommand(scenario, waved);
      return [await one.run(...argv), newOn(scenario), one.out() + one.err()] as const;
    };
    scenario = await installedSandbox({ nodes: 4, cli: false });
    scenario.cluster.nodes.fault('node-01', 'crash-loop');
    assert.equal((await command('run', '--yes', '--canary', '1'))[0], 5);
    await scenario.cluster.patch(K.DaemonSet, { apiVersion: 'apps/v1', kind: 'DaemonSet', ...AGENTS }, [remove], 'kubectl-edit');
    assert.match((await command('plan'))[2], /restarts 3 pods, held until now/);
    const [exit, replaced, said] = await command('commit', '--yes');
    assert.deepEqual([exit, replaced, strategy(scenario)], [5, ['node-01'], HELD], said);
    scenario.cluster.nodes.fault('node-01', 'none');
    assert.deepEqual((await command('commit', '--yes')).slice(0, 2), [0, allNodes(scenario)]);
  });

  it('a new agent that cannot be made is waited for, however often the run is resumed', async () => {
    scenario.cluster.store.listen(({ kind, after }) => {
      // A quota or a webhook refuses it.
      const isNew = kind.plural === K.Pod.plural && after !== undefined && JSON.stringify(after.spec).includes(NETSVC_TARGET);
      if (isNew) scenario.clock.schedule(0, () => scenario.cluster.store.delete(K.Pod, after.metadata.name, after.metadata.namespace));
    });
    assert.equal((await run(scenario, { canary: '1', timeout: '60s' })).exit, 'timeout');
    const { exit, message } = await run(scenario, { timeout: '60s' });
    assert.deepEqual([exit, strategy(scenario)], ['timeout', HELD], message);
  });
});

describe('a canary', function () {
  this.timeout(60_000);

  it('whose node goes before its agent is replaced is not said to run', async () => {
    const scenario = await installedSandbox({ nodes: 4 });
    const { store } = scenario.cluster;
    let gone = false;
    store.listen(({ kind, after }) => {
      if (gone || kind.plural !== K.DaemonSet.plural || !JSON.stringify(after?.spec ?? '').includes('OnDelete')) return;
      gone = true;
      store.delete(K.Node, 'node-01');
      deleteAgent(scenario, 'node-01');
    });
    const { exit, message } = await run(scenario, { canary: '1' });
    assert.deepEqual([exit, newOn(scenario), strategy(scenario)], ['stopped', [], HELD]);
    assert.match(message ?? '', /^the canary is gone: node-01 is no node of this cluster any more/);
  });

  it('whose node was removed proves nothing, also while its pod lies there yet: no other agent follows', async () => {
    const scenario = await installedSandbox({ nodes: 4, cli: false });
    const command = async (...argv: readonly string[]) => sandboxCommand(scenario, waved).run(...argv, '--yes', '--timeout', '60s');
    assert.equal(await command('run', '--canary', '1'), 5);
    scenario.cluster.store.delete(K.Node, 'node-01');
    const exit = await command('commit');
    assert.ok(exit !== 0, String(exit));
    assert.deepEqual(
      newOn(scenario).filter((node) => node !== 'node-01'),
      [],
    );
  });

  it('that has no agent left comes to its end where the run has something else to do', async () => {
    const scenario = await installedSandbox({ nodes: 4, cli: false });
    const command = (...argv: readonly string[]) => sandboxCommand(scenario, waved).run(...argv);
    assert.equal(await command('run', '--yes'), 0);
    scenario.cluster.store.delete(K.ClusterRole, 'netsvc-node');
    assert.deepEqual([await command('run', '--yes', '--canary', '1'), newOn(scenario)], [0, allNodes(scenario)]);
  });

  const ROLLING = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };

  function haveRestarted(scenario: Scenario, node: string): void {
    const pod = agentPods(scenario).find((one) => nodeOf(one) === node);
    assert.ok(pod);
    const { containerStatuses } = pod.status as { readonly containerStatuses: readonly object[] };
    const status = { ...(pod.status as object), containerStatuses: containerStatuses.map((one) => ({ ...one, restartCount: 2 })) };
    scenario.cluster.store.update(K.Pod, { ...pod, status } as KubeObject);
  }

  /** A new process takes the recorded upgrade back. */
  async function back(scenario: Scenario, flags: Flags): Promise<ChainOutcome> {
    const ports = sandboxPorts(scenario);
    const here = { clusterUid: scenario.clusterUid, profile: waved, readRecord: (content: unknown) => content as RunRecord };
    const goal = await goalBack(ports.records, here);
    const context = { ...contextIn(scenario, { yes: true, ...flags }, waved), goal, intent: { kind: 'rollback' } as const };
    const stages = flags.canary ? chains.rollback.slice(0, chains.rollback.findLastIndex(({ installs }) => installs) + 1) : chains.rollback;
    return runChain(stages, ports, context, () => undefined, { leavesRun: 'NS-012' });
  }

  it('that was ended between its hooks is taken back: what is prepared on a node stays told', async () => {
    const scenario = await installedSandbox({ nodes: 4, cli: false });
    await hooked(scenario, HOOKS, (call) => (call === 'before-node node-02' ? 'refused' : undefined));
    const { record } = await back(scenario, HOOKS);
    assert.match(record?.owed?.join() ?? '', /^the agent of node-02 was not replaced: undo there what --before-node did/);
  });

  it('that failed is taken back, however often an agent that nobody touched has restarted', async () => {
    const scenario = await installedSandbox({ nodes: 4, cli: false });
    haveRestarted(scenario, 'node-03');
    await scenario.clock.sleep(3_600_000);
    scenario.cluster.nodes.fault('node-01', 'crash-loop');
    assert.equal(await sandboxCommand(scenario, waved).run('run', '--yes', '--canary', '1'), 5);
    scenario.cluster.nodes.fault('node-01', 'none');
    const refused = await back(scenario, { canary: '1' });
    assert.deepEqual([refused.exit, newOn(scenario)], ['usage', ['node-01']]);
    assert.equal(refused.message, '--canary 1: the agent of node-01 is all that is taken back, so there are no others to protect');
    await scenario.clock.sleep(1_000);
    const { exit, message } = await back(scenario, {});
    assert.deepEqual([exit, newOn(scenario), strategy(scenario)], ['done', [], ROLLING], message);
  });

  it('is taken back one by one, and those that were never upgraded do not count', async () => {
    const scenario = await installedSandbox({ nodes: 4, cli: false });
    haveRestarted(scenario, 'node-03');
    await scenario.clock.sleep(3_600_000);
    assert.equal(await sandboxCommand(scenario, waved).run('run', '--yes', '--canary', 'node-01,node-02'), 5);
    const untouched = await back(scenario, { canary: 'node-04' });
    assert.equal(untouched.message, '--canary: the agent of node-04 was not upgraded, so it is not taken back');
    await scenario.clock.sleep(1_000);
    const first = await back(scenario, { canary: '1' });
    assert.deepEqual([first.exit, newOn(scenario)], ['stopped', ['node-02']], first.message);
    assert.match(first.message ?? '', /^the canary runs: 1 of 2 agents has v3\.26\.4 and is ready \(node-01\)$/);
    const looked = sandboxCommand(scenario, waved);
    assert.equal(await looked.run('status'), 0);
    assert.match(looked.out(), /: 1 of 2 agents replaced and ready \(node-01\)/);
    const { exit, message } = await back(scenario, {});
    assert.deepEqual([exit, newOn(scenario), strategy(scenario)], ['done', [], ROLLING], message);
  });

  it('of a rollback begins with an agent that fails, says that commit continues', async () => {
    const scenario = await installedSandbox({ nodes: 4, cli: false });
    assert.equal(await sandboxCommand(scenario, waved).run('run', '--yes', '--canary', 'node-01,node-03'), 5);
    setAgent(scenario, 'node-03', 'not-ready');
    const first = await back(scenario, { canary: '1' });
    assert.deepEqual([first.exit, newOn(scenario)], ['stopped', ['node-01']], first.message);
    assert.match(first.message ?? '', /is ready \(node-03\)/);
    const here = { typed: 'rollback', carried: [], commands: ['commit', 'rollback'], chain: { intent: 'rollback' } } as const;
    const said = stepsHere(first.steps, here).map(({ plain }) => plain);
    assert.ok(said.includes('continue, with all other agents: kubectl netsvc-upgrade commit'), said.join('\n'));
  });

  it('of a rollback takes the same nodes when it is resumed', async () => {
    const scenario = await installedSandbox({ nodes: 4, cli: false });
    assert.equal(await sandboxCommand(scenario, waved).run('run', '--yes', '--canary', 'node-03,node-04'), 5);
    const first = await back(scenario, { canary: '1' });
    assert.deepEqual([first.exit, newOn(scenario)], ['stopped', ['node-04']], first.message);
    const again = await back(scenario, { canary: '1' });
    assert.deepEqual([again.exit, again.writes, newOn(scenario)], ['stopped', 0, ['node-04']], again.message);
  });
});
