import assert from 'node:assert/strict';
import { undoOf } from '../../src/cli/stage-command.ts';
import { usualChain } from '../../src/features/chain.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import type { Tools } from '../../src/kernel/argv.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { JsonPatchOp, KubeObject } from '../../src/kernel/object.ts';
import { ownersOf } from '../../src/kube/field-paths.ts';
import { applyJsonPatch } from '../../src/manifest/json-patch.ts';
import { type HeldFleet, heldFleet } from '../support/held-fleet.ts';
import { FLAGS, struckRun } from '../support/held-sweep.ts';
import { kindIn } from '../support/incident-grounds.ts';
import { objectOf } from '../support/inventory.ts';
import { back, FROM, forward, sourceFleet, upgradedFleet } from '../support/operator-back.ts';
import { assertDone, isRead, type LineFault } from '../support/owner-faults.ts';
import { sampled } from '../support/owner-sweep.ts';
import { playedHelm, withKnownChart } from '../support/played-helm.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { type Flags, performIn, sandboxPorts } from '../support/sandbox-ports.ts';
import { seedOf } from '../support/seed.ts';
import { CALICO_TARGET } from '../support/target.ts';

const NODES = 6;
/** For what is run again and again. */
const FEW = 3;
const SAMPLE = Number(process.env.SAMPLE) || 8;
const OURS = { 'max-unavailable': '2' } as const;
const apiVersion = 'operator.tigera.io/v1';

const kindOf = ({ scenario: { cluster } }: HeldFleet) => kindIn(cluster, { apiVersion, kind: 'Installation' });

function installation(fleet: HeldFleet): KubeObject {
  return fleet.scenario.cluster.store.get(kindOf(fleet), 'default') ?? assert.fail('there is no Installation');
}

const strategy = (fleet: HeldFleet): unknown => (installation(fleet).spec as { readonly nodeUpdateStrategy?: unknown }).nodeUpdateStrategy;
const annotations = (fleet: HeldFleet): object =>
  Object.fromEntries(Object.entries(installation(fleet).metadata.annotations ?? {}).filter(([key]) => key.startsWith('netsvc-upgrade/')));

/** Who owns it by managedFields; and everything of which this program is left as an owner. */
function owners(fleet: HeldFleet): readonly string[] {
  const { managedFields = [] } = installation(fleet).metadata;
  const ours = managedFields.filter(({ manager }) => ['netsvc-upgrade', 'kubectl'].includes(manager ?? ''));
  const field = ownersOf(managedFields, 'spec.nodeUpdateStrategy.rollingUpdate.maxUnavailable');
  return [
    ...field.filter(({ manager }) => manager !== 'somebody').map(({ manager, operation }) => `${manager} ${operation}`),
    ...ours.map((entry) => JSON.stringify(entry.fieldsV1)),
  ];
}

/** As a user does, of whichever value is there. */
async function patched(fleet: HeldFleet, ...patch: readonly JsonPatchOp[]): Promise<void> {
  await fleet.scenario.cluster.patch(kindOf(fleet), { apiVersion, kind: 'Installation', name: 'default' }, patch, 'kubectl-edit');
}

const saidOnce = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };
const says = (value: unknown): JsonPatchOp => ({ op: 'add', path: '/spec/nodeUpdateStrategy', value });

/** On so many nodes, with what the operator fills in where its user has said nothing. */
async function pacedFleet(nodes = NODES, value: object | null = saidOnce): Promise<HeldFleet> {
  const fleet = await heldFleet(nodes);
  if (value) await patched(fleet, says(value));
  return fleet;
}

const upgrade = ({ scenario, profile }: HeldFleet, flags: Flags = OURS) =>
  performIn(scenario, usualChain, { ...FLAGS, ...flags }, { profile });

/** The value changes for the first time. */
function whenPaced(fleet: HeldFleet, act: () => void): void {
  const { cluster, clock } = fleet.scenario;
  const before = JSON.stringify(strategy(fleet));
  let isOver = false;
  cluster.store.listen(({ kind }) => {
    if (isOver || kind.plural !== 'installations' || JSON.stringify(strategy(fleet)) === before) return;
    isOver = true;
    clock.schedule(0, act);
  });
}

