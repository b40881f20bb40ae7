import assert from 'node:assert/strict';
import { K } from '../../src/kernel/kinds.ts';
import { OLDER_RULES } from '../../src/manifest/roles-of-both.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { agents, allNodes, newOn, strategy } from '../support/canary-sandbox.ts';
import { heldFleet } from '../support/held-fleet.ts';
import { heldPoints, struckRun } from '../support/held-sweep.ts';
import { type Ground, groundOf } from '../support/incident-grounds.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';
import { CALICO_TARGET } from '../support/target.ts';

const SECONDS = 5_000;

/** Somebody deletes what the program keeps in the cluster; the next run begins in another second. */
async function lose({ state, clock }: Scenario): Promise<void> {
  state.record = undefined;
  state.kept.clear();
  await clock.sleep(SECONDS);
}

describe('a run that was killed, its record lost', function () {
  this.timeout(180_000);

  it('is done by the next one, which knows its own hold: or that says what is left, and the command that releases it', async () => {
    const ofHold = (await heldPoints()).filter(
      ({ type, what }) => type === 'kill-after' && /^patch (?:deployments\/calico-typha|replicasets)/.test(what),
    );
    assert.equal(ofHold.length, 3);
    for (const point of ofHold) {
      const fleet = await heldFleet(3);
      await struckRun(fleet, point);
      await lose(fleet.scenario);
      const { outcome } = await struckRun(fleet);
      const open = outcome?.findings.filter((one) => one.outcome === 'error').map(({ id }) => id) ?? [];
      if (fleet.marks().length > 0) {
        assert.deepEqual(open, ['NS-313'], point.what);
        const bench = sandboxCommand(fleet.scenario, fleet.profile);
        assert.equal(await bench.run('apply', '--undo', '--yes', '--release', CALICO_TARGET), 0, bench.err());
      } else assert.deepEqual([outcome?.exit, open], ['done', []], point.what);
      assert.deepEqual([fleet.runs(), fleet.marks()], [[CALICO_TARGET], []], point.what);
      assert.ok(fleet.worst() <= 1, `${fleet.worst()}: ${point.what}`);
    }
  });

  it('leaves no rule of older workloads on a role, where there are no more of them', async () => {
    const roleOf = ({ scenario: { cluster } }: Ground) => cluster.store.get(K.ClusterRole, 'calico-node') ?? assert.fail('no role');
    const old = () => groundOf('calico v3.31.2');
    const { requests } = await struckRun(await old());
    const applied = requests.flatMap((what, index) => (what.startsWith('kubectl apply') ? [index + 1] : []));
    assert.equal(applied.length, 4);
    for (const at of applied) {
      const ground = await old();
      await struckRun(ground, { at, type: 'kill-after' });
      await lose(ground.scenario);
      const { outcome } = await struckRun(ground);
      assert.deepEqual([outcome?.exit, outcome?.message], ['done', undefined], `${at}`);
      const { rules, metadata } = roleOf(ground);
      assert.doesNotMatch(JSON.stringify(rules), /adminnetworkpolicies/, `${at}`);
      assert.equal(metadata.annotations?.[OLDER_RULES], undefined);
    }
  });

  it('gives agents that were held for a canary the strategy of the release again, and says so', async () => {
    const scenario = await installedSandbox({ nodes: 3, cli: false });
    const own = strategy(scenario);
    const canary = sandboxCommand(scenario);
    assert.equal(await canary.run('run', '--yes', '--canary', '1'), 5, canary.err());
    await lose(scenario);
    const status = sandboxCommand(scenario);
    await status.run('status');
    assert.match(status.out(), /DaemonSet\/kube-system\/netsvc-node has the update strategy OnDelete of a run whose record is lost/);
    const went = sandboxCommand(scenario);
    assert.equal(await went.run('run', '--yes', '--accept', 'NS-107', '--accept', 'NS-401'), 0, went.out() + went.err());
    assert.match(went.out(), /NS-407 .*the record of that run is lost or another one's/);
    assert.deepEqual([newOn(scenario), strategy(scenario)], [allNodes(scenario), own]);
    assert.doesNotMatch(JSON.stringify(agents(scenario).metadata.annotations), /netsvc-upgrade\/strategy/);
  });
});
