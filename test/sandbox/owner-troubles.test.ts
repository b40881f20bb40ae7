import assert from 'node:assert/strict';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { ownerrefsForgetStage, ownerrefsRestoreStage } from '../../src/features/chain.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { ownerrefsStripStage } from '../../src/features/ownerrefs/strip-stage.ts';
import { verifyStage } from '../../src/features/verify/stage.ts';
import type { Finding } from '../../src/kernel/check.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { Kind, KubeObject } from '../../src/kernel/object.ts';
import { ApiFailure, type Cluster } from '../../src/kernel/ports.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import type { AnyStage } from '../../src/kernel/stage.ts';
import { LAST_APPLIED } from '../../src/kube/managed-fields.ts';
import { upgradeTo } from '../fixtures/stored-record.ts';
import { runRecord } from '../support/apply-bench.ts';
import { testFolder } from '../support/folders.ts';
import { fixOf } from '../support/judged-worlds.ts';
import { entryFor, reference } from '../support/owner-entries.ts';
import { openFindings } from '../support/owner-faults.ts';
import { type OwnerSandbox, ownerSandbox, renaming } from '../support/owner-sandbox.ts';
import { journalOf, perform } from '../support/owner-sweep.ts';
import { NETSVC_TARGET } from '../support/target.ts';

const named = ({ findings }: ChainOutcome, id: string): readonly string[] =>
  (findings.find((one) => one.id === id)?.evidence ?? []).map(({ text }) => text).toSorted();
const is = ({ findings }: ChainOutcome, id: string): Finding['outcome'] | undefined => findings.find((one) => one.id === id)?.outcome;
const nextOf = ({ findings }: ChainOutcome, id: string): string => String(findings.find((one) => one.id === id)?.next);
const fixIn = ({ findings }: ChainOutcome, id: string): string => {
  const finding = findings.find((one) => one.id === id);
  return finding ? fixOf(finding) : '';
};

/** Where the journal is: what is refused of Secrets elsewhere says nothing of it. */
const STATE = 'kube-system';