describe('--max-unavailable where an operator writes the agents', function () {
  this.timeout(120_000);

  it('replaces so many agents at a time, and what was set before comes back', async () => {
    const fleet = await pacedFleet();
    const { exit, message } = await upgrade(fleet, { 'max-unavailable': '50%' });
    assert.deepEqual([exit, message, fleet.worst(), fleet.runs()], ['done', undefined, NODES / 2, [CALICO_TARGET]]);
    assert.deepEqual([strategy(fleet), annotations(fleet), fleet.marks()], [saidOnce, {}, []]);
    assert.deepEqual(owners(fleet), ['kubectl-edit Update'], 'who applies it on the server next meets no conflict');
    assert.equal((await upgrade(fleet, { 'max-unavailable': '50%' })).writes, 0, 'a second run has nothing to do');
  });

  it('leaves nothing where nothing was set before', async () => {
    const fleet = await pacedFleet(NODES, null);
    const { exit, message } = await upgrade(fleet);
    assert.deepEqual([exit, message, fleet.worst()], ['done', undefined, 2]);
    assert.deepEqual([strategy(fleet), annotations(fleet), owners(fleet)], [{}, {}, []]);
  });

  it('takes the place of a surge, as the server takes no two of them, and the surge comes back', async () => {
    const surge = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
    const fleet = await pacedFleet(NODES, surge);
    let meanwhile: unknown;
    whenPaced(fleet, () => {
      meanwhile = strategy(fleet);
    });
    const { exit, message } = await upgrade(fleet);
    assert.deepEqual([exit, message, strategy(fleet)], ['done', undefined, surge]);
    assert.deepEqual(meanwhile, { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 2 } });
  });

  it('says in the plan what is only for a while', async () => {
    const fleet = await pacedFleet();
    const { plans } = await upgrade(fleet, { 'max-unavailable': '10%', 'dry-run': 'server' });
    const notes = plans.flatMap((plan) => plan.notes.map(String)).filter((note) => note.includes('maxUnavailable of'));
    assert.deepEqual(notes, ['maxUnavailable of Installation/default: 1 → 10% while the agents are replaced, put back afterwards']);
    const restarts = plans.flatMap((plan) => plan.restarts ?? []);
    assert.equal(restarts.find(({ ref }) => ref.kind === 'DaemonSet')?.atOnce, 1);
  });

  it('leaves what somebody sets meanwhile, and says so', async () => {
    const fleet = await pacedFleet();
    const theirs = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 3 } };
    whenPaced(fleet, () => void patched(fleet, says(theirs)));
    const { exit, stages } = await upgrade(fleet);
    assert.equal(exit, 'done');
    assert.deepEqual([strategy(fleet), annotations(fleet), owners(fleet)], [theirs, {}, ['kubectl-edit Update']]);
    const told = stages.map(({ because = '' }) => String(because)).join();
    assert.match(
      told,
      /somebody has set spec\.nodeUpdateStrategy\.rollingUpdate\.maxUnavailable of Installation\/default to 3 meanwhile: it was left/,
    );
  });

  it('leaves what somebody sets beside it, and its own comes back', async () => {
    for (const value of [saidOnce, null]) {
      const fleet = await pacedFleet(NODES, value);
      whenPaced(fleet, () => void patched(fleet, { op: 'add', path: '/spec/nodeUpdateStrategy/rollingUpdate/maxSurge', value: 0 }));
      const { exit, message } = await upgrade(fleet);
      assert.deepEqual([exit, message], ['done', undefined]);
      const own = value ? { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } } : { rollingUpdate: { maxSurge: 0 } };
      assert.deepEqual([strategy(fleet), annotations(fleet)], [own, {}]);
    }
  });

  it('keeps what somebody sets beside it where another run sets another pace', async () => {
    const fleet = await sourceFleet(FEW);
    await patched(fleet, says(saidOnce));
    await forward(fleet, { flags: OURS, fault: await firstPaced() });
    const paced = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2, maxSurge: 0 } };
    fleet.scenario.cluster.store.update(kindOf(fleet), applyJsonPatch(installation(fleet), [says(paced)]));
    const { outcome } = await forward(fleet, { flags: { 'max-unavailable': '3' } });
    assertDone(outcome, 'the run');
    const own = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } };
    assert.deepEqual([strategy(fleet), annotations(fleet)], [own, {}]);
  });

  it('is refused where the operator takes it from elsewhere, before anything is written', async () => {
    const fleet = await pacedFleet();
    fleet.scenario.cluster.registry.create(
      kindOf(fleet),
      objectOf(apiVersion, 'Installation', 'overlay', { spec: { nodeUpdateStrategy: saidOnce } }),
      { manager: 'somebody' },
    );
    const { scenario, profile } = fleet;
    const { exit, message, writes } = await performIn(scenario, [applyStage], { ...FLAGS, ...OURS }, { profile });
    assert.deepEqual([exit, writes], ['usage', 0]);
    assert.match(message ?? '', /^--max-unavailable has no effect: Installation\/overlay sets spec\.nodeUpdateStrategy/);
  });

  it('is refused where it is not known from where an operator takes it', async () => {
    const { scenario, profile } = await pacedFleet();
    const { agentStrategy: _, ...operator } = profile.operator;
    const { exit, message, writes } = await performIn(scenario, [applyStage], { ...FLAGS, ...OURS }, { profile: { ...profile, operator } });
    assert.deepEqual([exit, writes], ['usage', 0]);
    assert.match(
      message ?? '',
      /^--max-unavailable is not possible on an installation by operator: where its operator takes the pace from is not known$/,
    );
  });

  it('is named by status where a run was killed, also without its record', async () => {
    const fleet = await sourceFleet(FEW);
    await patched(fleet, says(saidOnce));
    await forward(fleet, { flags: OURS, fault: await firstPaced() });
    const looked = async () => {
      const status = sandboxCommand(fleet.scenario);
      assert.equal(await status.run('status'), 0, status.err());
      return status.out();
    };
    const line =
      'maxUnavailable 2 in Installation/default, for this run alone. Its own comes back with the next run: kubectl netsvc-upgrade run';
    assert.ok((await looked()).replaceAll(/\s+/g, ' ').includes(line));
    const { store } = fleet.scenario.cluster;
    for (const { metadata } of store.list(K.Secret))
      if (metadata.name.startsWith('netsvc-upgrade-')) store.delete(K.Secret, metadata.name, metadata.namespace);
    assert.ok((await looked()).replaceAll(/\s+/g, ' ').includes(line));
  });

  it('is named by verify and status where it is left after the end of a run', async () => {
    const fleet = await pacedFleet(FEW);
    assertDone(await upgrade(fleet), 'the upgrade');
    const annotation = JSON.stringify({ former: saidOnce.rollingUpdate, ours: { maxUnavailable: 2 } });
    const { store } = fleet.scenario.cluster;
    store.update(
      kindOf(fleet),
      applyJsonPatch(installation(fleet), [
        says({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } }),
        { op: 'add', path: '/metadata/annotations', value: { 'netsvc-upgrade/pace': annotation } },
      ]),
    );
    const said = async (...argv: readonly string[]) => {
      const bench = sandboxCommand(fleet.scenario, fleet.profile);
      await bench.run(...argv, '--release', CALICO_TARGET);
      return bench.out() + bench.err();
    };
    assert.match((await said('status')).replaceAll(/\s+/g, ' '), /maxUnavailable 2 in Installation\/default, for this run alone/);
    const finding = /^× NS-313 .*\n(?: {4}.*\n)*/m.exec(await said('verify'))?.[0] ?? '';
    assert.match(finding, /left its pace on Installation\/default\n/);
    assert.match(finding, /next: kubectl netsvc-upgrade apply --release=\S+ --undo\n/);
    await said('apply', '--undo', '--yes');
    assert.deepEqual([strategy(fleet), annotations(fleet)], [saidOnce, {}]);
    assert.match(await said('verify'), /^√ NS-313 /m);
  });

  it('is no promise of status where somebody has set another value since', async () => {
    const fleet = await sourceFleet(FEW);
    await patched(fleet, says(saidOnce));
    await forward(fleet, { flags: OURS, fault: await firstPaced() });
    const theirs = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 5 } };
    fleet.scenario.cluster.store.update(kindOf(fleet), applyJsonPatch(installation(fleet), [says(theirs)]));
    const status = sandboxCommand(fleet.scenario);
    assert.equal(await status.run('status'), 0, status.err());
    const said = status.out().replaceAll(/\s+/g, ' ');
    assert.match(
      said,
      /maxUnavailable 5 in Installation\/default: somebody has set it over that of this run, so it stays\. The annotation goes with the next run: kubectl netsvc-upgrade run/,
    );
    assert.doesNotMatch(said, /Its own comes back/);
    const json = sandboxCommand(fleet.scenario);
    assert.equal(await json.run('status', '-o', 'json'), 0, json.err());
    assert.equal(JSON.parse(json.out()).strategy.overridden, true);
  });

  it('is put back by a rollback, and by `apply --undo`', async () => {
    for (const isUndo of [false, true]) {
      const fleet = await sourceFleet(FEW);
      await patched(fleet, says(saidOnce));
      const { requests } = await forward(fleet, { flags: OURS, fault: await firstPaced() });
      assert.match(requests.at(-1) ?? '', /^patch installations/);
      assert.notDeepEqual(strategy(fleet), saidOnce);
      const { outcome } = await (isUndo ? forward(fleet, { stages: undoOf([applyStage]) }) : back(fleet));
      assertDone(outcome, isUndo ? 'the undo' : 'the rollback');
      assert.deepEqual([strategy(fleet), annotations(fleet), fleet.marks()], [saidOnce, {}, []]);
    }
  });

  it('sets the pace of a rollback as well', async () => {
    const fleet = await upgradedFleet(FEW);
    await patched(fleet, says(saidOnce));
    const seen = new Set<string>();
    fleet.scenario.cluster.store.listen(({ kind }) => {
      if (kind.plural === 'installations') seen.add(JSON.stringify(strategy(fleet)));
    });
    const { outcome } = await back(fleet, { flags: OURS });
    assertDone(outcome, 'the rollback');
    assert.deepEqual([strategy(fleet), annotations(fleet), fleet.runs()], [saidOnce, {}, [FROM]]);
    assert.ok(
      [...seen].some((text) => text.includes('"maxUnavailable":2')),
      [...seen].join(),
    );
  });

  it('is never there while helm upgrades the release, and comes back', async () => {
    const fleet = await heldFleet(FEW, 'chart');
    await patched(fleet, says(saidOnce));
    for (const fault of [true, false]) {
      const { outcome, found } = await byChart(fleet, fault);
      assert.deepEqual(
        found.filter((value) => value !== JSON.stringify(saidOnce)),
        [],
      );
      const notes = outcome?.plans.flatMap((plan) => plan.notes.map(String)) ?? [];
      assert.equal(notes.filter((note) => note.includes('the first agents may be replaced at the former pace')).length, fault ? 1 : 0);
      if (!fault) assertDone(outcome, 'the upgrade');
      else assert.notDeepEqual(strategy(fleet), saidOnce);
    }
    assert.deepEqual([strategy(fleet), annotations(fleet), fleet.runs(), fleet.marks()], [saidOnce, {}, [CALICO_TARGET], []]);
  });

  it('loses no value that helm itself brings, also where it is the one of the run', async () => {
    const fleet = await heldFleet(FEW, 'chart');
    await patched(fleet, says(saidOnce));
    const brought = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } };
    const { outcome } = await byChart(fleet, false, { flags: OURS, brings: () => patched(fleet, says(brought)) });
    assertDone(outcome, 'the upgrade');
    assert.deepEqual([strategy(fleet), annotations(fleet), fleet.runs()], [brought, {}, [CALICO_TARGET]]);
  });

  const seed = seedOf(process.env, 20261129);
  it(`is put back by the next run, wherever this one was killed: after each write, and at ${SAMPLE} points of the sweep (SEED=${seed})`, async () => {
    const points = await pacedPoints();
    const writes = points.filter(({ type }) => type === 'kill-after');
    let foundOurs = 0;
    for (const point of [...writes, ...sampled(points, SAMPLE, seed)]) {
      const fleet = await pacedFleet(FEW);
      const { requests } = await struckRun(fleet, point, OURS);
      const what = `${point.type} ${point.at}: ${requests.at(-1)}`;
      const isOurs = JSON.stringify(strategy(fleet)) !== JSON.stringify(saidOnce);
      assert.equal(Object.keys(annotations(fleet)).length > 0, isOurs, what);
      foundOurs += isOurs ? 1 : 0;
      const { outcome } = await struckRun(fleet);
      const open = outcome?.findings.filter((one) => one.outcome === 'error').map(({ id, message }) => `${id} ${message}`);
      assert.deepEqual([outcome?.exit, outcome?.message, open], ['done', undefined, []], what);
      assert.deepEqual([fleet.runs(), fleet.marks(), strategy(fleet), annotations(fleet)], [[CALICO_TARGET], [], saidOnce, {}], what);
      // A kill right between the two writes that put it back leaves no owner, which nobody meets a conflict with.
      assert.ok(['kubectl-edit Update', ''].includes(owners(fleet).join()), `${owners(fleet).join()}: ${what}`);
      assert.ok(fleet.worst() <= 2, `${fleet.worst()}: ${what}`);
    }
    assert.ok(foundOurs > 0, 'some were killed while it was ours');
  });
});

