import assert from 'node:assert/strict';
import { goalBack } from '../../src/cli/rollback-goal.ts';
import { runChain } from '../../src/engine/run-chain.ts';
import { chains, usualChain } from '../../src/features/chain.ts';
import type { KeptChanges } from '../../src/kernel/action.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { changeTo } from '../../src/kernel/object-change.ts';
import type { RunRecord } from '../../src/kernel/run-record.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { INJECTION, meshObjects, NEW, OLD, templateOf } from '../support/mesh-objects.ts';
import { assertDone } from '../support/owner-faults.ts';
import { contextIn, type Flags, installedSandbox, performIn, sandboxPorts, writeCniVersion } from '../support/sandbox-ports.ts';

const COMMON: Flags = { yes: true };
/** The template of the mesh is played. */
const FORWARD = usualChain.filter(({ id }) => id !== 'alp' && id !== 'cli');

const injector = ({ cluster: { store } }: Scenario): KubeObject =>
  store.get(K.ConfigMap, INJECTION.configMap, INJECTION.namespace) ?? assert.fail();
const configOf = (scenario: Scenario) => (injector(scenario).data as Readonly<Record<string, string>>).config;
const recordOf = async (scenario: Scenario): Promise<RunRecord> => (await sandboxPorts(scenario).records.load()) ?? assert.fail();

/** An upgraded cluster whose run gave the injector of a mesh its new template. */
async function upgraded(): Promise<Scenario> {
  const scenario = await installedSandbox({ cli: false });
  assertDone(await performIn(scenario, FORWARD, COMMON), 'the upgrade');
  for (const object of meshObjects(templateOf(NEW)) as readonly KubeObject[]) {
    const kind = [K.ConfigMap, K.Deployment].find((one) => one.kind === object.kind);
    scenario.cluster.store.insert(kind ?? assert.fail(), object);
  }
  const former = { ...injector(scenario), data: { config: templateOf(OLD) } };
  const kept: KeptChanges = { changes: [changeTo(former, { '/data/config': templateOf(NEW) })] };
  const { runId } = await recordOf(scenario);
  scenario.state.kept.set(`${runId}/alp/template-${INJECTION.configMap}#99`, JSON.stringify(kept));
  await scenario.clock.sleep(60_000);
  return scenario;
}

/** What the new release has. */
const NEW_CNI = '1.0.0';
const cniOf = ({ cluster: { store } }: Scenario) => store.get(K.ConfigMap, 'netsvc-config', 'kube-system')?.data;

const goalOf = (scenario: Scenario) =>
  goalBack(sandboxPorts(scenario).records, {
    clusterUid: scenario.clusterUid,
    profile: netsvc,
    readRecord: (content) => content as RunRecord,
  });

/** A new process takes the recorded upgrade back. */
async function back(scenario: Scenario) {
  const goal = await goalOf(scenario);
  const context = { ...contextIn(scenario, COMMON), goal, intent: { kind: 'rollback' } as const };
  return runChain(chains.rollback, sandboxPorts(scenario), context, () => undefined, { leavesRun: 'NS-012' });
}

/** And one goes forward again, and is killed when it has saved its record if that is asked for. */
function forward(scenario: Scenario, isKilled = false) {
  const context = contextIn(scenario, { ...COMMON, accept: ['NS-012'] });
  const ports = sandboxPorts(scenario);
  const save = async (record: RunRecord) => {
    await ports.records.save(record);
    scenario.cluster.faults.killed = isKilled;
    scenario.cluster.faults.alive();
  };
  const bad = { ...ports, records: { ...ports.records, save } };
  return runChain(FORWARD, bad, context, () => undefined, { leavesRun: 'NS-012' });
}

/** The rollback is killed before its first write. */
async function killedBack(scenario: Scenario): Promise<void> {
  const { faults } = scenario.cluster;
  faults.plan({ at: faults.writes + 1, kill: 'before' });
  await back(scenario).catch(() => undefined);
  revived(scenario);
}

/** An upgrade that had written, and not come to the manifest: it has kept nothing. */
async function endedBeforeManifest(scenario: Scenario): Promise<void> {
  await forward(scenario, true).catch(() => undefined);
  revived(scenario);
  const record = await recordOf(scenario);
  assert.deepEqual([record.intent.kind, record.kept], ['upgrade', []]);
  await sandboxPorts(scenario).records.save({ ...record, wrote: ['crds'] });
  await scenario.clock.sleep(60_000);
}

function revived(scenario: Scenario): void {
  scenario.cluster.faults.revive();
  scenario.state.holder = undefined;
}