describe('owner references that somebody else has a hand in', () => {
  const folder = testFolder('owners-');
  let sandbox: OwnerSandbox;
  beforeEach(async () => {
    sandbox = await ownerSandbox();
  });

  const referencesOf = (name: string) => sandbox.scenario.cluster.store.get(K.Secret, name, 'default')?.metadata.ownerReferences ?? [];
  const write = (name: string, metadata: object) => {
    const { store } = sandbox.scenario.cluster;
    const object = store.get(K.Secret, name, 'default');
    assert.ok(object);
    store.update(K.Secret, { ...object, metadata: { ...object.metadata, ...metadata } });
  };

  it('are removed again where a controller put the old ones back, before the upgrade and after it', async () => {
    const old = referencesOf('owned-web');
    await perform(sandbox, [ownerrefsStripStage], folder);
    write('owned-web', { ownerReferences: old });
    assert.equal((await perform(sandbox, [ownerrefsStripStage], folder)).exit, 'done');
    assert.deepEqual(referencesOf('owned-web'), []);
    assert.equal((await journalOf(sandbox, sandbox.cluster).load())?.entries.length, 5);
  });

  it('stop the chain before UIDs change where a controller put them back, which is named with what it wrote', async () => {
    const old = referencesOf('owned-web');
    await perform(sandbox, [ownerrefsStripStage], folder);
    const patch = [{ op: 'add', path: '/metadata/ownerReferences', value: old }] as const;
    const ref = { apiVersion: 'v1', kind: 'Secret', namespace: 'default', name: 'owned-web' };
    await sandbox.scenario.cluster.patch(K.Secret, ref, patch, 'web-controller');
    const told = async (cluster: Cluster) => {
      const { exit, findings, writes } = await perform(sandbox, [applyStage], folder, { cluster });
      const { hint = '', evidence = [] } = findings.find(({ id }) => id === 'NS-701') ?? {};
      return { end: [exit, writes], hint, evidence: evidence.map(({ text, detail }) => `${text} ${detail}`) };
    };
    const named = await told(sandbox.cluster);
    assert.deepEqual(named.end, ['blocked', 0]);
    assert.match(named.hint, /^Field manager web-controller put them back: pause that controller\. /);
    assert.equal(named.evidence.length, 1);
    assert.match(named.evidence[0] ?? '', /^Secret\/default\/owned-web .* is back, by web-controller \(Update\) at 20\d\d-\S+Z$/);
    const barred = await told({
      ...sandbox.cluster,
      async get(kind, ...asked) {
        if (kind.plural === 'secrets' && asked[1] !== STATE) throw new ApiFailure(403, 'Forbidden', 'secrets is forbidden');
        return sandbox.cluster.get(kind, ...asked);
      },
    });
    assert.deepEqual(barred.end, ['blocked', 0]);
    assert.match(barred.hint, /^A controller puts them back: pause it\. /);
  });

  const WEB = { apiVersion: 'v1', kind: 'Secret', namespace: 'default', name: 'owned-web' };
  const OPERATOR = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'shop-operator', namespace: 'default' } };

  /** A controller that wrote the reference, and writes it again three seconds after it came off. */
  const controlled = async () => {
    const { cluster, clock } = sandbox.scenario;
    const value = referencesOf('owned-web');
    const writeAs = (manager: string) => cluster.patch(K.Secret, WEB, [{ op: 'add', path: '/metadata/ownerReferences', value }], manager);
    await cluster.patch(K.Secret, WEB, [{ op: 'remove', path: '/metadata/ownerReferences' }], 'kubectl');
    await writeAs('shop-operator');
    cluster.store.insert(K.StatefulSet, { ...OPERATOR, spec: { replicas: 1 } });
    const world = { isPaused: false };
    const playing: Cluster = {
      ...sandbox.cluster,
      async patch(kind, target, ...asked) {
        const patched = await sandbox.cluster.patch(kind, target, ...asked);
        if (target.name === 'owned-web' && !world.isPaused) clock.schedule(3_000, () => void writeAs('shop-operator'));
        return patched;
      },
    };
    const run = (stages: readonly AnyStage[], flags = {}) => perform(sandbox, stages, folder, { cluster: playing, flags });
    const pause = () => {
      world.isPaused = true;
    };
    return { run, pause };
  };

  it('stop the run right after they came off where a controller puts them back every few seconds, and go on once it is paused', async () => {
    const { run, pause } = await controlled();
    const stopped = await run([ownerrefsStripStage, applyStage]);
    assert.deepEqual([stopped.exit, stopped.stoppedAt, is(stopped, 'NS-701')], ['blocked', 'ownerrefs-strip', 'error']);
    assert.deepEqual(named(stopped, 'NS-701'), ['Secret/default/owned-web']);
    const { hint = '', evidence = [] } = stopped.findings.find(({ id }) => id === 'NS-701') ?? {};
    assert.match(hint, /^Field manager shop-operator put them back: .* StatefulSet default\/shop-operator \(1 replica\) goes by that name/);
    assert.match(evidence[0]?.detail ?? '', /; was removed and is back, by shop-operator \(Update\) at 20\d\d-\S+Z$/);
    assert.equal(fixIn(stopped, 'NS-701'), 'kubectl -n default scale statefulset/shop-operator --replicas=0');
    assert.equal((await run([ownerrefsStripStage])).exit, 'blocked', 'while nothing is paused it is the same again');
    pause();
    assert.equal((await run([ownerrefsStripStage])).exit, 'done');
    assert.deepEqual(referencesOf('owned-web'), []);
  });

  it('come off once more, and the run goes on at once, where a person accepts that', async () => {
    const { run } = await controlled();
    assert.equal((await run([ownerrefsStripStage], { accept: ['NS-701=Secret/default/owned-web'] })).exit, 'done');
    assert.deepEqual(referencesOf('owned-web'), []);
  });

  it('stay on where this account may not restore them, and the missing permission is named', async () => {
    const { cluster } = sandbox;
    const barred: Cluster = {
      ...cluster,
      reviewAccess: async (requests) => requests.map(({ verb, resource }) => verb !== 'patch' || resource !== 'secrets'),
    };
    const outcome = await perform(sandbox, [ownerrefsStripStage], folder, { cluster: barred });
    assert.deepEqual([outcome.exit, outcome.writes, named(outcome, 'NS-754')], ['blocked', 0, ['patch secrets in default']]);
  });

  /** One patch meets a conflict, and then the kind of its object cannot be read. */
  const troubled = ({ cluster }: OwnerSandbox): Cluster => {
    let isOver = false;
    const unlessOver = ({ kind }: Kind, namespace: string | undefined) => {
      if (kind === 'Secret' && namespace !== STATE && isOver) throw new ApiFailure(503, 'ServiceUnavailable', 'starting');
    };
    return {
      ...cluster,
      async patch(kind, ref, ...asked) {
        if (ref.name !== 'owned-web' || isOver) return cluster.patch(kind, ref, ...asked);
        isOver = true;
        throw new ApiFailure(409, 'Conflict', 'changed meanwhile');
      },
      async list(kind, options) {
        unlessOver(kind, options?.namespace);
        return cluster.list(kind, options);
      },
      async get(kind, ...asked) {
        unlessOver(kind, asked[1]);
        return cluster.get(kind, ...asked);
      },
    };
  };

  it('are not all off where the search after a conflict could not look everywhere', async () => {
    const outcome = await perform(sandbox, [ownerrefsStripStage], folder, { cluster: troubled(sandbox) });
    assert.deepEqual([outcome.exit, named(outcome, 'NS-741'), referencesOf('owned-web').length], ['blocked', ['secrets'], 1]);
    assert.equal((await perform(sandbox, [ownerrefsStripStage], folder)).exit, 'done');
    assert.deepEqual(referencesOf('owned-web'), []);
  });

  it('are not all back where the search after a conflict could not look everywhere', async () => {
    await perform(sandbox, [ownerrefsStripStage], folder);
    sandbox.upgrade();
    const outcome = await perform(sandbox, [ownerrefsRestoreStage], folder, { cluster: troubled(sandbox) });
    assert.deepEqual([outcome.exit, named(outcome, 'NS-741'), referencesOf('owned-web')], ['blocked', ['secrets'], []]);
    assert.equal((await perform(sandbox, [ownerrefsRestoreStage], folder)).exit, 'done');
    assert.deepEqual([sandbox.deleted, sandbox.graph()], [[], sandbox.wanted]);
  });

  it('come back once a dead one that a controller put back is off again', async () => {
    const old = referencesOf('owned-stored');
    await perform(sandbox, [ownerrefsStripStage], folder);
    sandbox.upgrade();
    write('owned-stored', { ownerReferences: old });
    const early = await perform(sandbox, [ownerrefsRestoreStage], folder);
    assert.deepEqual([early.exit, named(early, 'NS-749')], ['blocked', ['Secret/default/owned-stored']]);
    assert.equal((await perform(sandbox, [ownerrefsStripStage], folder)).exit, 'done');
    assert.equal((await perform(sandbox, [ownerrefsRestoreStage], folder)).exit, 'done');
    assert.deepEqual([sandbox.deleted, sandbox.graph()], [[], sandbox.wanted]);
  });

  for (const [what, flags] of [
    ['as its controller', { controller: true }],
    ['with its deletion blocked', { blockOwnerDeletion: true }],
  ] as const)
    it(`come back once a dead one that somebody put back ${what} is off again, with the flags that it has now`, async () => {
      const keeper = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'keeper', uid: 'keeper-uid' };
      const [web] = referencesOf('owned-web');
      assert.ok(web);
      await perform(sandbox, [ownerrefsStripStage], folder);
      sandbox.upgrade();
      write('owned-web', { ownerReferences: [{ ...web, ...flags }, keeper] });
      const early = await perform(sandbox, [ownerrefsRestoreStage], folder);
      assert.deepEqual([early.exit, nextOf(early, 'NS-749')], ['blocked', 'kubectl netsvc-upgrade ownerrefs strip']);
      assert.equal((await perform(sandbox, [ownerrefsStripStage], folder)).exit, 'done');
      assert.deepEqual(referencesOf('owned-web'), [keeper]);
      const back = await perform(sandbox, [ownerrefsRestoreStage, ownerrefsForgetStage], folder);
      assert.equal(back.exit, 'done', openFindings(back));
      const uid = sandbox.uidOf(web);
      assert.deepEqual([sandbox.deleted, referencesOf('owned-web')], [[], [{ ...web, ...flags, uid }, keeper]]);
    });

  it('with the UID of before, written after everything is over, come off and go back: every next step leads there', async () => {
    const { scenario } = sandbox;
    const [pool] = scenario.cluster.store.get(K.ConfigMap, 'owned-pool', 'default')?.metadata.ownerReferences ?? [];
    assert.ok(pool);
    await perform(sandbox, [ownerrefsStripStage], folder);
    sandbox.upgrade();
    assert.equal((await perform(sandbox, [ownerrefsRestoreStage, ownerrefsForgetStage], folder)).exit, 'done');
    scenario.state.record = runRecord({
      clusterUid: scenario.clusterUid,
      intent: upgradeTo(NETSVC_TARGET, NETSVC_TARGET),
      oldest: NETSVC_TARGET,
    });
    const keeper = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'keeper', uid: 'keeper-uid' };
    sandbox.put(K.Secret, 'owned-late', [keeper, pool]);
    const found = await perform(sandbox, [verifyStage], folder);
    assert.deepEqual(
      [named(found, 'NS-307'), nextOf(found, 'NS-307')],
      [['Secret/default/owned-late'], 'kubectl netsvc-upgrade ownerrefs list'],
    );
    const chained = await perform(sandbox, [ownerrefsStripStage, ownerrefsForgetStage], folder);
    assert.match(chained.stages[0]?.because ?? '', /^this upgrade changes no UID$/, 'a chain searches only where something changes them');
    assert.equal((await perform(sandbox, [ownerrefsStripStage], folder)).exit, 'done');
    assert.deepEqual(referencesOf('owned-late'), [keeper]);
    assert.equal((await perform(sandbox, [ownerrefsRestoreStage, ownerrefsForgetStage], folder)).exit, 'done');
    assert.deepEqual(referencesOf('owned-late'), [keeper, { ...pool, uid: sandbox.uidOf(pool) }]);
    assert.equal(is(await perform(sandbox, [verifyStage], folder), 'NS-307'), 'ok');
  });

  it('count as back where they are, though the run that put them back was cut off before it told the record', async () => {
    const { state } = sandbox.scenario;
    await perform(sandbox, [ownerrefsStripStage], folder);
    const off = await perform(sandbox, [verifyStage], folder);
    assert.match(off.findings.find(({ id }) => id === 'NS-311')?.message ?? '', /of 5 objects were removed/);
    sandbox.upgrade();
    await perform(sandbox, [ownerrefsRestoreStage], folder);
    const { record } = state;
    assert.ok(record);
    state.record = { ...record, stages: record.stages.map((one) => (one.id === 'ownerrefs-restore' ? { ...one, state: 'failed' } : one)) };
    const again = await perform(sandbox, [ownerrefsRestoreStage], folder);
    assert.deepEqual([again.exit, again.writes], ['done', 0]);
    assert.equal(is(await perform(sandbox, [verifyStage], folder), 'NS-311'), 'ok');
  });

  it('that were dead before stay as they are, and are not brought to life', async () => {
    const [web] = referencesOf('owned-web');
    assert.ok(web);
    const dead = { ...web, uid: '30316465-6365-4463-ad63-3564622d3638' };
    const keeper = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'keeper', uid: 'keeper-uid' };
    write('owned-web', { ownerReferences: [dead, keeper] });
    await perform(sandbox, [ownerrefsStripStage], folder);
    assert.deepEqual(referencesOf('owned-web'), [dead, keeper]);
    sandbox.upgrade();
    const told = await perform(sandbox, [ownerrefsRestoreStage], folder);
    assert.deepEqual(
      [told.exit, nextOf(told, 'NS-749')],
      ['blocked', 'kubectl netsvc-upgrade ownerrefs list'],
      'strip would not take it off',
    );
    const outcome = await perform(sandbox, [ownerrefsRestoreStage], folder, { flags: { accept: ['NS-749'] } });
    assert.deepEqual([outcome.exit, referencesOf('owned-web')], ['done', [dead, keeper]]);
  });

  it('are named where the manifest of their object would bring the UID of before back', async () => {
    const ownerReferences = referencesOf('owned-web');
    const manifest = JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'owned-web', ownerReferences } });
    write('owned-web', { annotations: { [LAST_APPLIED]: manifest } });
    const off = await perform(sandbox, [ownerrefsStripStage], folder);
    assert.deepEqual([off.exit, is(off, 'NS-742'), named(off, 'NS-742')], ['done', 'warning', ['Secret/default/owned-web']]);
    sandbox.upgrade();
    const back = await perform(sandbox, [ownerrefsRestoreStage], folder);
    assert.deepEqual([back.exit, is(back, 'NS-742'), named(back, 'NS-742')], ['done', 'warning', ['Secret/default/owned-web']]);
  });

  it('to stored policies whose renaming is held stay off: they would die with the hold', async () => {
    const kept = referencesOf('owned-stored').filter(({ kind }) => !kind.endsWith('Policy'));
    await perform(sandbox, [ownerrefsStripStage], folder);
    sandbox.upgrade({ held: true });
    await perform(sandbox, [ownerrefsRestoreStage], folder);
    assert.deepEqual([sandbox.deleted, referencesOf('owned-stored')], [[], kept]);
  });

  it('to policies that the new server does not find by name stay off while the renaming is held, and in the journal', async () => {
    await perform(sandbox, [ownerrefsStripStage], folder);
    sandbox.upgrade({ held: true });
    const outcome = await perform(sandbox, [ownerrefsRestoreStage, ownerrefsForgetStage], folder);
    assert.deepEqual([outcome.exit, is(outcome, 'NS-743')], ['done', 'warning']);
    const off = ['ClusterRole/owned-role', 'ConfigMap/default/owned-mixed', 'Secret/default/owned-stored', 'Secret/default/owned-web'];
    assert.deepEqual(named(outcome, 'NS-743'), off);
    assert.match(fixIn(outcome, 'NS-743'), /^kubectl patch .* --type=merge -p '\{.*"Enabled".*\}'$/);
    assert.deepEqual([sandbox.deleted, sandbox.graph()['ConfigMap/owned-pool']], [[], sandbox.wanted['ConfigMap/owned-pool']]);
    assert.equal((await journalOf(sandbox, sandbox.cluster).load())?.entries.length, 5);
  });

  it('to policies whose renaming is held are off before a person releases the hold, at the target as well, and come back after', async () => {
    const { scenario } = sandbox;
    sandbox.upgrade({ held: true });
    const lost = [...sandbox.deleted];
    const owner = { apiVersion: 'crd.netsvc.io/v1', kind: 'GlobalNetworkPolicy', name: 'default.web' };
    sandbox.put(K.Secret, 'owned-late', [{ ...owner, uid: sandbox.uidOf(owner) ?? '' }]);
    scenario.state.record = runRecord({
      clusterUid: scenario.clusterUid,
      intent: upgradeTo(NETSVC_TARGET, NETSVC_TARGET),
      oldest: NETSVC_TARGET,
    });
    const off = await perform(sandbox, [ownerrefsStripStage], folder, { flags: { until: 'controllers' } });
    assert.deepEqual([off.exit, referencesOf('owned-late')], ['done', []]);
    sandbox.upgrade();
    assert.equal((await perform(sandbox, [ownerrefsRestoreStage, ownerrefsForgetStage], folder)).exit, 'done');
    assert.deepEqual([sandbox.deleted, referencesOf('owned-late').map(({ name }) => name)], [lost, ['web']]);
  });

  describe('to policies that keep their stored names, from a release that converts UIDs already', () => {
    beforeEach(async () => {
      sandbox = await ownerSandbox({ converts: true });
    });
    /** The controllers wait for agents of another name, as beside another CNI (canal). */
    const waiting: Profile = {
      ...renaming,
      policyRenaming: { since: 'v3.32.0', prefix: 'default.', switchField: 'x', waitsFor: 'other-node' },
    };
    const policies = ['ClusterRole/owned-role', 'ConfigMap/default/owned-mixed', 'Secret/default/owned-web'];
    /** What names the stored ones waits for their new names, too. */
    const waitingFor = [...policies.slice(0, 2), 'Secret/default/owned-stored', ...policies.slice(2)];
    const hintOf = ({ findings }: ChainOutcome) => findings.find(({ id }) => id === 'NS-743')?.hint ?? '';

    it('are off before the new server comes though the renaming is held, stay off with it, and come back after', async () => {
      const held = { flags: { until: 'controllers' } } as const;
      const off = await perform(sandbox, [ownerrefsStripStage], folder, held);
      assert.equal(off.exit, 'done', openFindings(off));
      sandbox.upgrade({ held: true });
      assert.deepEqual(sandbox.deleted, []);
      const early = await perform(sandbox, [ownerrefsRestoreStage], folder, held);
      assert.deepEqual([early.exit, named(early, 'NS-743')], ['done', waitingFor]);
      assert.match(hintOf(early), /release the hold/);
      assert.equal((await perform(sandbox, [ownerrefsStripStage], folder)).exit, 'done');
      sandbox.upgrade();
      assert.equal((await perform(sandbox, [ownerrefsRestoreStage, ownerrefsForgetStage], folder)).exit, 'done');
      assert.deepEqual([sandbox.deleted, sandbox.graph()], [[], sandbox.wanted]);
      assert.equal(await journalOf(sandbox, sandbox.cluster).load(), undefined);
    });

    it('are off where the controllers never rename, and come back once a person has stored the policies anew', async () => {
      const off = await perform(sandbox, [ownerrefsStripStage], folder, { profile: waiting });
      assert.equal(off.exit, 'done', openFindings(off));
      sandbox.switchUids();
      const early = await perform(sandbox, [ownerrefsRestoreStage], folder, { profile: waiting });
      assert.deepEqual([early.exit, named(early, 'NS-743'), sandbox.deleted], ['done', policies, []]);
      assert.match(hintOf(early), /never rename them.*Create the policy.*forget --accept NS-748/);
      const { graph } = sandbox;
      const [stored] = graph()['Secret/owned-stored'] ?? [];
      sandbox.renamePolicies();
      const back = await perform(sandbox, [ownerrefsRestoreStage], folder, { profile: waiting, flags: { accept: ['NS-749'] } });
      assert.deepEqual([back.exit, sandbox.deleted, is(back, 'NS-743')], ['done', [], 'ok'], openFindings(back));
      const without = (all: Readonly<Record<string, readonly string[]>>) => ({ ...all, 'Secret/owned-stored': [stored] });
      assert.deepEqual(without(graph()), without(sandbox.wanted));
    });

    const keeper = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'keeper', uid: 'keeper-uid' };
    /** What lists show as `web`, which the new server does not find by that name. */
    const addLate = async () => {
      const policies = {
        group: 'netsvc.io',
        version: 'v3',
        kind: 'GlobalNetworkPolicy',
        plural: 'globalnetworkpolicies',
        namespaced: false,
      };
      const web = (await sandbox.cluster.list(policies)).find(({ metadata }) => metadata.name === 'web');
      const uid = web?.metadata.uid ?? '';
      const owner = { apiVersion: 'netsvc.io/v3', kind: 'GlobalNetworkPolicy', name: 'web', uid };
      sandbox.put(K.Secret, 'owned-late', [keeper, owner]);
      return owner;
    };

    for (const [what, profile, flags, off] of [
      ['the renaming is held', renaming, { until: 'controllers' }, waitingFor],
      ['the controllers never rename', waiting, {}, policies],
    ] as const)
      it(`stop what comes after where somebody names one anew while ${what}, until they are off as well`, async () => {
        const how = { profile, flags };
        await perform(sandbox, [ownerrefsStripStage], folder, how);
        sandbox.upgrade({ held: true });
        await addLate();
        const early = await perform(sandbox, [ownerrefsRestoreStage], folder, how);
        assert.deepEqual([early.exit, early.writes, named(early, 'NS-749')], ['blocked', 0, ['Secret/default/owned-late']]);
        assert.equal(nextOf(early, 'NS-749'), 'kubectl netsvc-upgrade ownerrefs strip');
        assert.equal((await perform(sandbox, [ownerrefsStripStage], folder, how)).exit, 'done');
        const back = await perform(sandbox, [ownerrefsRestoreStage], folder, how);
        assert.deepEqual(
          [back.exit, named(back, 'NS-743')],
          ['done', [...off, 'Secret/default/owned-late'].toSorted()],
          openFindings(back),
        );
        sandbox.renamePolicies();
        // What named the stored policies themselves died with these.
        const last = await perform(sandbox, [ownerrefsRestoreStage], folder, { profile, flags: { ...flags, accept: ['NS-749'] } });
        assert.deepEqual([last.exit, is(last, 'NS-743')], ['done', 'ok'], openFindings(last));
        assert.deepEqual(
          referencesOf('owned-late').map(({ name }) => name),
          ['keeper', 'web'],
        );
      });

    it('go back as they were before the upgrade though the target would not find them by name', async () => {
      await perform(sandbox, [ownerrefsStripStage], folder, { profile: waiting });
      await addLate();
      const undone = await perform(sandbox, [ownerrefsStripStage], folder, { profile: waiting, flags: { undo: true } });
      assert.deepEqual([undone.exit, is(undone, 'NS-749'), sandbox.deleted], ['done', 'ok', []], openFindings(undone));
    });

    for (const [what, profile, flags] of [
      ['the renaming is held', renaming, { until: 'controllers' }],
      ['the controllers never rename', waiting, {}],
    ] as const)
      it(`are found by verify while ${what}, and its next step takes them off though nothing changes UIDs any more`, async () => {
        const how = { profile, flags };
        const { scenario } = sandbox;
        sandbox.upgrade({ held: true });
        scenario.state.record = runRecord({
          clusterUid: scenario.clusterUid,
          intent: upgradeTo(NETSVC_TARGET, NETSVC_TARGET),
          oldest: NETSVC_TARGET,
        });
        const owner = await addLate();
        const found = await perform(sandbox, [verifyStage], folder, how);
        assert.ok(named(found, 'NS-307').includes('Secret/default/owned-late'));
        assert.equal(nextOf(found, 'NS-307'), 'kubectl netsvc-upgrade ownerrefs strip');
        const off = await perform(sandbox, [ownerrefsStripStage], folder, how);
        assert.equal(off.exit, 'done', openFindings(off));
        assert.deepEqual(referencesOf('owned-late'), [keeper]);
        assert.equal((await perform(sandbox, [ownerrefsRestoreStage], folder, how)).exit, 'done');
        const after = await perform(sandbox, [verifyStage], folder, how);
        assert.equal(is(after, 'NS-307'), 'ok', openFindings(after));
        assert.match(
          after.findings.find(({ id }) => id === 'NS-311')?.hint ?? '',
          /What cannot go back .*ownerrefs forget --accept NS-748/,
        );
        const entries = (await journalOf(sandbox, sandbox.cluster).load())?.entries ?? [];
        const late = entries.find(({ object }) => object.name === 'owned-late');
        assert.deepEqual(late?.references[late.removed[0] ?? -1], owner);
        const forget = { profile, flags: { ...flags, forget: true, accept: ['NS-748'] } };
        assert.equal((await perform(sandbox, [ownerrefsForgetStage], folder, forget)).exit, 'done');
        assert.equal(is(await perform(sandbox, [verifyStage], folder, how), 'NS-311'), 'ok');
      });

    it('are given up where nobody wants them stored anew', async () => {
      await perform(sandbox, [ownerrefsStripStage], folder, { profile: waiting });
      sandbox.switchUids();
      const flags = { forget: true, accept: ['NS-748'] };
      assert.equal((await perform(sandbox, [ownerrefsForgetStage], folder, { profile: waiting, flags })).exit, 'done');
      assert.equal(await journalOf(sandbox, sandbox.cluster).load(), undefined);
    });
  });

  describe('of a policy that is itself stored anew', () => {
    const keeper = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'keeper', uid: 'keeper-uid' };
    const policies = () => {
      const found = sandbox.scenario.cluster.kinds().find((one) => one.group === 'crd.netsvc.io' && one.kind === 'GlobalNetworkPolicy');
      assert.ok(found);
      return found;
    };
    const ownersOf = (name: string) => sandbox.scenario.cluster.store.get(policies(), name)?.metadata.ownerReferences;
    const pool = () => {
      const [first] = sandbox.scenario.cluster.store.get(K.ConfigMap, 'owned-pool', 'default')?.metadata.ownerReferences ?? [];
      assert.ok(first);
      return first;
    };
    const stages = [ownerrefsRestoreStage, ownerrefsForgetStage];
    const owned = async () => {
      const reference = pool();
      const metadata = { name: 'default.mine', annotations: { 'netsvc.io/metadata': '{"uid":"x"}' }, ownerReferences: [reference, keeper] };
      const object = { apiVersion: 'crd.netsvc.io/v1', kind: 'GlobalNetworkPolicy', metadata, spec: { selector: 'all()' } };
      sandbox.scenario.cluster.store.insert(policies(), object);
      await perform(sandbox, [ownerrefsStripStage], folder);
      assert.deepEqual(ownersOf('default.mine'), [keeper]);
      sandbox.upgrade();
      return reference;
    };

    it('come back to it under its new name', async () => {
      const reference = await owned();
      const outcome = await perform(sandbox, stages, folder);
      assert.deepEqual([outcome.exit, is(outcome, 'NS-745')], ['done', 'ok']);
      assert.deepEqual(ownersOf('mine'), [{ ...reference, uid: sandbox.uidOf(reference) }, keeper]);
      assert.equal(await journalOf(sandbox, sandbox.cluster).load(), undefined);
    });

    it('are noted once where it is recorded under both names: what is noted of the old one is not written under the new one', async () => {
      const reference = await owned();
      const journal = journalOf(sandbox, sandbox.cluster);
      const entries = (await journal.load())?.entries ?? [];
      const old = entries.find(({ object }) => object.name === 'default.mine');
      const uid = sandbox.scenario.cluster.store.get(policies(), 'mine')?.metadata.uid;
      const newUid = sandbox.uidOf(reference);
      assert.ok(old && uid !== undefined && newUid !== undefined);
      // A controller put the reference with its new UID back, and it was removed again.
      const references = [{ ...reference, uid: newUid }, keeper];
      await journal.append([{ ...old, object: { ...old.object, name: 'mine', uid }, references }]);
      const recorded = async () => {
        const found = (await journal.load())?.entries.filter(({ object }) => object.name.endsWith('mine')) ?? [];
        return found.map(({ object, references }) => `${object.name} ${references.length}`).toSorted();
      };
      const before = await recorded();
      const outcome = await perform(sandbox, [ownerrefsRestoreStage], folder);
      assert.equal(outcome.exit, 'done');
      assert.deepEqual(ownersOf('mine'), [references[0], keeper]);
      assert.deepEqual(await recorded(), before);
      assert.equal((await perform(sandbox, [ownerrefsRestoreStage], folder)).writes, 0);
    });

    it('are not given to another policy of that name: it lacks what was left', async () => {
      await owned();
      const { store } = sandbox.scenario.cluster;
      const mine = store.get(policies(), 'mine');
      assert.ok(mine);
      store.update(policies(), { ...mine, metadata: { ...mine.metadata, ownerReferences: [] } });
      const outcome = await perform(sandbox, [ownerrefsRestoreStage], folder);
      assert.deepEqual([outcome.exit, named(outcome, 'NS-745')], ['done', ['GlobalNetworkPolicy/default.mine']]);
      assert.equal(ownersOf('mine')?.length ?? 0, 0);
    });
  });

  it('to an owner that was made anew meanwhile stay off, and in the journal, until it is accepted by name', async () => {
    const { store } = sandbox.scenario.cluster;
    await perform(sandbox, [ownerrefsStripStage], folder);
    sandbox.upgrade();
    const pools = sandbox.scenario.cluster.kinds().find(({ plural, group }) => plural === 'ippools' && group === 'crd.netsvc.io');
    assert.ok(pools);
    const pool = store.get(pools, 'pool');
    assert.ok(pool);
    const { uid: _, resourceVersion: __, ...metadata } = pool.metadata;
    store.delete(pools, 'pool');
    store.insert(pools, { ...pool, metadata });
    const refused = await perform(sandbox, [ownerrefsRestoreStage], folder, { flags: { accept: ['NS-749'] } });
    assert.deepEqual([refused.exit, named(refused, 'NS-746')], ['done', ['IPPool/pool']]);
    const [{ detail = '' } = {}] = refused.findings.find(({ id }) => id === 'NS-746')?.evidence ?? [];
    assert.match(detail, new RegExp(`UID ${sandbox.uidOf({ apiVersion: 'netsvc.io/v3', kind: 'IPPool', name: 'pool' })}`));
    assert.deepEqual([sandbox.graph()['Secret/owned-web'], referencesOf('owned-pool')], [sandbox.wanted['Secret/owned-web'], []]);
    const kept = await perform(sandbox, [ownerrefsForgetStage], folder, { flags: { forget: true } });
    assert.deepEqual([kept.exit, is(kept, 'NS-748')], ['blocked', 'error']);
    const accepted = await perform(sandbox, [ownerrefsRestoreStage], folder, { flags: { accept: ['NS-746=IPPool/pool', 'NS-749'] } });
    assert.equal(accepted.exit, 'done');
    assert.deepEqual(sandbox.graph()['ConfigMap/owned-pool'], sandbox.wanted['ConfigMap/owned-pool']);
  });

  it('to an owner that was made anew are left off for good where a person says so, and the journal ends', async () => {
    const { store } = sandbox.scenario.cluster;
    await perform(sandbox, [ownerrefsStripStage], folder);
    sandbox.upgrade();
    const pools = sandbox.scenario.cluster.kinds().find(({ plural, group }) => plural === 'ippools' && group === 'crd.netsvc.io');
    assert.ok(pools);
    const pool = store.get(pools, 'pool');
    assert.ok(pool);
    const { uid: _, resourceVersion: __, ...metadata } = pool.metadata;
    store.delete(pools, 'pool');
    store.insert(pools, { ...pool, metadata });
    const flags = { resolve: ['IPPool/pool=drop'] };
    const outcome = await perform(sandbox, [ownerrefsRestoreStage, ownerrefsForgetStage], folder, {
      flags: { ...flags, accept: ['NS-749'] },
    });
    assert.deepEqual([outcome.exit, referencesOf('owned-pool')], ['done', []], openFindings(outcome));
    assert.deepEqual(sandbox.graph()['Secret/owned-web'], sandbox.wanted['Secret/owned-web']);
  });

  it('to a policy that keeps its name and was made anew meanwhile stay off, until it is accepted by name', async () => {
    const { cluster } = sandbox.scenario;
    const policies = cluster.kinds().find((one) => one.group === 'crd.netsvc.io' && one.kind === 'GlobalNetworkPolicy');
    assert.ok(policies);
    const make = () => {
      const metadata = { name: 'plain' };
      return cluster.store.insert(policies, { apiVersion: 'crd.netsvc.io/v1', kind: 'GlobalNetworkPolicy', metadata, spec: {} });
    };
    make();
    const owner = { apiVersion: 'netsvc.io/v3', kind: 'GlobalNetworkPolicy', name: 'plain' };
    sandbox.put(K.Secret, 'owned-plain', [{ ...owner, uid: sandbox.uidOf(owner) ?? '' }]);
    await perform(sandbox, [ownerrefsStripStage], folder);
    sandbox.upgrade();
    cluster.store.delete(policies, 'plain');
    make();
    const refused = await perform(sandbox, [ownerrefsRestoreStage], folder);
    assert.deepEqual([refused.exit, named(refused, 'NS-746')], ['done', ['GlobalNetworkPolicy/plain']]);
    assert.deepEqual(referencesOf('owned-plain'), []);
    const accepted = await perform(sandbox, [ownerrefsRestoreStage], folder, { flags: { resolve: ['GlobalNetworkPolicy/plain=new'] } });
    assert.deepEqual([accepted.exit, is(accepted, 'NS-746'), referencesOf('owned-plain').length], ['done', 'ok', 1]);
    const later = await perform(sandbox, [ownerrefsRestoreStage], folder);
    assert.deepEqual([is(later, 'NS-746'), later.writes], ['ok', 0], 'what was decided once is not asked again');
    assert.deepEqual(sandbox.graph()['Secret/owned-web'], sandbox.wanted['Secret/owned-web']);
  });

  for (const when of ['before it got its new name', 'after that'] as const)
    it(`to a policy that somebody deleted ${when}, and made another of its name, stay off until it is accepted by name`, async () => {
      const { cluster, clock } = sandbox.scenario;
      const policies = cluster.kinds().find((one) => one.group === 'crd.netsvc.io' && one.kind === 'GlobalNetworkPolicy');
      assert.ok(policies);
      const replace = async (name: string) => {
        await clock.sleep(3_600_000);
        const old = cluster.store.get(policies, name);
        assert.ok(old);
        cluster.store.delete(policies, name);
        const noted = JSON.stringify({ name: 'web', creationTimestamp: clock.now().toISOString() });
        await clock.sleep(2_000);
        cluster.store.insert(policies, { ...old, metadata: { name, annotations: { 'netsvc.io/metadata': noted } } });
      };
      await perform(sandbox, [ownerrefsStripStage], folder);
      if (when !== 'after that') await replace('default.web');
      await clock.sleep(60_000);
      sandbox.upgrade();
      if (when === 'after that') await replace('web');
      const refused = await perform(sandbox, [ownerrefsRestoreStage, ownerrefsForgetStage], folder);
      assert.deepEqual([refused.exit, named(refused, 'NS-746')], ['done', ['GlobalNetworkPolicy/web']]);
      assert.deepEqual([referencesOf('owned-web'), sandbox.deleted], [[], []]);
      const accepted = await perform(sandbox, [ownerrefsRestoreStage], folder, { flags: { accept: ['NS-746=GlobalNetworkPolicy/web'] } });
      assert.equal(accepted.exit, 'done');
      assert.deepEqual([sandbox.deleted, sandbox.graph()], [[], sandbox.wanted]);
    });

  it('come back at the version that the server serves now, where it has dropped the one that was recorded', async () => {
    const beta = (await sandbox.cluster.discover()).kinds.find(({ kind }) => kind === 'ClusterRole');
    assert.ok(beta);
    const isRole = (kind: Pick<Kind, 'group' | 'plural'>) => kind.group === beta.group && kind.plural === beta.plural;
    const before: Cluster = {
      ...sandbox.cluster,
      async discover(...asked) {
        const { kinds, failed } = await sandbox.cluster.discover(...asked);
        return { kinds: kinds.map((kind) => (isRole(kind) ? { ...kind, version: 'v1beta1' } : kind)), failed };
      },
      async list(kind, options) {
        if (!isRole(kind)) return sandbox.cluster.list(kind, options);
        const { keep = (one: KubeObject) => one } = options ?? {};
        const roles = await sandbox.cluster.list(beta, { ...options, keep: (one) => one });
        return roles.map((one) => keep({ ...one, apiVersion: `${beta.group}/v1beta1` }));
      },
      get: (kind, ...asked) => sandbox.cluster.get(isRole(kind) ? beta : kind, ...asked),
      resolve: (apiVersion, kind) => sandbox.cluster.resolve(apiVersion.replace('/v1beta1', '/v1'), kind),
      patch: (kind, ...asked) => sandbox.cluster.patch(isRole(kind) ? beta : kind, ...asked),
    };
    assert.equal((await perform(sandbox, [ownerrefsStripStage], folder, { cluster: before })).exit, 'done');
    const entries = (await journalOf(sandbox, sandbox.cluster).load())?.entries ?? [];
    assert.ok(entries.some(({ object }) => object.apiVersion === `${beta.group}/v1beta1`));
    sandbox.upgrade();
    const back = await perform(sandbox, [ownerrefsRestoreStage, ownerrefsForgetStage], folder);
    assert.deepEqual([back.exit, back.message], ['done', undefined]);
    assert.deepEqual([sandbox.deleted, sandbox.graph()], [[], sandbox.wanted]);
  });

  for (const [what, plural, group] of [
    ['objects', 'secrets', ''],
    ['owners', 'ippools', 'netsvc.io'],
  ] as const)
    it(`stay in the journal while their ${what} cannot be read, whatever is accepted, and come back later`, async () => {
      await perform(sandbox, [ownerrefsStripStage], folder);
      sandbox.upgrade();
      const { cluster } = sandbox;
      const asked = (kind: Kind, namespace: string | undefined) => {
        if (kind.plural === plural && kind.group === group && namespace !== STATE)
          throw new ApiFailure(403, 'Forbidden', 'refused by the test');
        return kind;
      };
      const half: typeof cluster = {
        ...cluster,
        list: async (kind, options) => cluster.list(asked(kind, options?.namespace), options),
        get: async (kind, name, namespace) => cluster.get(asked(kind, namespace), name, namespace),
      };
      const stages = [ownerrefsRestoreStage, ownerrefsForgetStage];
      const outcome = await perform(sandbox, stages, folder, { cluster: half, flags: { accept: ['NS-741', 'NS-749'] } });
      const unread = outcome.findings.find(({ id }) => id === 'NS-745')?.evidence?.filter(({ detail = '' }) => detail.includes('be read'));
      assert.ok(outcome.exit === 'done' && unread && unread.length > 1, JSON.stringify(outcome.findings));
      assert.equal((await journalOf(sandbox, sandbox.cluster).load())?.entries.length, 5);
      assert.equal((await perform(sandbox, stages, folder)).exit, 'done');
      assert.deepEqual([sandbox.deleted, sandbox.graph()], [[], sandbox.wanted]);
      assert.equal(await journalOf(sandbox, sandbox.cluster).load(), undefined);
    });

  it('stay in the journal while the API server shows this account none of the owners that are stored, and come back later', async () => {
    await perform(sandbox, [ownerrefsStripStage], folder);
    sandbox.upgrade();
    const { cluster } = sandbox;
    const blind: typeof cluster = {
      ...cluster,
      list: async (kind, options) => (kind.group === 'netsvc.io' && kind.plural === 'ippools' ? [] : cluster.list(kind, options)),
    };
    const stages = [ownerrefsRestoreStage, ownerrefsForgetStage];
    const blocked = await perform(sandbox, stages, folder, { cluster: blind });
    assert.deepEqual([blocked.exit, named(blocked, 'NS-741'), blocked.writes], ['blocked', ['ippools.netsvc.io'], 0]);
    const accepted = await perform(sandbox, stages, folder, { cluster: blind, flags: { accept: ['NS-741=ippools.netsvc.io', 'NS-749'] } });
    assert.deepEqual([accepted.exit, is(accepted, 'NS-744')], ['done', 'ok']);
    assert.equal((await journalOf(sandbox, cluster).load())?.entries.length, 5);
    assert.equal((await perform(sandbox, stages, folder)).exit, 'done');
    assert.deepEqual([sandbox.deleted, sandbox.graph()], [[], sandbox.wanted]);
  });

  it('are not sought under the groups of another profile, where their owners would count as gone', async () => {
    const web = entryFor([reference('v3:web')]);
    await journalOf(sandbox, sandbox.cluster).append([web]);
    for (const stage of [ownerrefsRestoreStage, ownerrefsForgetStage]) {
      const { exit, message } = await perform(sandbox, [stage], folder, { flags: { forget: true, accept: ['NS-748'] } });
      assert.equal(exit, 'blocked');
      assert.match(message ?? '', /owners of projectcalico\.org, which profile netsvc does not know/);
    }
    assert.deepEqual((await journalOf(sandbox, sandbox.cluster).load())?.entries, [web]);
  });

  it('are not put back from a journal that somebody changed: a reference that does not name its owner gets its object deleted', async () => {
    await perform(sandbox, [ownerrefsStripStage], folder);
    sandbox.upgrade();
    const journal = journalOf(sandbox, sandbox.cluster);
    const stored = await journal.load();
    assert.ok(stored);
    const entries = stored.entries.map((entry) => ({ ...entry, references: entry.references.map((one) => ({ ...one, name: 'gone' })) }));
    const forged = { ...journal, load: async () => ({ ...stored, entries }) };
    const { exit, message, writes } = await perform(sandbox, [ownerrefsRestoreStage], folder, { journal: forged });
    assert.deepEqual([exit, writes], ['stale', 0]);
    assert.match(message ?? '', /was changed by somebody else: of \S+ it records owner .* names \S+ \S+\/gone$/);
  });

  it('come off and go back all but where this account may not patch, which is named; a run that may does the rest', async () => {
    const { cluster } = sandbox;
    const barred: typeof cluster = {
      ...cluster,
      async patch(kind, ref, ...more) {
        if (kind.plural === 'secrets') throw new ApiFailure(403, 'Forbidden', 'secrets is forbidden in this namespace');
        return cluster.patch(kind, ref, ...more);
      },
    };
    const isWhole = (of: Readonly<Record<string, readonly string[]>>) => (name: string) =>
      of[name]?.length === sandbox.wanted[name]?.length;
    const names = Object.keys(sandbox.wanted).filter((name) => name !== 'Secret/owned-stored');
    const off = await perform(sandbox, [ownerrefsStripStage], folder, { cluster: barred });
    assert.equal(off.exit, 'failed');
    assert.match(off.message ?? '', /refuses 2 of 5 patches: .*owned-web/);
    assert.deepEqual(names.filter(isWhole(sandbox.graph())), ['Secret/owned-web']);
    assert.equal((await perform(sandbox, [ownerrefsStripStage], folder)).exit, 'done');
    sandbox.upgrade();
    const stages = [ownerrefsRestoreStage, ownerrefsForgetStage];
    const back = await perform(sandbox, stages, folder, { cluster: barred });
    assert.deepEqual([back.exit, back.stoppedAt], ['failed', 'ownerrefs-restore']);
    assert.deepEqual(
      names.filter(isWhole(sandbox.graph())),
      names.filter((name) => name !== 'Secret/owned-web'),
    );
    assert.equal((await journalOf(sandbox, cluster).load())?.entries.length, 5);
    assert.equal((await perform(sandbox, stages, folder)).exit, 'done');
    assert.deepEqual([sandbox.deleted, sandbox.graph()], [[], sandbox.wanted]);
  });

  it('are given up when a person ends the journal by name', async () => {
    await perform(sandbox, [ownerrefsStripStage], folder);
    sandbox.upgrade();
    const outcome = await perform(sandbox, [ownerrefsForgetStage], folder, { flags: { forget: true, accept: ['NS-748'] } });
    assert.deepEqual([outcome.exit, await journalOf(sandbox, sandbox.cluster).load()], ['done', undefined]);
  });

  for (const [status, isBlocked] of [
    [405, false],
    [406, false],
    [404, true],
    [403, true],
    [500, true],
    [503, true],
  ] as const)
    it(`${isBlocked ? 'block' : 'do not block'} the strip where a kind answers its list with ${status}`, async () => {
      const { cluster } = sandbox;
      const half: typeof cluster = {
        ...cluster,
        list: async (kind, options) => {
          if (kind.plural === 'roles' && options?.ownedBy) throw new ApiFailure(status, 'x', 'refused by the test');
          return cluster.list(kind, options);
        },
      };
      const outcome = await perform(sandbox, [ownerrefsStripStage], folder, { cluster: half });
      assert.deepEqual([outcome.exit, outcome.writes > 0], isBlocked ? ['blocked', false] : ['done', true]);
      if (isBlocked) assert.deepEqual(named(outcome, 'NS-741'), ['roles.rbac.authorization.k8s.io']);
    });
});
