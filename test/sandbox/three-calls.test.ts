import assert from 'node:assert/strict';
import { approve, execute, prepare } from '../../src/engine/prepared.ts';
import { chain, usualChain } from '../../src/features/chain.ts';
import { Fault } from '../../src/kernel/fault.ts';
import { K } from '../../src/kernel/kinds.ts';
import { containersOf } from '../../src/kube/workload.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { RECORD } from '../fixtures/stored-record.ts';
import { endpoints, kindOf, put, upgraded } from '../support/hep-sandbox.ts';
import { contextIn, installedSandbox, sandboxPorts } from '../support/sandbox-ports.ts';

const requestFor = (scenario: Scenario, stages = usualChain) => ({ stages, context: contextIn(scenario), ports: sandboxPorts(scenario) });

const isUpgraded = ({ cluster }: Scenario, release: string) =>
  cluster.store
    .list(K.DaemonSet)
    .flatMap(containersOf)
    .every(({ image = '' }) => image.endsWith(`:${release}`));

async function upgrade(scenario: Scenario) {
  const request = requestFor(scenario);
  const prepared = await prepare(request);
  assert.deepEqual(prepared.questions, [{ kind: 'agree' }]);
  assert.ok(prepared.steps.places.length > 0);
  const { writes } = scenario.cluster.faults;
  await assert.rejects(approve(prepared, { agreed: false }), (thrown) => thrown instanceof Fault && thrown.code === 'stopped');
  assert.equal(scenario.cluster.faults.writes, writes, 'a plan and a no change nothing');
  const outcome = await execute(await approve(prepared, { agreed: true }));
  return { outcome, release: request.context.goal.release };
}

describe('prepare, approve and execute', () => {
  it('upgrade two clusters at once in one process, without a terminal', async () => {
    const scenarios = [await installedSandbox({ cli: false }), await installedSandbox({ cli: false, nodes: 3 })];
    const ended = await Promise.all(scenarios.map(upgrade));
    for (const [index, { outcome, release }] of ended.entries()) {
      const scenario = scenarios[index] as Scenario;
      assert.deepEqual([outcome.exit, outcome.message], ['done', undefined]);
      assert.equal(isUpgraded(scenario, release), true);
      assert.deepEqual([outcome.record?.clusterUid, outcome.record?.nodes], [scenario.clusterUid, index + 2]);
    }
    const again = await prepare(requestFor(scenarios[0] as Scenario));
    assert.deepEqual([again.questions, again.plan.writes], [[], false]);
  });

  it('ask nothing where nothing can be answered, and go on with what was waived', async () => {
    const scenario = await installedSandbox({ cli: false });
    const { clusterUid, state } = scenario;
    state.record = { ...RECORD, clusterUid, intent: { kind: 'rollback', to: contextIn(scenario).goal.release } };
    const prepared = await prepare(requestFor(scenario));
    assert.deepEqual([prepared.plan.blocked, prepared.questions], ['blocked', []]);
    await assert.rejects(approve(prepared, { agreed: true }), (thrown) => thrown instanceof Fault && thrown.code === 'blocked');
    const approved = await approve(prepared, { agreed: true, accept: [{ check: 'NS-012' }] });
    const { exit, record } = await execute(approved, { leavesRun: 'NS-012' });
    assert.deepEqual([exit, record?.intent.kind, record?.accepted], ['done', 'upgrade', ['NS-012']]);
  });

  it('stop before old endpoints go, where a policy came between plan and re-check', async () => {
    const scenario = await upgraded();
    const stages = chain.filter(({ id, optional }) => !optional || id === 'hep');
    const approved = await approve(await prepare(requestFor(scenario, stages)), { agreed: true });
    const settings = kindOf(scenario.cluster, 'kubecontrollersconfigurations').plural;
    let came = false;
    scenario.cluster.store.listen(({ kind }) => {
      if (came || kind.plural !== settings) return;
      came = true;
      put(scenario, 'GlobalNetworkPolicy', 'came-between', { selector: 'has(netsvc.io/created-by)', types: ['Ingress'] });
    });
    const { exit, stoppedAt, findings } = await execute(approved);
    assert.ok(came, 'the migration had begun');
    assert.deepEqual([exit, stoppedAt], ['blocked', 'hep']);
    assert.match(
      findings
        .filter(({ outcome }) => outcome === 'error')
        .map(({ id }) => id)
        .join(),
      /^NS-71\d/,
    );
    const old = endpoints(scenario).filter(({ metadata }) => metadata.name.startsWith('old-'));
    assert.equal(old.length, 3, 'every host has its endpoint');
  });
});
