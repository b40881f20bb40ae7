import assert from 'node:assert/strict';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { ownStrategyOf, readOwnStrategies } from '../../src/features/canary/index.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import { isPodReady, isStopping } from '../../src/sandbox/pods-of.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { type Flags, installedSandbox, performIn, sandboxPorts } from '../support/sandbox-ports.ts';

const { uidChange: _, ...unchanging } = netsvc;
/** In waves, and in one file. */
const PROFILES: readonly (readonly [string, Profile])[] = [
  ['in waves', { ...unchanging, typhaRefusesAgentsBefore: 'v3.28.0' }],
  ['in one wave', netsvc],
];
const NODES = 6;
/** For what is run again and again. */
const FEW = 3;
const SET = { name: 'netsvc-node', namespace: 'kube-system' };

const agents = ({ cluster }: Scenario): KubeObject =>
  cluster.store.get(K.DaemonSet, SET.name, SET.namespace) ?? assert.fail('there are no agents');
const strategy = (scenario: Scenario): unknown => (agents(scenario).spec as { readonly updateStrategy?: unknown }).updateStrategy;

/** The most agents that were away at one moment. */
function watched({ cluster: { store } }: Scenario): { readonly worst: number } {
  const seen = { worst: 0 };
  store.listen(({ kind }) => {
    if (kind.plural !== K.Pod.plural) return;
    const ready = store.list(K.Pod).filter((pod) => pod.metadata.name.startsWith(SET.name) && isPodReady(pod) && !isStopping(pod));
    seen.worst = Math.max(seen.worst, NODES - ready.length);
  });
  return seen;
}

/** The write that changed the agents first. */
function whenAgents({ cluster: { store, faults } }: Scenario): { readonly first: number } {
  const seen = { first: 0 };
  store.listen(({ kind, before, after }) => {
    const isChange = kind.plural === K.DaemonSet.plural && before?.metadata.generation !== after?.metadata.generation;
    if (isChange && seen.first === 0) seen.first = faults.writes;
  });
  return seen;
}

const run = (scenario: Scenario, profile: Profile, flags: Flags = {}): Promise<ChainOutcome> =>
  performIn(scenario, [applyStage], flags, { profile });

async function isOurs(scenario: Scenario): Promise<boolean> {
  const { records } = sandboxPorts(scenario);
  const own = await readOwnStrategies(records, await records.load(), scenario, [agents(scenario)]);
  return ownStrategyOf(agents(scenario), own) !== undefined;
}

for (const [name, profile] of PROFILES)
  describe(`--max-unavailable, ${name}`, function () {
    this.timeout(120_000);
    let scenario: Scenario;
    beforeEach(async () => {
      scenario = await installedSandbox({ nodes: NODES });
    });

    it('replaces so many agents at a time, and what was set before comes back', async () => {
      await scenario.cluster.patch(K.DaemonSet, { apiVersion: 'apps/v1', kind: 'DaemonSet', ...SET }, MINE, 'kubectl-edit');
      const before = strategy(scenario);
      const seen = watched(scenario);
      const { exit, message } = await run(scenario, profile, { 'max-unavailable': '50%' });
      assert.deepEqual([exit, message, seen.worst], ['done', undefined, NODES / 2]);
      assert.deepEqual(strategy(scenario), before);
      assert.equal((await run(scenario, profile, { 'max-unavailable': '50%' })).writes, 0, 'a second run has nothing to do');
    });

    it('takes the place of a surge, as the server takes no two of them, and the surge comes back', async () => {
      const surge = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
      const patch = [{ op: 'replace', path: '/spec/updateStrategy', value: surge }] as const;
      await scenario.cluster.patch(K.DaemonSet, { apiVersion: 'apps/v1', kind: 'DaemonSet', ...SET }, patch, 'kubectl-edit');
      const seen = new Set<string>();
      scenario.cluster.store.listen(({ kind }) => {
        if (kind.plural === K.DaemonSet.plural) seen.add(JSON.stringify(strategy(scenario)));
      });
      const { exit, message } = await run(scenario, profile, { 'max-unavailable': '3' });
      assert.deepEqual([exit, message, strategy(scenario)], ['done', undefined, surge]);
      const meanwhile = JSON.stringify({ type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 3 } });
      assert.ok(seen.has(meanwhile), [...seen].join());
    });

    it('says in the plan what is only for a while', async () => {
      const { plans } = await run(scenario, profile, { 'max-unavailable': '3', 'dry-run': 'server' });
      const notes = plans.flatMap((plan) => plan.notes.map(String)).filter((note) => note.startsWith('update strategy'));
      assert.deepEqual(notes, [
        'update strategy of DaemonSet/kube-system/netsvc-node: RollingUpdate, maxUnavailable 3 while its pods are replaced, then RollingUpdate, maxUnavailable 1 again',
      ]);
      assert.equal(plans.flatMap((plan) => plan.objects).find(({ ref }) => ref.kind === 'DaemonSet')?.atOnce, 3);
    });

    it('is put back by the next command, wherever this one was killed, and known as ours until then', async () => {
      const whole = await installedSandbox({ nodes: FEW });
      const usual = strategy(whole);
      const agentsAt = whenAgents(whole);
      await run(whole, profile, { 'max-unavailable': '3' });
      const { writes } = whole.cluster.faults;
      let foundOurs = 0;
      for (let at = agentsAt.first - 2; at <= writes; at += 1) {
        const one = await installedSandbox({ nodes: FEW });
        one.cluster.faults.plan({ at, kill: 'after' });
        await run(one, profile, { 'max-unavailable': '3' }).catch(() => undefined);
        const differs = JSON.stringify(strategy(one)) !== JSON.stringify(usual);
        assert.equal(await isOurs(one), differs, `killed after write ${at}`);
        foundOurs += differs ? 1 : 0;
        const { exit, message, findings } = await run(one, profile);
        const open = findings.filter(({ outcome }) => outcome === 'error').map(({ id, message: text }) => `${id} ${text}`);
        assert.deepEqual([exit, message, open, strategy(one)], ['done', undefined, [], usual], `killed after write ${at}`);
      }
      assert.ok(foundOurs > 0, 'some were killed while it was ours');
    });

    it('is no edit for a run to another release', async () => {
      scenario.cluster.store.listen(({ kind, after }) => {
        if (kind.plural === K.DaemonSet.plural && after && JSON.stringify(after.spec).includes('"maxUnavailable":3'))
          scenario.cluster.faults.killed = true;
      });
      await run(scenario, profile, { 'max-unavailable': '3' }).catch(() => undefined);
      scenario.cluster.faults.killed = false;
      const flags = { release: 'v3.32.1', base: 'v3.26.4', 'dry-run': 'server' } as const;
      const { plans } = await run(scenario, profile, flags);
      assert.deepEqual(
        plans.flatMap(({ edits = [] }) => edits).filter(({ path }) => path.includes('updateStrategy')),
        [],
      );
    });
  });

const MINE = [{ op: 'replace', path: '/spec/updateStrategy/rollingUpdate/maxUnavailable', value: 2 }] as const;
