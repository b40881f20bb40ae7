import assert from 'node:assert/strict';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { K } from '../../src/kernel/kinds.ts';
import { ApiFailure } from '../../src/kernel/ports.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { allNodes, newOn, setAgent } from '../support/canary-sandbox.ts';
import { groundOf } from '../support/incident-grounds.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox, performIn } from '../support/sandbox-ports.ts';
import { NETSVC_TARGET } from '../support/target.ts';

const controllersAreNew = ({ cluster: { store } }: Scenario): boolean =>
  JSON.stringify(store.get(K.Deployment, 'netsvc-kube-controllers', 'kube-system')?.spec).includes(`:${NETSVC_TARGET}`);

/** What the document of status says of it. */
async function untilIn(scenario: Scenario) {
  const status = sandboxCommand(scenario);
  assert.equal(await status.run('status', '-o', 'json'), 0, status.err());
  return JSON.parse(status.out()).until;
}

describe('a run that goes no further than it was told', function () {
  this.timeout(120_000);
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await installedSandbox({ nodes: 3, cli: false });
  });

  it('is done also where the cluster does not answer any more at its end', async () => {
    const { cluster } = scenario;
    const get: typeof cluster.get = (kind, ...of) => {
      const { record } = scenario.state as { readonly record?: { readonly outcome?: string } };
      if (record?.outcome === 'done' && kind === K.Deployment) throw new ApiFailure(0, '', 'no answer');
      return cluster.get(kind, ...of);
    };
    const bench = sandboxCommand({ ...scenario, cluster: { ...cluster, get } } as Scenario);
    assert.equal(await bench.run('run', '--yes', '--until', 'agents'), 0, bench.err());
  });

  it('stops with the agents new and the controllers old, says so, and commit continues', async () => {
    const bench = sandboxCommand(scenario);
    assert.equal(await bench.run('run', '--yes', '--until', 'agents'), 0, bench.err());
    assert.deepEqual([newOn(scenario), controllersAreNew(scenario)], [allNodes(scenario), false]);
    const STOPPED =
      /^stopped on purpose, --until agents, for .*Open: controllers, wait, .*\n {2}possible from here: kubectl netsvc-upgrade commit, or what undo says\n {2}until then: .*\nundo: possible: kubectl netsvc-upgrade rollback$/m;
    assert.match(bench.out(), STOPPED);
    assert.match(bench.out(), /\nNext: kubectl netsvc-upgrade status$/m);
    const plan = sandboxCommand(scenario);
    assert.equal(await plan.run('plan', '--until', 'agents'), 0);
    assert.match(plan.out(), STOPPED);
    assert.doesNotMatch(plan.out(), /nothing to do/);
    assert.match(plan.out(), /\nNext: kubectl netsvc-upgrade commit$/m);
    const status = sandboxCommand(scenario);
    assert.equal(await status.run('status'), 0);
    assert.match(status.out(), /stopped on purpose, --until agents, for .*Open: controllers, wait, ownerrefs-restore, cli/);
    assert.match(status.out(), /until then: .*keep GitOps tools paused/);
    assert.match(status.out(), /\nNext: kubectl netsvc-upgrade commit$/m);
    setAgent(scenario, 'node-02', 'not-ready');
    const failing = sandboxCommand(scenario);
    assert.notEqual(await failing.run('wait', '--timeout', '30s'), 5);
    assert.match(failing.out() + failing.err(), /node-02/);
    setAgent(scenario, 'node-02', 'ready');
    await scenario.clock.sleep(60_000);
    for (const look of ['wait', 'verify', 'report']) {
      const looked = sandboxCommand(scenario);
      const exit = await looked.run(look);
      assert.match(looked.out() + looked.err(), /\nNext: kubectl netsvc-upgrade commit\n/);
      if (look === 'wait') assert.equal(exit, 5);
      if (look === 'report') assert.match(looked.out(), STOPPED);
      if (look === 'verify')
        assert.match(looked.out(), /NS-303 [\s\S]*?stopped on purpose[^\n]*\n {4}next: kubectl netsvc-upgrade commit$/m);
    }
    const { since, ...until } = await untilIn(scenario);
    assert.deepEqual(until, { part: 'agents', open: ['controllers', 'wait', 'ownerrefs-restore', 'cli', 'alp', 'verify'] });
    assert.ok(Date.parse(since) <= scenario.clock.now().getTime(), since);
    const again = sandboxCommand(scenario);
    assert.equal(await again.run('run', '--yes', '--until', 'agents'), 0, again.err());
    assert.match(again.out(), STOPPED);
    assert.equal(controllersAreNew(scenario), false);
    const stage = sandboxCommand(scenario);
    assert.equal(await stage.run('apply', '--yes', '--until', 'agents'), 0, stage.err());
    assert.match(
      stage.out(),
      /^apply +not needed +everything up to the agents equals .*, and is rolled out; --until agents leaves the rest$/m,
    );
    const alone = sandboxCommand(scenario);
    assert.equal(await alone.run('apply', '--yes', '--timeout', '20m'), 0, alone.err());
    const over = sandboxCommand(scenario);
    await over.run('status');
    assert.match(
      over.out(),
      /--until agents is over: Typha and the controllers have the new release by now\. Open: wait, ownerrefs-restore/,
    );
    assert.equal((await untilIn(scenario)).over, true);
    const went = sandboxCommand(scenario);
    assert.equal(await went.run('commit', '--yes'), 0, went.err());
    assert.equal(controllersAreNew(scenario), true);
    assert.doesNotMatch(went.out(), /--until/);
    assert.match(went.out(), /^What can be undone now: kubectl netsvc-upgrade plan --rollback$/m);
    assert.equal(await untilIn(scenario), null);
    const end = sandboxCommand(scenario);
    await end.run('status');
    assert.doesNotMatch(end.out(), /--until/);
  });

  it('holds the controllers back while a canary is held, also where the service needs no order', async () => {
    const bench = sandboxCommand(scenario);
    assert.equal(await bench.run('run', '--yes', '--canary', '1'), 5, bench.err());
    assert.match(bench.err(), /^the canary runs: /m);
    const again = sandboxCommand(scenario);
    assert.equal(await again.run('run', '--yes', '--canary', '1'), 5, again.err());
    for (const { out } of [bench, again]) assert.match(out(), /^ {2}undo {4}possible: kubectl netsvc-upgrade rollback$/m);
    assert.deepEqual([newOn(scenario), controllersAreNew(scenario)], [['node-01'], false]);
    const status = sandboxCommand(scenario);
    await status.run('status');
    assert.match(status.out(), /^apply +held/m);
    assert.doesNotMatch(status.out(), /^apply +failed/m);
    assert.match(status.out(), /canary: 1 of 3 agents replaced and ready \(node-01\)/);
    // In a rollback it is the old one.
    for (const shown of [bench.out() + bench.err(), status.out()].map((said) => said.replaceAll(/\s+/g, ' '))) {
      assert.match(shown, /new nodes, and agents that somebody deletes, get the release that the run installs/);
      assert.doesNotMatch(shown, /agents that somebody deletes, get the new/);
    }
    const went = sandboxCommand(scenario);
    assert.equal(await went.run('commit', '--yes'), 0, went.err());
    assert.deepEqual([newOn(scenario), controllersAreNew(scenario)], [allNodes(scenario), true]);
  });

  it('is refused with a key-value store for the names of policies, which are not renamed there', async () => {
    const { scenario: store, profile } = await groundOf('kvstore');
    const run = (until: 'agents' | 'controllers') => performIn(store, [applyStage], { until }, { profile });
    const { exit, message, steps, writes } = await run('controllers');
    assert.deepEqual([exit, writes, steps.map(String)], ['usage', 0, ['leave out --until controllers']]);
    assert.equal(message, '--until controllers holds nothing here: policies in a key-value store are not renamed');
    assert.equal((await run('agents')).exit, 'done');
  });

  it('is not ended by what only looks: commit still continues', async () => {
    const until = sandboxCommand(scenario);
    assert.equal(await until.run('run', '--yes', '--until', 'controllers'), 0, until.err());
    const proof = sandboxCommand(scenario);
    assert.equal(await proof.run('verify'), 0, proof.out());
    const went = sandboxCommand(scenario);
    assert.equal(await went.run('commit', '--yes'), 0, went.err());
    const again = sandboxCommand(scenario);
    assert.equal(await again.run('commit', '--yes'), 64);
  });

  it('forgets the canary and the soak that a stage performed alone is no longer given, but not --until', async () => {
    const { state } = scenario;
    const flags = () => (state.record as { readonly flags?: readonly string[] }).flags;
    scenario.cluster.nodes.fault('node-01', 'crash-loop');
    const failed = sandboxCommand(scenario);
    assert.equal(await failed.run('apply', '--yes', '--canary', '1', '--soak', '30m', '--until', 'agents'), 5, failed.err());
    assert.deepEqual(flags(), ['--canary=1', '--soak=30m', '--until=agents']);
    scenario.cluster.nodes.fault('node-01', 'none');
    await scenario.clock.sleep(60_000);
    const held = sandboxCommand(scenario);
    assert.equal(await held.run('apply', '--yes', '--canary', '2'), 5, held.err());
    assert.deepEqual(flags(), ['--until=agents', '--canary=2']);
    const alone = sandboxCommand(scenario);
    assert.equal(await alone.run('apply', '--yes'), 0, alone.err());
    assert.deepEqual(flags(), ['--until=agents']);
  });

  it('is committed by a plan that was saved', async () => {
    const bench = sandboxCommand(scenario);
    assert.equal(await bench.run('run', '--yes', '--canary', '1'), 5, bench.err());
    const { testFolder } = await import('../support/folders.ts');
    const file = `${testFolder('commit-plan')}/plan.json`;
    assert.equal(await sandboxCommand(scenario).run('plan', '--out', file), 0);
    const went = sandboxCommand(scenario);
    assert.equal(await went.run('commit', '--yes', '--plan-file', file), 0, went.err());
    assert.equal(newOn(scenario).length, 3);
  });
});
