import assert from 'node:assert/strict';
import { sliceOf, undoOf } from '../../src/cli/stage-command.ts';
import { usualChain } from '../../src/features/chain.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { K } from '../../src/kernel/kinds.ts';
import { containersOf } from '../../src/kube/workload.ts';
import { type HeldFleet, heldFleet } from '../support/held-fleet.ts';
import { FLAGS } from '../support/held-sweep.ts';
import { back, FROM, forward, sourceFleet } from '../support/operator-back.ts';
import { assertDone, isRead, type LineFault } from '../support/owner-faults.ts';
import { sampled } from '../support/owner-sweep.ts';
import { playedHelm, withKnownChart } from '../support/played-helm.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { type Flags, performIn, sandboxPorts } from '../support/sandbox-ports.ts';
import { seedOf } from '../support/seed.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { ailing } from './ailing-pods.ts';

const NODES = 3;
const SAMPLE = Number(process.env.SAMPLE) || 8;
const UNTIL = { until: 'agents' } as const;
const stages = sliceOf(UNTIL)(usualChain);
const HELD = ['calico-kube-controllers', 'calico-typha'];
const TYPED = ['--yes', '--skip', 'cli', '--accept', 'NS-301', '--profile', 'calico', '--release', CALICO_TARGET] as const;

const tagOf = ({ scenario: { cluster } }: HeldFleet, kind: typeof K.Deployment, name: string): string =>
  containersOf(cluster.store.get(kind, name, 'calico-system') ?? assert.fail(`there is no ${name}`))[0]
    ?.image?.split(':')
    .at(-1) ?? '';
const held = (fleet: HeldFleet): readonly string[] => HELD.map((name) => tagOf(fleet, K.Deployment, name));
const agents = (fleet: HeldFleet): string => tagOf(fleet, K.DaemonSet, 'calico-node');
const isStopped = (fleet: HeldFleet): boolean => fleet.marks().filter((mark) => mark.startsWith('Deployment')).length === 2 * HELD.length;

/** Whether one of them was ever of another release than at first. */
function watched(fleet: HeldFleet): { readonly left: boolean } {
  const seen = { left: false };
  fleet.scenario.cluster.store.listen(({ kind }) => {
    if (kind.plural === K.Deployment.plural && held(fleet).some((tag) => tag !== FROM)) seen.left = true;
  });
  return seen;
}