describe('a rollback that was killed, after which the run went forward again', function () {
  this.timeout(60_000);

  it('can be taken back as a whole: what the first run wrote and backed up is known to the second', async () => {
    const scenario = await upgraded();
    const first = await recordOf(scenario);
    await killedBack(scenario);
    assert.equal((await recordOf(scenario)).intent.kind, 'rollback');
    assert.equal(configOf(scenario), templateOf(NEW), 'it was killed before it put the template back');
    // So that there is something to do.
    scenario.cluster.store.delete(K.ServiceAccount, 'netsvc-node', 'kube-system');
    await scenario.clock.sleep(60_000);
    assertDone(await forward(scenario), 'forward');
    const second = await recordOf(scenario);
    assert.notEqual(second.runId, first.runId);
    assert.deepEqual([second.intent.from, second.backup], [first.intent.from, first.backup]);
    assert.deepEqual(
      first.wrote.filter((id) => !second.wrote.includes(id)),
      [],
    );
    await scenario.clock.sleep(60_000);
    const { takesBack } = await goalOf(scenario);
    assert.deepEqual([takesBack?.since, takesBack?.backup], [first.runId, first.backup]);
    assertDone(await back(scenario), 'back again');
    assert.equal(configOf(scenario), templateOf(OLD));
  });

  it('keeps what was the user’s over several rounds: of all that went forward the last that kept it counts', async () => {
    const scenario = await installedSandbox({ cli: false });
    const { store } = scenario.cluster;
    const agents = store.get(K.DaemonSet, 'netsvc-node', 'kube-system') ?? assert.fail();
    store.update(K.DaemonSet, {
      ...agents,
      metadata: { ...agents.metadata, annotations: { ...agents.metadata.annotations, mine: 'yes' } },
    });
    await endedBeforeManifest(scenario);
    await killedBack(scenario);
    assert.equal((await recordOf(scenario)).intent.kind, 'rollback');
    await scenario.clock.sleep(60_000);
    assertDone(await forward(scenario), 'forward');
    await scenario.clock.sleep(60_000);
    await killedBack(scenario);
    scenario.cluster.store.delete(K.ServiceAccount, 'netsvc-node', 'kube-system');
    await scenario.clock.sleep(60_000);
    await forward(scenario, true).catch(() => undefined);
    revived(scenario);
    await scenario.clock.sleep(60_000);
    assertDone(await forward(scenario), 'forward again');
    await scenario.clock.sleep(60_000);
    assertDone(await back(scenario), 'back');
    const after = store.get(K.DaemonSet, 'netsvc-node', 'kube-system');
    assert.equal(after?.metadata.annotations?.mine, 'yes');
  });

  it('loses nothing where the upgrade had not come to the manifest: not even what the new release has as well', async () => {
    const scenario = await installedSandbox({ cli: false });
    writeCniVersion(scenario, NEW_CNI);
    const before = cniOf(scenario);
    await endedBeforeManifest(scenario);
    assertDone(await back(scenario), 'back');
    assert.deepEqual(cniOf(scenario), before);
  });

  it('can be taken back also where the run forward was killed when its record was there, and not yet the changes that it carries', async () => {
    const scenario = await upgraded();
    await killedBack(scenario);
    // So that there is something to do.
    scenario.cluster.store.delete(K.ServiceAccount, 'netsvc-node', 'kube-system');
    await scenario.clock.sleep(60_000);
    await forward(scenario, true).catch(() => undefined);
    revived(scenario);
    const { runId, intent, kept, resumes } = await recordOf(scenario);
    assert.deepEqual([intent.kind, kept.filter((id) => id.startsWith(runId)), resumes !== undefined], ['upgrade', [], true]);
    await scenario.clock.sleep(60_000);
    assertDone(await forward(scenario), 'forward');
    await scenario.clock.sleep(60_000);
    assertDone(await back(scenario), 'back again');
  });
});

describe('a rollback that is over', function () {
  this.timeout(60_000);

  it('leaves what the user changed since, even to what the newer release has, when it is asked for again', async () => {
    const scenario = await installedSandbox({ cli: false });
    assertDone(await performIn(scenario, FORWARD, COMMON), 'the upgrade');
    await scenario.clock.sleep(60_000);
    assertDone(await back(scenario), 'back');
    await scenario.clock.sleep(60_000);
    writeCniVersion(scenario, NEW_CNI);
    const changed = cniOf(scenario);
    assert.match(JSON.stringify(changed), /1\.0\.0/);
    assertDone(await back(scenario), 'back again');
    assert.deepEqual(cniOf(scenario), changed);
    await scenario.clock.sleep(60_000);
    writeCniVersion(scenario, '0.4.0', NEW_CNI);
    assertDone(await back(scenario), 'nothing is to be decided');
    assert.match(JSON.stringify(cniOf(scenario)), /0\.4\.0/);
  });

  it('takes nothing of a newer release back that somebody applied since', async () => {
    const scenario = await installedSandbox({ cli: false });
    assertDone(await performIn(scenario, FORWARD, COMMON), 'the upgrade');
    await scenario.clock.sleep(60_000);
    const { store } = scenario.cluster;
    const agents = () => store.get(K.DaemonSet, 'netsvc-node', 'kube-system') ?? assert.fail();
    const { spec } = agents();
    assertDone(await back(scenario), 'back');
    store.update(K.DaemonSet, { ...agents(), spec });
    await scenario.clock.sleep(600_000);
    const before = agents().metadata.resourceVersion;
    const outcome = await back(scenario);
    assert.equal(outcome.exit, 'blocked');
    assert.match(String(outcome.message), /the rollback to v3\.26\.4 is over, and v\S+ is installed again/);
    assert.equal(agents().metadata.resourceVersion, before);
  });
});
