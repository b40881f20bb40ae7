import assert from 'node:assert/strict';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { ownerrefsForgetStage, ownerrefsRestoreStage } from '../../src/features/chain.ts';
import { entryKey } from '../../src/features/ownerrefs/journal-entries.ts';
import { ownerrefsStripStage } from '../../src/features/ownerrefs/strip-stage.ts';
import type { Finding } from '../../src/kernel/check.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { Kind, OwnerReference } from '../../src/kernel/object.ts';
import { ApiFailure } from '../../src/kernel/ports.ts';
import { testFolder } from '../support/folders.ts';
import { kindOf } from '../support/hep-sandbox.ts';
import { openFindings } from '../support/owner-faults.ts';
import { type OwnerSandbox, ownerSandbox } from '../support/owner-sandbox.ts';
import { journalOf, perform } from '../support/owner-sweep.ts';

const found = ({ findings }: ChainOutcome, id: string): Finding | undefined => findings.find((one) => one.id === id);
const reasonOf = ({ stages }: ChainOutcome) => stages.at(-1)?.because ?? '';
const stages = [ownerrefsRestoreStage, ownerrefsForgetStage];

describe('the journal of owner references ends', () => {
  const folder = testFolder('owners-');
  let sandbox: OwnerSandbox;
  beforeEach(async () => {
    sandbox = await ownerSandbox();
    assert.equal((await perform(sandbox, [ownerrefsStripStage], folder)).exit, 'done');
  });

  const journal = () => journalOf(sandbox, sandbox.cluster).load();
  const store = () => sandbox.scenario.cluster.store;
  const ownersOf = (kind: Kind, name: string) => store().get(kind, name, 'default')?.metadata.ownerReferences ?? [];
  const own = (kind: Kind, name: string, owners: readonly OwnerReference[]) => {
    const object = store().get(kind, name, 'default');
    assert.ok(object);
    const { ownerReferences: _, ...metadata } = object.metadata;
    store().update(kind, { ...object, metadata: owners.length === 0 ? metadata : { ...metadata, ownerReferences: owners } });
  };
  const removeWeb = () => {
    const policies = kindOf(sandbox.scenario.cluster, 'globalnetworkpolicies');
    store().delete(policies, 'web');
  };

  describe('not while it alone knows of a reference that is left off', () => {
    it('because the object has another controller: it is named with the way on, and comes back once that one is off', async () => {
      sandbox.upgrade();
      own(K.ConfigMap, 'owned-pool', [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'tmp', uid: 't', controller: true }]);
      const kept = await perform(sandbox, stages, folder);
      assert.deepEqual([kept.exit, found(kept, 'NS-745')?.outcome, found(kept, 'NS-748')?.outcome], ['done', 'warning', 'warning']);
      assert.match(reasonOf(kept), /restore leaves off.*forget --accept NS-748$/);
      const { hint = '', next, evidence = [] } = found(kept, 'NS-748') ?? {};
      assert.deepEqual(
        [String(next), evidence.map(({ text }) => text)],
        ['kubectl netsvc-upgrade ownerrefs list', ['ConfigMap/default/owned-pool']],
      );
      assert.match(hint, /restore does not put them back/);
      assert.equal((await journal())?.entries.length, 5);
      own(K.ConfigMap, 'owned-pool', []);
      assert.equal((await perform(sandbox, stages, folder)).exit, 'done');
      assert.deepEqual([sandbox.deleted, sandbox.graph(), await journal()], [[], sandbox.wanted, undefined]);
    });

    it('because its owner is gone', async () => {
      sandbox.upgrade();
      removeWeb();
      const kept = await perform(sandbox, stages, folder);
      assert.deepEqual([kept.exit, found(kept, 'NS-744')?.outcome, (await journal())?.entries.length], ['done', 'warning', 5]);
      const asked = await perform(sandbox, [ownerrefsForgetStage], folder, { flags: { forget: true } });
      assert.deepEqual([asked.exit, asked.writes, found(asked, 'NS-748')?.outcome], ['blocked', 0, 'error']);
      assert.deepEqual(
        found(asked, 'NS-748')
          ?.evidence.map(({ text }) => text)
          .toSorted(),
        ['ClusterRole/owned-role', 'Secret/default/owned-stored', 'Secret/default/owned-web'],
      );
    });

    const all = ['ClusterRole/owned-role', 'Secret/default/owned-stored', 'Secret/default/owned-web'];
    for (const accept of [['NS-744'], all.map((one) => `NS-744=${one}`), all.map((one) => `NS-748=${one}`)])
      it(`unless a person accepts it: ${accept.join(' ')}`, async () => {
        sandbox.upgrade();
        removeWeb();
        const ended = await perform(sandbox, stages, folder, { flags: { accept } });
        assert.deepEqual([ended.exit, found(ended, 'NS-748')?.outcome, await journal()], ['done', 'ok', undefined]);
      });

    it('and accepting one object is not accepting another', async () => {
      sandbox.upgrade();
      removeWeb();
      const accept = ['NS-744=ClusterRole/owned-role', 'NS-745', 'NS-748=Secret/default/owned-web'];
      const kept = await perform(sandbox, stages, folder, { flags: { accept } });
      assert.deepEqual(
        found(kept, 'NS-748')?.evidence.map(({ text }) => text),
        ['Secret/default/owned-stored'],
      );
      // It is no subject any more because it was accepted, which is no typo.
      assert.doesNotMatch(found(kept, 'NS-748')?.hint ?? '', /was accepted for/);
      assert.equal((await journal())?.entries.length, 5);
    });
  });

  it('where what is not back has nothing to lose: its object is gone, or somebody put it back with other flags', async () => {
    sandbox.upgrade();
    store().delete(K.ConfigMap, 'owned-pool', 'default');
    const web = { apiVersion: 'netsvc.io/v3', kind: 'GlobalNetworkPolicy', name: 'web' };
    own(K.Secret, 'owned-web', [{ ...web, uid: sandbox.uidOf(web) ?? '', controller: true }]);
    const ended = await perform(sandbox, stages, folder);
    assert.deepEqual([ended.exit, found(ended, 'NS-745')?.evidence.length, await journal()], ['done', 2, undefined]);
  });

  describe('before the upgrade', () => {
    const flags = { forget: true };
    const undone = async () => {
      const back = await perform(sandbox, [ownerrefsStripStage], folder, { flags: { undo: true } });
      assert.equal(back.exit, 'done', openFindings(back));
    };

    it('once everything is back as it was', async () => {
      await undone();
      const ended = await perform(sandbox, [ownerrefsForgetStage], folder, { flags });
      assert.deepEqual([ended.exit, sandbox.graph(), await journal()], ['done', sandbox.wanted, undefined]);
    });

    it('not while something is off, which is an error', async () => {
      const early = await perform(sandbox, [ownerrefsForgetStage], folder, { flags });
      assert.deepEqual([early.exit, found(early, 'NS-748')?.outcome, (await journal())?.entries.length], ['blocked', 'error', 5]);
      assert.match(String(found(early, 'NS-748')?.next ?? ''), /ownerrefs restore --undo$/);
    });

    it('not once `apply` has written, though everything is there: those UIDs die', async () => {
      await undone();
      const { state } = sandbox.scenario;
      assert.ok(state.record);
      state.record = { ...state.record, wrote: [...(state.record.wrote ?? []), 'apply'] };
      const early = await perform(sandbox, [ownerrefsForgetStage], folder, { flags });
      assert.deepEqual([early.writes, (await journal())?.entries.length], [0, 5]);
      assert.match(reasonOf(early), /the upgrade is not over/);
    });

    it('not after it either, where something is waited for and no record says that it began: what is back is not called off', async () => {
      sandbox.upgrade();
      assert.equal((await perform(sandbox, [ownerrefsRestoreStage], folder)).exit, 'done');
      const policies = sandbox.scenario.cluster
        .kinds()
        .find(({ plural, group }) => plural === 'globalnetworkpolicies' && group !== 'netsvc.io');
      assert.ok(policies);
      const metadata = { name: 'default.late', annotations: { 'netsvc.io/metadata': '{}' } };
      store().insert(policies, { apiVersion: `${policies.group}/v1`, kind: policies.kind, metadata });
      const early = await perform(sandbox, [ownerrefsForgetStage], folder, { flags });
      assert.deepEqual([early.exit, found(early, 'NS-748')?.outcome, early.writes], ['done', 'not-applicable', 0]);
      assert.match(reasonOf(early), /the upgrade is not over/);
    });

    it('where a person gives up what is off, which then stays off at the upgrade', async () => {
      await undone();
      own(K.Secret, 'owned-web', []);
      const early = await perform(sandbox, [ownerrefsForgetStage], folder, { flags });
      assert.deepEqual([early.exit, found(early, 'NS-748')?.outcome], ['blocked', 'error']);
      const ended = await perform(sandbox, [ownerrefsForgetStage], folder, { flags: { ...flags, accept: ['NS-748'] } });
      assert.deepEqual([ended.exit, await journal()], ['done', undefined]);
      assert.equal((await perform(sandbox, [ownerrefsStripStage], folder)).exit, 'done');
      sandbox.upgrade();
      assert.equal((await perform(sandbox, stages, folder)).exit, 'done');
      assert.deepEqual([ownersOf(K.Secret, 'owned-web'), sandbox.graph()], [[], { ...sandbox.wanted, 'Secret/owned-web': [] }]);
    });
  });

  describe('and until then remembers what was put back', () => {
    /** The journal stays, for an unrelated owner is gone. */
    const restored = async () => {
      sandbox.upgrade();
      removeWeb();
      assert.equal((await perform(sandbox, stages, folder)).exit, 'done');
      assert.equal(ownersOf(K.ConfigMap, 'owned-pool').length, 1);
    };

    it('so that what a person removes after that stays off, and is named', async () => {
      await restored();
      own(K.ConfigMap, 'owned-pool', []);
      const again = await perform(sandbox, stages, folder);
      const { evidence = [] } = found(again, 'NS-745') ?? {};
      assert.deepEqual([again.exit, again.writes, ownersOf(K.ConfigMap, 'owned-pool')], ['done', 0, []]);
      assert.deepEqual(
        evidence.map(({ text }) => text),
        ['ConfigMap/default/owned-pool'],
      );
      assert.match(evidence[0]?.detail ?? '', /removed it after it was put back/);
      const ended = await perform(sandbox, stages, folder, { flags: { accept: ['NS-744'] } });
      assert.deepEqual([ended.exit, await journal()], ['done', undefined]);
    });

    it('so that what a strip removes after that comes back all the same', async () => {
      await restored();
      const pool = ownersOf(K.ConfigMap, 'owned-pool');
      const off = await perform(sandbox, [ownerrefsStripStage], folder);
      assert.deepEqual([off.exit, ownersOf(K.ConfigMap, 'owned-pool')], ['done', []], openFindings(off));
      const back = await perform(sandbox, [ownerrefsRestoreStage], folder);
      assert.deepEqual([back.exit, ownersOf(K.ConfigMap, 'owned-pool')], ['done', pool]);
    });

    it('is before the upgrade not said of what goes back as it was', async () => {
      assert.equal((await perform(sandbox, [ownerrefsStripStage], folder, { flags: { undo: true } })).exit, 'done');
      assert.ok((await journal())?.entries.every(({ owners }) => owners.every(({ restoredUid }) => restoredUid === undefined)));
    });

    it('but of no policy that was stored anew: the journal has it under its old name', async () => {
      sandbox = await ownerSandbox({ ownedPolicy: true });
      assert.equal((await perform(sandbox, [ownerrefsStripStage], folder)).exit, 'done');
      const keys = async () => (await journal())?.entries.map(entryKey);
      const before = await keys();
      sandbox.upgrade();
      assert.equal((await perform(sandbox, [ownerrefsRestoreStage], folder)).exit, 'done');
      assert.deepEqual([sandbox.graph(), await keys()], [sandbox.wanted, before]);
    });

    for (const [status, exit] of [
      [500, 'failed'],
      [403, 'done'],
    ] as const)
      it(`also where the run that put it back could not say so: HTTP ${status}`, async () => {
        sandbox.upgrade();
        removeWeb();
        const { cluster } = sandbox;
        const full: typeof cluster = {
          ...cluster,
          create: async (kind, object, ...more) => {
            if (object.metadata.name.startsWith('netsvc-upgrade-owners-')) throw new ApiFailure(status, 'No', 'no room');
            return cluster.create(kind, object, ...more);
          },
        };
        assert.equal((await perform(sandbox, stages, folder, { cluster: full })).exit, exit);
        assert.equal(ownersOf(K.ConfigMap, 'owned-pool').length, 1);
        const noted = await perform(sandbox, [ownerrefsRestoreStage], folder);
        assert.deepEqual([noted.exit, noted.writes > 0], ['done', true]);
        own(K.ConfigMap, 'owned-pool', []);
        const again = await perform(sandbox, [ownerrefsRestoreStage], folder);
        assert.deepEqual([again.exit, again.writes, ownersOf(K.ConfigMap, 'owned-pool')], ['done', 0, []]);
      });
  });
});