describe('--until agents where an operator replaces all of it', function () {
  this.timeout(240_000);

  it('ends with the agents new, Typha and the controllers old, says so, and commit continues', async () => {
    const fleet = await sourceFleet(NODES);
    const seen = watched(fleet);
    const until = sandboxCommand(fleet.scenario, fleet.profile);
    assert.equal(await until.run('run', ...TYPED, '--until', 'agents'), 0, until.err());
    assert.deepEqual([agents(fleet), held(fleet), seen.left, isStopped(fleet)], [CALICO_TARGET, [FROM, FROM], false, true]);
    assert.match(until.out(), /\nNext: kubectl netsvc-upgrade status /);
    const status = sandboxCommand(fleet.scenario, fleet.profile);
    assert.equal(await status.run('status'), 0);
    const said = status.out().replaceAll(/\s+/g, ' ');
    assert.match(
      said,
      /held: Deployment\/calico-system\/calico-typha, Deployment\/calico-system\/calico-kube-controllers by run \S+: the operator does not change them/,
    );
    assert.match(said, /stopped on purpose, --until agents, for .*Open: Typha, controllers, wait, ownerrefs-restore/);
    assert.match(said, /the new v3 API do not find a policy of the default tier by its plain name/);
    assert.match(status.out(), /\nNext: kubectl netsvc-upgrade commit /);
    const again = sandboxCommand(fleet.scenario, fleet.profile);
    assert.equal(await again.run('run', ...TYPED, '--until', 'agents'), 0, again.err());
    assert.deepEqual([held(fleet), seen.left, isStopped(fleet)], [[FROM, FROM], false, true]);
    const went = sandboxCommand(fleet.scenario, fleet.profile);
    assert.equal(await went.run('commit', ...TYPED), 0, went.err());
    assert.deepEqual([fleet.runs(), fleet.marks()], [[CALICO_TARGET], []]);
    const end = sandboxCommand(fleet.scenario, fleet.profile);
    await end.run('status');
    assert.doesNotMatch(end.out(), /--until|held:/);
  });

  it('tells wait alone what it waits for in vain, and with what that comes', async () => {
    const fleet = await sourceFleet(NODES);
    assertDone((await forward(fleet, { stages, flags: UNTIL })).outcome, 'the run');
    const { outcome } = await forward(fleet, { stages: usualChain.filter(({ id }) => id === 'wait') });
    assert.equal(outcome?.exit, 'timeout');
    assert.match(
      outcome?.message ?? '',
      /Deployment\/calico-system\/calico-typha: runs \S+:v3\.31\.7, not v3\.32\.1; an unfinished run of this program holds it/,
    );
    const steps = outcome?.steps.join('\n') ?? '';
    assert.match(steps, /what is held comes once its run continues: kubectl netsvc-upgrade commit/);
    assert.doesNotMatch(steps, /run the same command again/);
  });

  it('has in the plan of commit what restarts then', async () => {
    const fleet = await sourceFleet(NODES);
    assertDone((await forward(fleet, { stages, flags: UNTIL })).outcome, 'the run');
    const { outcome } = await forward(fleet, { flags: { 'dry-run': 'server' } });
    const restarts = outcome?.plans.flatMap((plan) => plan.restarts ?? []).map(({ ref }) => ref.name) ?? [];
    assert.deepEqual(restarts.toSorted(), HELD);
  });

  it('is over in status where somebody has removed the hold: what the operator has replaced since is not open', async () => {
    const fleet = await sourceFleet(NODES);
    const until = sandboxCommand(fleet.scenario, fleet.profile);
    assert.equal(await until.run('run', ...TYPED, '--until', 'agents'), 0, until.err());
    const looked = async () => {
      const status = sandboxCommand(fleet.scenario, fleet.profile);
      assert.equal(await status.run('status'), 0);
      return status.out().replaceAll(/\s+/g, ' ');
    };
    released(fleet, 'calico-typha');
    assert.match(await looked(), /stopped on purpose, --until agents, for \S+ Open: Typha \(not held any more\), controllers, wait,/);
    await fleet.scenario.clock.sleep(60_000);
    assert.match(await looked(), /stopped on purpose, --until agents, for \S+ Open: controllers, wait,/);
    released(fleet, 'calico-kube-controllers');
    await fleet.scenario.clock.sleep(60_000);
    const over = await looked();
    assert.match(over, /--until agents is over: Typha and the controllers have the new release by now\. Open: wait, ownerrefs-restore,/);
    assert.doesNotMatch(over, /stopped on purpose|do not find a policy/);
    assert.match(over, /Next: kubectl netsvc-upgrade commit/);
  });

  it('is taken back by a rollback, with nothing held in the end', async () => {
    const fleet = await sourceFleet(NODES);
    const seen = watched(fleet);
    assertDone((await forward(fleet, { stages, flags: UNTIL })).outcome, 'the run');
    assert.ok(isStopped(fleet));
    assertDone((await back(fleet)).outcome, 'the rollback');
    assert.deepEqual([fleet.runs(), fleet.marks(), seen.left, fleet.refused()], [[FROM], [], false, 0]);
  });

  it('is released by `apply --undo` only by name: the new operator would go forward', async () => {
    const fleet = await sourceFleet(NODES);
    const seen = watched(fleet);
    assertDone((await forward(fleet, { stages, flags: UNTIL })).outcome, 'the run');
    const undo = (flags: Flags = {}) => forward(fleet, { stages: undoOf([applyStage]), flags });
    const { outcome: refused } = await undo();
    const [finding] = refused?.findings.filter(({ outcome }) => outcome === 'error') ?? [];
    assert.deepEqual([refused?.exit, finding?.id, seen.left, isStopped(fleet)], ['blocked', 'NS-251', false, true]);
    assert.match(
      finding?.message ?? '',
      /the new operator runs and the controllers are old: it replaces them at once when the hold is removed/,
    );
    assert.deepEqual(
      [finding?.evidence?.map(({ text }) => text), finding?.next?.plain],
      [['Deployment/calico-system/calico-kube-controllers'], 'kubectl netsvc-upgrade commit'],
    );
    assert.match(String(finding?.hint), /kubectl netsvc-upgrade rollback/);
    const accept = ['NS-301', 'NS-251=Deployment/calico-system/calico-kube-controllers'];
    assertDone((await undo({ accept })).outcome, 'the undo');
    assert.deepEqual(fleet.marks(), []);
  });

  it('is released by `apply --undo` as long as the old operator runs', async () => {
    const fleet = await sourceFleet(NODES);
    const { requests } = await forward(await sourceFleet(NODES), { stages, flags: UNTIL });
    const at = requests.indexOf('patch deployments/calico-kube-controllers') + 1;
    await forward(fleet, { stages, flags: UNTIL, fault: { at, type: 'kill-after' } });
    assert.ok(isStopped(fleet));
    assertDone((await forward(fleet, { stages: undoOf([applyStage]) })).outcome, 'the undo');
    assert.deepEqual([fleet.marks(), fleet.runs()], [[], [FROM]]);
  });

  it('is the same where helm starts the operator', async () => {
    const fleet = await heldFleet(NODES, 'chart');
    const { scenario, profile } = fleet;
    const perform = (flags: Flags, of = usualChain) => {
      const ports = sandboxPorts(scenario);
      const [tools, artifacts] = [playedHelm(scenario, ports.tools), withKnownChart(ports.artifacts)];
      return performIn(scenario, of, { ...FLAGS, ...flags }, { profile, ports: { ...ports, tools, artifacts } });
    };
    const before = held(fleet);
    assertDone(await perform(UNTIL, stages), 'the run');
    assert.deepEqual([agents(fleet), held(fleet), isStopped(fleet)], [CALICO_TARGET, before, true]);
    assertDone(await perform({}), 'what continues it');
    assert.deepEqual([fleet.runs(), fleet.marks()], [[CALICO_TARGET], []]);
  });

  it('says in the plan what stays, and restarts neither', async () => {
    const fleet = await sourceFleet(NODES);
    const { outcome } = await forward(fleet, { stages, flags: { ...UNTIL, 'dry-run': 'server' } });
    const notes = outcome?.plans.flatMap((plan) => plan.notes.map(String)).join('\n') ?? '';
    assert.match(
      notes,
      /calico-typha and Deployment\/calico-system\/calico-kube-controllers get the annotation \S+: the operator does not change them until you continue\. All else is new then, the v3 API server too/,
    );
    const restarts = outcome?.plans.flatMap((plan) => plan.restarts ?? []).map(({ ref }) => ref.name) ?? [];
    assert.ok(restarts.includes('calico-node') && !HELD.some((name) => restarts.includes(name)), restarts.join());
  });

  it('is refused where an operator cannot be kept from anything, before anything is written', async () => {
    const fleet = await sourceFleet(NODES);
    const { ignores: _, ...operator } = fleet.profile.operator;
    const { outcome } = await forward(fleet, { stages: stages.slice(-1), flags: UNTIL, profile: { ...fleet.profile, operator } });
    assert.deepEqual([outcome?.exit, outcome?.writes], ['usage', 0]);
    assert.match(outcome?.message ?? '', /^--until agents is not possible on an installation by operator: nothing is known by which/);
  });

  it('is refused once the new operator runs and has replaced what was to stay, and commit continues', async () => {
    const fleet = await sourceFleet(NODES);
    await killedAtOperator(fleet);
    await fleet.scenario.clock.sleep(60_000);
    assert.equal(tagOf(fleet, K.Deployment, 'calico-kube-controllers'), CALICO_TARGET);
    const before = fleet.marks();
    const { outcome } = await forward(fleet, { stages, flags: UNTIL });
    assert.deepEqual([outcome?.exit, outcome?.writes, fleet.marks()], ['usage', 0, before]);
    assert.match(
      outcome?.message ?? '',
      /^--until agents comes too late: the new operator has replaced Deployment\/calico-system\/calico-kube-controllers already$/,
    );
    assertDone((await forward(fleet)).outcome, 'what continues it');
    assert.deepEqual([fleet.runs(), fleet.marks()], [[CALICO_TARGET], []]);
  });

  it('holds what the new operator has not come to yet', async () => {
    const fleet = await sourceFleet(NODES);
    const seen = watched(fleet);
    await killedAtOperator(fleet);
    assert.deepEqual(held(fleet), [FROM, FROM]);
    assertDone(await performIn(fleet.scenario, stages, { ...FLAGS, ...UNTIL }, { profile: fleet.profile }), 'the run');
    assert.deepEqual([agents(fleet), held(fleet), seen.left, isStopped(fleet)], [CALICO_TARGET, [FROM, FROM], false, true]);
  });

  it('waits for the agents too where a user keeps the operator from both', async () => {
    const fleet = await sourceFleet(NODES);
    const { store } = fleet.scenario.cluster;
    for (const name of HELD) keptByUser(fleet, name);
    const flags = { ...UNTIL, accept: ['NS-301', 'NS-411'] };
    assertDone((await forward(fleet, { stages, flags })).outcome, 'the run');
    const { status } = store.get(K.DaemonSet, 'calico-node', 'calico-system') ?? assert.fail('there are no agents');
    assert.deepEqual([agents(fleet), held(fleet)], [CALICO_TARGET, [FROM, FROM]]);
    assert.equal((status as { readonly updatedNumberScheduled?: number }).updatedNumberScheduled, NODES);
  });

  it('waits for all else as well: an API server that does not start is no end, also of the next run', async () => {
    const fleet = await sourceFleet(NODES);
    ailing('calico-apiserver', 'not-ready', {})(fleet.scenario.cluster, fleet.scenario);
    for (const what of ['the run', 'the next one']) {
      const { outcome } = await forward(fleet, { stages, flags: UNTIL });
      assert.deepEqual([outcome?.exit, agents(fleet), held(fleet)], ['timeout', CALICO_TARGET, [FROM, FROM]], what);
      assert.match(outcome?.message ?? '', /Deployment\/calico-system\/calico-apiserver: /, what);
    }
  });

  it('names what is held while the agents are waited for', async () => {
    const titles: string[] = [];
    for (const kept of [[], ['calico-typha'], ['calico-kube-controllers']]) {
      const fleet = await sourceFleet(NODES);
      for (const name of kept) keptByUser(fleet, name);
      const { outcome } = await forward(fleet, { stages, flags: { ...UNTIL, accept: ['NS-301', 'NS-411'], 'dry-run': 'server' } });
      titles.push(
        ...(outcome?.plans.flatMap(({ actions }) => actions.filter(({ id }) => id === 'agents').map(({ title }) => title)) ?? []),
      );
    }
    const title = `wait until the operator has upgraded every other component to ${CALICO_TARGET}; `;
    assert.deepEqual(titles, [
      `${title}Typha and the controllers are held meanwhile`,
      `${title}the controllers are held meanwhile`,
      `${title}Typha is held meanwhile`,
    ]);
  });

  it('has nothing to do once the upgrade is complete', async () => {
    const fleet = await sourceFleet(NODES);
    assertDone((await forward(fleet)).outcome, 'the upgrade');
    const { outcome } = await forward(fleet, { stages, flags: UNTIL });
    assert.deepEqual([outcome?.exit, outcome?.writes], ['done', 0], outcome?.message);
  });

  const seed = seedOf(process.env, 20261129);
  it(`keeps both held wherever it was killed: after each write, and at ${SAMPLE} points of the sweep (SEED=${seed})`, async () => {
    const points = await heldPoints();
    const writes = points.filter(({ type }) => type === 'kill-after');
    for (const point of [...writes, ...sampled(points, SAMPLE, seed)]) {
      const fleet = await sourceFleet(NODES);
      const seen = watched(fleet);
      const { requests } = await forward(fleet, { stages, flags: UNTIL, fault: point });
      const what = `${point.type} ${point.at}: ${requests.at(-1)}`;
      // Whatever the operator does by itself then.
      await fleet.scenario.clock.sleep(600_000);
      assert.deepEqual([held(fleet), seen.left], [[FROM, FROM], false], what);
      assertDone((await forward(fleet, { stages, flags: UNTIL })).outcome, what);
      assert.deepEqual([agents(fleet), held(fleet), seen.left, isStopped(fleet)], [CALICO_TARGET, [FROM, FROM], false, true], what);
      assertDone((await forward(fleet)).outcome, what);
      assert.deepEqual([fleet.runs(), fleet.marks()], [[CALICO_TARGET], []], what);
      assert.ok(fleet.worst() <= 1, `${fleet.worst()}: ${what}`);
    }
  });
});

