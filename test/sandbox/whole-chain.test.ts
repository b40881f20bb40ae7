import assert from 'node:assert/strict';
import { usualChain as chain } from '../../src/features/chain.ts';
import { K } from '../../src/kernel/kinds.ts';
import { type KubeObject, refOf } from '../../src/kernel/object.ts';
import { podSpecOf } from '../../src/manifest/prepare.ts';
import type { WriteFault } from '../../src/sandbox/api-faults.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { type Flags, installedSandbox, performIn } from '../support/sandbox-ports.ts';
import { NETSVC_TARGET } from '../support/target.ts';

const installed = (nodes = 3) => installedSandbox({ nodes });

/** A new process that performs the whole chain. */
const run = (scenario: Scenario, flags: Flags = {}) => performIn(scenario, chain, flags);

describe('the whole chain on the sandbox', () => {
  it('upgrades, and has nothing to write the second time', async () => {
    const scenario = await installed();
    const first = await run(scenario);
    assert.deepEqual([first.exit, first.message], ['done', undefined]);
    assert.equal(scenario.files.text('/usr/local/bin/netsvcctl'), `netsvcctl ${NETSVC_TARGET}\n`);
    const { writes } = scenario.cluster.faults;
    const second = await run(scenario);
    assert.deepEqual([second.exit, second.writes, scenario.cluster.faults.writes], ['done', 0, writes]);
  });

  for (const fault of ['not-ready', 'down'] as const) {
    it(`times out at a node that is ${fault}, and the same command continues when it is fixed`, async () => {
      const scenario = await installed();
      const stuck = () => scenario.cluster.nodes.fault('node-02', fault);
      if (fault === 'not-ready') stuck();
      else scenario.clock.schedule(1000, stuck);
      const first = await run(scenario, { timeout: '2m' });
      assert.deepEqual([first.exit, first.stoppedAt], ['timeout', 'apply'], first.message);
      assert.match(`${first.message}`, /node-02/);
      scenario.cluster.nodes.fault('node-02', 'none');
      assert.equal((await run(scenario)).exit, 'done');
    });
  }

  for (const fault of ['image-pull', 'crash-loop'] as const) {
    it(`stops at a node under ${fault}, and the same command continues when it is fixed`, async () => {
      const scenario = await installed();
      scenario.cluster.nodes.fault('node-02', fault);
      const first = await run(scenario);
      assert.deepEqual([first.exit, first.stoppedAt], ['stopped', 'apply'], first.message);
      scenario.cluster.nodes.fault('node-02', 'none');
      assert.equal((await run(scenario)).exit, 'done');
    });
  }

  it('does not write over what a person fixed while it stood still, unless that is accepted', async () => {
    const scenario = await installed();
    scenario.cluster.nodes.fault('node-02', 'crash-loop');
    assert.equal((await run(scenario)).exit, 'stopped');
    const { containers } = podSpecOf(agentsOf(scenario)) as { containers: [{ env: { name: string }[] }] };
    const index = containers[0].env.findIndex(({ name }) => name === 'IP');
    const path = `/spec/template/spec/containers/0/env/${index}/value`;
    await scenario.cluster.patch(
      K.DaemonSet,
      refOf(agentsOf(scenario)),
      [{ op: 'replace', path, value: 'can-reach=10.0.0.1' }],
      'kubectl-set',
    );
    scenario.cluster.nodes.fault('node-02', 'none');
    const { writes } = scenario.cluster.faults;
    assert.deepEqual([(await run(scenario)).exit, scenario.cluster.faults.writes], ['conflicts', writes]);
    assert.match(JSON.stringify(agentsOf(scenario).spec), /can-reach/);
    assert.equal((await run(scenario, { accept: ['NS-208'] })).exit, 'done');
    assert.doesNotMatch(JSON.stringify(agentsOf(scenario).spec), /can-reach/);
  });

  it('continues after being killed at every fifth write, before or after it was stored', async function () {
    this.timeout(240_000);
    const whole = await installed(1);
    await run(whole);
    const wanted = stateOf(whole);
    for (let at = 1; at <= whole.cluster.faults.writes; at += 5) {
      for (const kill of ['before', 'after'] as const) {
        const scenario = await installed(1);
        await killed(scenario, { at, kill });
        const second = await run(scenario);
        assert.equal(second.exit, 'done', `killed ${kill} write ${at}: ${second.message}`);
        assert.deepEqual(stateOf(scenario), wanted);
      }
    }
  });

  const refused: readonly [WriteFault & { status: number }, string][] = [
    [{ at: 2, status: 409 }, 'done'],
    [{ at: 2, status: 500 }, 'done'],
    [{ at: 25, status: 500 }, 'failed'],
    [{ at: 2, status: 403 }, 'failed'],
  ];
  for (const [fault, exit] of refused) {
    it(`ends with ${exit} when write ${fault.at} is refused with ${fault.status}, and continues`, async () => {
      const scenario = await installed(1);
      scenario.cluster.faults.plan(fault);
      assert.equal((await run(scenario)).exit, exit);
      assert.equal((await run(scenario)).exit, 'done');
    });
  }
});

function agentsOf({ cluster }: Scenario): KubeObject {
  return cluster.store.get(K.DaemonSet, 'netsvc-node', 'kube-system') ?? assert.fail('no agents');
}

async function killed(scenario: Scenario, fault: WriteFault): Promise<void> {
  scenario.cluster.faults.plan(fault);
  await run(scenario).catch(() => undefined);
  assert.ok(scenario.cluster.faults.killed, 'the run was to be killed');
}

/** Every object's kind, name and spec, without what differs from run to run. */
function stateOf({ cluster }: Scenario): readonly unknown[] {
  const objects = cluster
    .kinds()
    .filter(({ plural }) => plural !== 'pods')
    .flatMap((kind) => cluster.store.list(kind));
  return objects.map(({ kind, metadata, spec, data }) => ({ kind, name: metadata.name, spec, data }));
}
