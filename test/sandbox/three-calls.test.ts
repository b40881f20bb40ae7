import assert from 'node:assert/strict';
import { CHAINS, COMMANDS } from '../../src/cli/command-names.ts';
import type { KeptReport } from '../../src/cli/documents.ts';
import { effects } from '../../src/cli/effects.ts';
import { runDocument, shownOutcome } from '../../src/cli/ending/run.ts';
import { outputText } from '../../src/cli/output.ts';
import { approve, decided, execute, prepare } from '../../src/engine/prepared.ts';
import { chain, usualChain } from '../../src/features/chain.ts';
import { actionTexts } from '../../src/kernel/effect-type.ts';
import type { Observer } from '../../src/kernel/event.ts';
import { Fault } from '../../src/kernel/fault.ts';
import { History } from '../../src/kernel/history.ts';
import { K } from '../../src/kernel/kinds.ts';
import { containersOf } from '../../src/kube/workload.ts';
import { maskedAction } from '../../src/report/mask.ts';
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

const textOf = actionTexts(effects, (tool) => tool);

/** As `run --context=…` is asked for. */
const askedOn = (name: string) => ({
  ...{ command: 'run', typed: 'run', chain: CHAINS.run, commands: Object.keys(COMMANDS) },
  carried: [{ name: 'context', word: `--context=${name}` }],
});

/** All of it, to the document that `run -o json` prints. */
async function upgrade(scenario: Scenario, at: number) {
  const contextName = `cluster-${at}`;
  const request = { ...requestFor(scenario), context: { ...contextIn(scenario), contextName } };
  const prepared = await prepare(request);
  assert.deepEqual(prepared.questions, [{ kind: 'agree' }]);
  assert.ok(prepared.steps.places.length > 0);
  const { writes } = scenario.cluster.faults;
  assert.throws(
    () => approve(prepared, { agreed: false }),
    (thrown) => thrown instanceof Fault && thrown.code === 'stopped',
  );
  assert.equal(scenario.cluster.faults.writes, writes, 'a plan and a no change nothing');
  const history = new History(scenario.clock.now(), (action) => textOf(maskedAction(effects, action)));
  const observe: Observer = (event) => history.observe(event, scenario.clock.now());
  const outcome = await execute(approve(prepared, { agreed: true }), { observe });
  const told = { ...outcome, history: history.told(scenario.clock.now()), versions: { before: outcome.source } };
  const place = { context: request.context, asked: askedOn(contextName) };
  const { document } = runDocument(shownOutcome(effects, told, place.asked), place);
  return {
    outcome,
    json: JSON.parse(
      await outputText(
        document,
        'json',
        () => [],
        async () => textOf,
      ),
    ) as KeptReport,
    contextName,
  };
}

describe('prepare, approve and execute', () => {
  it('upgrade two clusters at once in one process, without a terminal', async () => {
    const scenarios = [await installedSandbox({ cli: false }), await installedSandbox({ cli: false, nodes: 3 })];
    const ended = await Promise.all(scenarios.map(upgrade));
    for (const [index, { outcome, json, contextName }] of ended.entries()) {
      const scenario = scenarios[index] as Scenario;
      assert.deepEqual([outcome.exit, outcome.message], ['done', undefined]);
      assert.equal(isUpgraded(scenario, json.target), true);
      assert.deepEqual([outcome.record?.clusterUid, outcome.record?.nodes], [scenario.clusterUid, index + 2]);
      assert.deepEqual([json.kind, json.cluster.uid, json.history?.rollouts[0]?.desired], ['RunReport', scenario.clusterUid, index + 2]);
      assert.match(json.next, new RegExp(`^kubectl netsvc-upgrade \\S+ --context=${contextName}$`));
    }
    const again = await prepare(requestFor(scenarios[0] as Scenario));
    assert.deepEqual([again.questions, again.plan.writes], [[], false]);
  });

  it('end on each cluster with its own look at what stopped there', async () => {
    const scenarios = [await installedSandbox({ cli: false }), await installedSandbox({ cli: false })];
    for (const { cluster } of scenarios) cluster.nodes.fault('node-02', 'crash-loop');
    for (const { json, contextName } of await Promise.all(scenarios.map(upgrade))) {
      assert.equal(json.exit.code, 'stopped');
      assert.match(json.next, new RegExp(`^kubectl --context=${contextName} -n kube-system logs `));
      for (const { command = [] } of json.steps)
        if (command[0] === 'kubectl') assert.ok(command.includes(`--context=${contextName}`), command.join(' '));
    }
  });

  it('ask nothing where nothing can be answered, and go on with what was waived', async () => {
    const scenario = await installedSandbox({ cli: false });
    const { clusterUid, state } = scenario;
    state.record = { ...RECORD, clusterUid, intent: { kind: 'rollback', to: contextIn(scenario).goal.release } };
    const prepared = await prepare(requestFor(scenario));
    assert.deepEqual([prepared.plan.blocked, prepared.questions], ['blocked', []]);
    assert.throws(
      () => approve(prepared, { agreed: true }),
      (thrown) => thrown instanceof Fault && thrown.code === 'blocked',
    );
    const context = decided(prepared.context, { accept: [{ check: 'NS-012' }] });
    const again = await prepare({ ...requestFor(scenario), context });
    const { exit, record } = await execute(approve(again, { agreed: true }));
    assert.deepEqual([exit, record?.intent.kind, record?.accepted], ['done', 'upgrade', ['NS-012']]);
  });

  it('stop before old endpoints go, where a policy came between plan and re-check', async () => {
    const scenario = await upgraded();
    const stages = chain.filter(({ id, optional }) => !optional || id === 'hep');
    const approved = approve(await prepare(requestFor(scenario, stages)), { agreed: true });
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
