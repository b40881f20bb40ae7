import assert from 'node:assert/strict';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { allNodes, newOn } from '../support/canary-sandbox.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';

async function shown(scenario: Scenario, ...argv: readonly string[]) {
  const bench = sandboxCommand(scenario);
  const exit = await bench.run(...argv);
  return { exit, out: bench.out(), err: bench.err().replaceAll(/\s+/g, ' ') };
}

describe('a run that is continued after its canary', function () {
  this.timeout(120_000);
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await installedSandbox({ nodes: 3, cli: false });
  });

  for (const [first, code] of [
    [['--canary', '1'], 5],
    [['--until', 'agents'], 0],
  ] as const)
    it(`${first.join(' ')}: is resumed whole where commit failed`, async () => {
      assert.equal((await shown(scenario, 'run', '--yes', ...first)).exit, code);
      for (const node of allNodes(scenario)) scenario.cluster.nodes.fault(node, 'crash-loop');
      assert.equal((await shown(scenario, 'commit', '--yes')).exit, 5);
      const { out } = await shown(scenario, 'status');
      assert.match(out, /resume with: kubectl netsvc-upgrade run$/m);
      for (const node of allNodes(scenario)) scenario.cluster.nodes.fault(node, 'none');
      await scenario.clock.sleep(600_000);
      assert.equal((await shown(scenario, 'run', '--yes')).exit, 0);
      assert.match((await shown(scenario, 'status')).out, /: done /);
    });

  it('is not waited for: nobody lets the DaemonSet continue', async () => {
    assert.equal((await shown(scenario, 'run', '--yes', '--canary', '1')).exit, 5);
    const begun = scenario.clock.now().getTime();
    const { exit, err, out } = await shown(scenario, 'wait', '--yes');
    assert.equal(exit, 5, err);
    assert.match(err, /DaemonSet kube-system\/netsvc-node is held by a run that is not finished: no agent is replaced until you continue/);
    assert.doesNotMatch(err, /error: /);
    assert.match(out, /^wait +held /m);
    assert.match(out, /^ {2}undo {4}possible: kubectl netsvc-upgrade rollback$/m);
    assert.match(out, /\nNext: kubectl -n kube-system get pods -o wide -l k8s-app=netsvc-node$/m);
    assert.match(out, /continue, with all other agents: kubectl netsvc-upgrade commit/);
    assert.ok(scenario.clock.now().getTime() - begun < 10_000);
    const goesOn = await shown(scenario, 'commit', '--yes');
    assert.equal(goesOn.exit, 0);
    assert.match(goesOn.out, /v3\.26\.4 → v\S+ {3}3 nodes/);
    assert.equal((await shown(scenario, 'wait', '--yes')).exit, 0);
  });

  it('is not verified as if it were at its end, nor sent where no agent is replaced', async () => {
    assert.equal((await shown(scenario, 'run', '--yes', '--canary', '1')).exit, 5);
    const { exit, out } = await shown(scenario, 'verify');
    assert.equal(exit, 3, out);
    assert.match(out, /NS-301 Cluster Version \S+ \(.*\); 1 of 3 agents has it and is ready/);
    assert.doesNotMatch(out, /The cluster is at|next: kubectl netsvc-upgrade wait|--canary=/);
    assert.match(out, /NS-303 [\s\S]*no agent is replaced until you continue\.\n +next: kubectl netsvc-upgrade commit\n/);
    assert.match(out, /\nNext: kubectl netsvc-upgrade commit\n$/);
    assert.match((await shown(scenario, 'report')).out, /\nNext: kubectl netsvc-upgrade status\n$/);
    assert.match((await shown(scenario, 'run', '--yes', '--canary', '1')).out, /v3\.26\.4 → v\S+, unfinished {3}3 nodes/);
  });

  it('is not said to have been at work in the night that it waited', async () => {
    await shown(scenario, 'run', '--yes', '--canary', '1');
    await scenario.clock.sleep(8 * 3_600_000);
    await shown(scenario, 'run', '--yes', '--canary', '2');
    await scenario.clock.sleep(8 * 3_600_000);
    await shown(scenario, 'commit', '--yes');
    const { out } = await shown(scenario, 'report', '-o', 'markdown');
    const took = Object.fromEntries(
      [...out.matchAll(/^\| (\S+) \| done \| \S+Z \| (\S+) \|/gm)].map(([, stage = '', time]) => [stage, time]),
    );
    const none = Object.fromEntries(['preflight', 'backup', 'cli', 'verify'].map((stage) => [stage, '00:00']));
    assert.deepEqual(took, { ...none, apply: '00:22' });
    assert.match((await shown(scenario, 'report')).out, /^✔ .* on 3 nodes in \d+s/m);
  });

  it('is planned as what it is: nothing is written, and it stops for the user, with the other agents pending', async () => {
    assert.equal((await shown(scenario, 'run', '--yes', '--canary', '1')).exit, 5);
    const { exit, out } = await shown(scenario, 'plan', '--canary', '1', '--detailed-exitcode');
    assert.equal(exit, 2, out);
    assert.match(out, /stop for you: only node-01 has /);
    assert.doesNotMatch(out, /No changes/);
    assert.match(out, /\nNext: kubectl netsvc-upgrade commit\n$/);
  });

  it('is not cut short for a canary where no agent is left for one', async () => {
    assert.equal((await shown(scenario, 'run', '--yes', '--canary', '1')).exit, 5);
    scenario.cluster.nodes.fault('node-03', 'crash-loop');
    assert.equal((await shown(scenario, 'commit', '--yes')).exit, 5);
    for (const repaired of [false, true]) {
      if (repaired) scenario.cluster.nodes.fault('node-03', 'none');
      await scenario.clock.sleep(600_000);
      const { exit, err } = await shown(scenario, 'run', '--yes', '--canary', '1');
      assert.equal(exit, 64, err);
      assert.match(err, /no agent is left for it: all were replaced, or .* Next: kubectl netsvc-upgrade commit/);
    }
    assert.equal((await shown(scenario, 'commit', '--yes')).exit, 0);
    const { exit, out } = await shown(scenario, 'run', '--yes', '--canary', '1');
    assert.deepEqual([exit, newOn(scenario).length], [0, 3]);
    assert.match(out, /\nNext: kubectl netsvc-upgrade status$/m);
  });
});