/** Right after the first write to the Installation. */
async function firstPaced(): Promise<LineFault> {
  const fleet = await sourceFleet(FEW);
  await patched(fleet, says(saidOnce));
  const { requests } = await forward(fleet, { flags: OURS });
  return { at: requests.findIndex((what) => what.startsWith('patch installations')) + 1, type: 'kill-after' };
}

/** What helm finds in the Installation whenever it writes; `isKilled` once the pace is set. */
async function byChart(fleet: HeldFleet, isKilled: boolean, more: { readonly flags?: Flags; readonly brings?: () => Promise<void> } = {}) {
  const { scenario, profile } = fleet;
  const ports = sandboxPorts(scenario);
  const helm = playedHelm(scenario, ports.tools);
  const found: string[] = [];
  const tools: Tools = {
    ...helm,
    async run(invocation, options) {
      const isUpgrade = invocation.tool === 'helm' && invocation.args[0] === 'upgrade' && !invocation.args.includes('--dry-run=server');
      if (isUpgrade) found.push(JSON.stringify(strategy(fleet)));
      const result = await helm.run(invocation, options);
      if (isUpgrade) await more.brings?.();
      return result;
    },
  };
  if (isKilled)
    whenPaced(fleet, () => {
      scenario.cluster.faults.killed = true;
    });
  const flags = { ...FLAGS, ...(isKilled ? OURS : {}), ...more.flags };
  const outcome = await performIn(scenario, usualChain, flags, {
    profile,
    ports: { ...ports, tools, artifacts: withKnownChart(ports.artifacts) },
  }).catch(() => undefined);
  return { outcome, found };
}

/** Every request from the first write to the Installation on, at which a process can be killed. */
async function pacedPoints(): Promise<readonly LineFault[]> {
  const { requests } = await struckRun(await pacedFleet(FEW), undefined, OURS);
  const first = requests.findIndex((what) => what.startsWith('patch installations'));
  assert.ok(first > 0, requests.join());
  return requests.flatMap((what, index) => {
    if (index < first - 3) return [];
    const types = isRead(what) ? (['kill-before'] as const) : (['kill-before', 'kill-after'] as const);
    return types.map((type) => ({ at: index + 1, type }));
  });
}