/** A user keeps the operator from it. */
function keptByUser({ scenario: { cluster } }: HeldFleet, name: string): void {
  const live = cluster.store.get(K.Deployment, name, 'calico-system') ?? assert.fail(`there is no ${name}`);
  const annotations = { 'unsupported.operator.tigera.io/ignore': 'true' };
  cluster.store.update(K.Deployment, { ...live, metadata: { ...live.metadata, annotations } });
}

/** A user removes the hold of the program. */
function released({ scenario: { cluster } }: HeldFleet, name: string): void {
  const live = cluster.store.get(K.Deployment, name, 'calico-system') ?? assert.fail(`there is no ${name}`);
  const { generation = 1 } = live.metadata;
  cluster.store.update(K.Deployment, { ...live, metadata: { ...live.metadata, annotations: {}, generation: generation + 1 } });
}

/** A run without `--until` starts the new operator, and is killed before it has seen anything of it. */
async function killedAtOperator(fleet: HeldFleet): Promise<void> {
  const { faults } = fleet.scenario.cluster;
  await forward(fleet, {
    observe: (event) => {
      if (event.type === 'action-done' && event.action.id === 'operator') faults.killed = true;
    },
  });
  assert.ok(faults.killed);
}

/** Every request from the hold to the end of the run, at which a process can be killed. */
async function heldPoints(): Promise<readonly LineFault[]> {
  const { requests } = await forward(await sourceFleet(NODES), { stages, flags: UNTIL });
  const holds = new Set(HELD.map((name) => `patch deployments/${name}`));
  const first = requests.findIndex((what) => holds.has(what));
  assert.ok(first > 0, requests.join());
  return requests.flatMap((what, index) => {
    if (index < first - 3) return [];
    const types = isRead(what) ? (['kill-before'] as const) : (['kill-before', 'kill-after'] as const);
    return types.map((type) => ({ at: index + 1, type }));
  });
}
