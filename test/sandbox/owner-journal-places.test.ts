import assert from 'node:assert/strict';
import { readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { copiedJournal, journalFolder } from '../../src/adapters/journal/folder.ts';
import { journalStore } from '../../src/adapters/journal/journal.ts';
import { STATE_TYPE } from '../../src/adapters/state/ledger.ts';
import type { ComposeRequest } from '../../src/cli/seams.ts';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { ownerrefsForgetStage, ownerrefsRestoreStage } from '../../src/features/chain.ts';
import { ownerEntries } from '../../src/features/ownerrefs/journal-form.ts';
import { ownerrefsStripStage } from '../../src/features/ownerrefs/strip-stage.ts';
import { Fault } from '../../src/kernel/fault.ts';
import type { JournalStore } from '../../src/kernel/journal.ts';
import { K } from '../../src/kernel/kinds.ts';
import { ApiFailure } from '../../src/kernel/ports.ts';
import { emptyFolder } from '../support/folders.ts';
import { conforms } from '../support/output-schema.ts';
import { entryFor, reference } from '../support/owner-entries.ts';
import { openFindings } from '../support/owner-faults.ts';
import { type OwnerSandbox, ownerSandbox, renaming } from '../support/owner-sandbox.ts';
import { journalOf, perform } from '../support/owner-sweep.ts';
import { compositionOf, sandboxCommand } from '../support/sandbox-command.ts';
import { journalIn } from '../support/state.ts';

const STAGES = [ownerrefsStripStage, ownerrefsRestoreStage, ownerrefsForgetStage];
const errors = ({ findings }: ChainOutcome) => findings.filter(({ outcome }) => outcome === 'error').map(({ id }) => id);

describe('a journal of owner references that is not where it belongs', () => {
  const parent = emptyFolder('owners-');
  let copy: string;
  let sandbox: OwnerSandbox;
  beforeEach(async () => {
    copy = join(parent, 'copy');
    sandbox = await ownerSandbox();
  });

  /** The journal of a machine that keeps a copy, as it is composed where NS-751 is accepted, or not. */
  function withCopy(isTrusted = false): JournalStore {
    const place = journalIn(sandbox.cluster, 'kube-system');
    const deps = { place, form: async () => ownerEntries, clusterUid: sandbox.scenario.clusterUid, profile: 'netsvc', runId: 'r1' };
    return copiedJournal(deps, journalFolder(copy), isTrusted);
  }
  const inCluster = () => journalOf(sandbox, sandbox.cluster);
  const referencesOf = (name: string) => sandbox.scenario.cluster.store.get(K.Secret, name, 'default')?.metadata.ownerReferences ?? [];
  const loseJournal = () => {
    const { store } = sandbox.scenario.cluster;
    for (const { metadata } of store.list(K.Secret))
      if (metadata.name.startsWith('netsvc-upgrade-owners')) store.delete(K.Secret, metadata.name, metadata.namespace);
  };

  describe('only a copy on this machine', () => {
    it('is not restored from where another machine ended the journal: a reference that a person took off since stays off', async () => {
      await perform(sandbox, [ownerrefsStripStage], parent, { journal: withCopy() });
      sandbox.upgrade();
      assert.equal((await perform(sandbox, [ownerrefsRestoreStage, ownerrefsForgetStage], parent)).exit, 'done');
      const { store } = sandbox.scenario.cluster;
      const web = store.get(K.Secret, 'owned-web', 'default');
      assert.ok(web);
      const { ownerReferences: _, ...metadata } = web.metadata;
      store.update(K.Secret, { ...web, metadata });
      for (const stages of [...STAGES.map((one) => [one]), STAGES]) {
        const outcome = await perform(sandbox, stages, parent, { journal: withCopy() });
        assert.deepEqual([outcome.exit, errors(outcome), outcome.writes, referencesOf('owned-web')], ['blocked', ['NS-751'], 0, []]);
      }
      await rename(copy, join(parent, 'ended-elsewhere'));
      assert.equal((await perform(sandbox, STAGES, parent, { journal: withCopy() })).exit, 'done');
      assert.deepEqual(referencesOf('owned-web'), []);
    });

    it('stands in for the cluster’s that was lost, once a person says so', async () => {
      await perform(sandbox, [ownerrefsStripStage], parent, { journal: withCopy() });
      loseJournal();
      sandbox.upgrade();
      assert.equal((await perform(sandbox, [ownerrefsRestoreStage], parent, { journal: withCopy() })).exit, 'blocked');
      const accepted = { journal: withCopy(true), flags: { accept: ['NS-751'] } };
      const outcome = await perform(sandbox, STAGES, parent, accepted);
      assert.equal(outcome.exit, 'done', openFindings(outcome));
      assert.deepEqual([sandbox.deleted, sandbox.graph(), await withCopy().load()], [[], sandbox.wanted, undefined]);
    });

    it('comes back to the cluster before anything else is removed on its strength', async () => {
      await perform(sandbox, [ownerrefsStripStage], parent, { journal: withCopy() });
      loseJournal();
      const owner = { apiVersion: 'netsvc.io/v3', kind: 'IPPool', name: 'pool' };
      const uid = sandbox.uidOf(owner);
      assert.ok(uid);
      sandbox.put(K.Secret, 'owned-late', [{ ...owner, uid }]);
      assert.equal((await perform(sandbox, [ownerrefsStripStage], parent, { journal: withCopy() })).exit, 'blocked');
      const accepted = { journal: withCopy(true), flags: { accept: ['NS-751'] } };
      const outcome = await perform(sandbox, [ownerrefsStripStage], parent, accepted);
      assert.equal(outcome.exit, 'done', openFindings(outcome));
      assert.equal((await inCluster().load())?.entries.length, 6);
      sandbox.upgrade();
      assert.equal((await perform(sandbox, [ownerrefsRestoreStage, ownerrefsForgetStage], parent, { journal: withCopy() })).exit, 'done');
      const { 'Secret/owned-late': late, ...others } = sandbox.graph();
      assert.deepEqual([sandbox.deleted, others, late?.length], [[], sandbox.wanted, 1]);
    });
  });

  describe('parts that came to harm', () => {
    /** What `kubectl get secrets -o name | grep -E …` of the advice selects is deleted. */
    const deleteAsAdvised = (advice: readonly string[]) => {
      const [, pattern = ''] = /grep -E '([^']+)' \| xargs kubectl -n kube-system delete$/m.exec(advice.join('\n')) ?? [];
      assert.notEqual(pattern, '', advice.join('\n'));
      const { store } = sandbox.scenario.cluster;
      for (const { metadata } of store.list(K.Secret))
        if (metadata.namespace === 'kube-system' && new RegExp(pattern).test(`secret/${metadata.name}`))
          store.delete(K.Secret, metadata.name, metadata.namespace);
    };
    const refusedBy = (journal: JournalStore): Promise<Fault> =>
      journal.load().then(
        () => assert.fail('the journal was read'),
        (thrown: unknown) => (thrown instanceof Fault ? thrown : assert.fail(String(thrown))),
      );
    const damage = () => {
      const { store } = sandbox.scenario.cluster;
      const chunk = store.list(K.Secret).find(({ metadata }) => /owners-r1-0001-0001$/.test(metadata.name));
      assert.ok(chunk);
      store.delete(K.Secret, chunk.metadata.name, 'kube-system');
      // Without its labels, too: whoever edits by hand may lose them.
      const { name, namespace } = chunk.metadata;
      store.insert(K.Secret, {
        apiVersion: 'v1',
        kind: 'Secret',
        type: STATE_TYPE,
        metadata: { name, ...(namespace ? { namespace } : {}) },
      });
    };

    it('are put aside as advised, and the copy is restored from', async () => {
      await perform(sandbox, [ownerrefsStripStage], parent, { journal: withCopy() });
      damage();
      sandbox.upgrade();
      const { suggestions } = await refusedBy(withCopy());
      deleteAsAdvised(suggestions);
      const [, flags = ''] = /ownerrefs restore --state-namespace kube-system --journal-dir DIR (.+)$/.exec(suggestions.at(-1) ?? '') ?? [];
      assert.equal(flags, '--accept NS-751');
      const accepted = { journal: withCopy(true), flags: { accept: ['NS-751'] } };
      const outcome = await perform(sandbox, [ownerrefsRestoreStage, ownerrefsForgetStage], parent, accepted);
      assert.equal(outcome.exit, 'done', openFindings(outcome));
      assert.deepEqual([sandbox.deleted, sandbox.graph()], [[], sandbox.wanted]);
    });

    it('are put aside as advised where they are another cluster’s, and nobody speaks of a backup', async () => {
      const foreign = {
        place: journalIn(sandbox.cluster, 'kube-system'),
        form: async () => ownerEntries,
        clusterUid: 'other',
        profile: 'netsvc',
        runId: 'r1',
      };
      await journalStore(foreign).append([entryFor([reference('v3:web')])]);
      const { suggestions, message } = await refusedBy(inCluster());
      assert.match(message, /Secret\/kube-system\/netsvc-upgrade-owners: it is of another cluster/);
      assert.doesNotMatch(suggestions.join(), /backup/);
      deleteAsAdvised(suggestions);
      assert.equal((await perform(sandbox, [ownerrefsStripStage], parent)).exit, 'done');
    });

    it('in the folder are left with it, and a new copy is made from the cluster’s', async () => {
      await perform(sandbox, [ownerrefsStripStage], parent, { journal: withCopy() });
      const local = journalStore({
        place: journalFolder(copy),
        form: async () => ownerEntries,
        clusterUid: sandbox.scenario.clusterUid,
        profile: 'netsvc',
        runId: 'r1',
      });
      const [chunk = ''] = await readdir(copy);
      await writeFile(join(copy, chunk), 'x');
      assert.match((await refusedBy(local)).suggestions.join(), new RegExp(`^move ${copy} away`));
      await rename(copy, join(parent, 'damaged'));
      await withCopy().append([]);
      assert.equal((await local.load())?.entries.length, 5);
    });

    it('of another cluster’s folder are kept, and another folder is named', async () => {
      const foreign = { place: journalFolder(copy), form: async () => ownerEntries, clusterUid: 'other', profile: 'netsvc', runId: 'r1' };
      await journalStore(foreign).append([entryFor([reference('v3:web')])]);
      const { suggestions } = await refusedBy(withCopy());
      assert.match(suggestions.join(), new RegExp(`^keep ${copy}: .*,name another folder with --journal-dir`));
    });
  });

  describe('of another state namespace', () => {
    const storeIn = (namespace: string, cluster = sandbox.cluster) =>
      journalStore({
        place: journalIn(cluster, namespace),
        form: async () => ownerEntries,
        clusterUid: sandbox.scenario.clusterUid,
        profile: 'netsvc',
        runId: 'r1',
      });

    it('stops whoever does not name that namespace, before and after the upgrade', async () => {
      await perform(sandbox, [ownerrefsStripStage], parent, { journal: storeIn('default') });
      for (const isAfter of [false, true]) {
        if (isAfter) sandbox.upgrade();
        for (const stage of STAGES) {
          const outcome = await perform(sandbox, [stage], parent, { journal: storeIn('kube-system') });
          const found = outcome.findings.find(({ id }) => id === 'NS-752');
          assert.deepEqual([outcome.exit, errors(outcome), outcome.writes], ['blocked', ['NS-752'], 0]);
          assert.equal(found?.next, 'kubectl netsvc-upgrade status --state-namespace default');
        }
      }
      const outcome = await perform(sandbox, STAGES, parent, { journal: storeIn('default') });
      assert.deepEqual([outcome.exit, sandbox.graph()], ['done', sandbox.wanted], openFindings(outcome));
    });

    it('is another service’s once a person says so', async () => {
      await storeIn('default').append([entryFor([reference('v3:web')])]);
      const accepted = { journal: storeIn('kube-system'), flags: { accept: ['NS-752=default'] } };
      assert.equal((await perform(sandbox, [ownerrefsStripStage], parent, accepted)).exit, 'done');
    });

    it('is looked for once, and not where this account may not look, which is said', async () => {
      let asked = 0;
      const barred: typeof sandbox.cluster = {
        ...sandbox.cluster,
        async list(kind, options = {}) {
          if (kind.plural !== 'secrets' || options.fieldSelector === undefined || options.namespace !== undefined)
            return sandbox.cluster.list(kind, options);
          asked += 1;
          throw new ApiFailure(403, 'Forbidden', 'secrets is forbidden at the cluster scope');
        },
      };
      const outcome = await perform(sandbox, [ownerrefsRestoreStage, ownerrefsForgetStage], parent, {
        journal: storeIn('kube-system', barred),
      });
      assert.deepEqual([outcome.exit, asked], ['done', 1]);
      assert.match(outcome.stages[0]?.because ?? '', /this account may not look for a journal in other namespaces/);
    });

    it('is named by status and list, with the way to it', async () => {
      await storeIn('default').append([entryFor([reference('v3:web')])]);
      const told = async (...argv: string[]) => {
        const bench = sandboxCommand(sandbox.scenario);
        const compose = async (request: ComposeRequest) => {
          const composition = compositionOf(sandbox.scenario, request, renaming);
          return { ...composition, cluster: sandbox.cluster, journal: storeIn(composition.context.options.stateNamespace) };
        };
        Object.assign(bench.seams, { compose });
        assert.equal(await bench.run(...argv), 0, bench.err());
        return bench;
      };
      const status = (await told('status')).out();
      assert.match(
        status,
        /owner references: no journal in namespace kube-system, but in default\n {4}next: .*--state-namespace default\n/,
      );
      assert.match(status, /Next: kubectl netsvc-upgrade status --state-namespace default\n$/);
      const document = JSON.parse((await told('status', '-o', 'json')).out());
      conforms(document, 'status.schema.json');
      assert.match(
        (await told('ownerrefs', 'list')).err(),
        /Warning: .* in namespace default, not in kube-system.*--state-namespace default/,
      );
      assert.match((await told('status', '--state-namespace', 'default')).out(), /1 reference on 1 object recorded in Secret\/default\//);
    });
  });

  for (const [when, ...slice] of [
    ['before the upgrade', 'ownerrefs', 'strip'],
    ['in the middle of it', 'run', '--through', 'wait', '--skip', 'backup'],
  ] as const)
    it(`that is lost ${when} stops the run with exit 7, whatever is left to do`, async () => {
      const call = async (...argv: readonly string[]) => {
        const bench = sandboxCommand(sandbox.scenario);
        const compose = async (request: ComposeRequest) => {
          const composition = compositionOf(sandbox.scenario, request, renaming);
          return { ...composition, cluster: sandbox.cluster, journal: inCluster() };
        };
        Object.assign(bench.seams, { compose });
        return { exit: await bench.run(...argv, '--yes'), text: `${bench.out()}${bench.err()}` };
      };
      const begun = await call(...slice);
      assert.equal(begun.exit, 0, begun.text);
      loseJournal();
      const ended = await call('run', '--skip', 'backup');
      assert.deepEqual([ended.exit, /NS-753.*the journal is gone/.test(ended.text)], [7, true], ended.text);
    });

  it('that is gone is told by status, from the run record', async () => {
    await perform(sandbox, [ownerrefsStripStage], parent);
    loseJournal();
    const bench = sandboxCommand(sandbox.scenario);
    const compose = async (request: ComposeRequest) => ({ ...compositionOf(sandbox.scenario, request), journal: inCluster() });
    Object.assign(bench.seams, { compose });
    assert.equal(await bench.run('status'), 0, bench.err());
    assert.match(
      bench.out(),
      /owner references: the run record says that \d+ references of \d+ objects are removed, and the journal does not hold them.*\n {4}next: kubectl netsvc-upgrade explain NS-753\n/,
    );
  });

  it('in pieces is told by status with every step that leads on, and does not keep list from listing', async () => {
    await perform(sandbox, [ownerrefsStripStage], parent);
    const { store } = sandbox.scenario.cluster;
    const chunk = store.list(K.Secret).find(({ metadata }) => /owners-r1-0001-0001$/.test(metadata.name));
    assert.ok(chunk);
    store.delete(K.Secret, chunk.metadata.name, 'kube-system');
    const bench = sandboxCommand(sandbox.scenario);
    const compose = async (request: ComposeRequest) => ({ ...compositionOf(sandbox.scenario, request), journal: inCluster() });
    Object.assign(bench.seams, { compose });
    assert.equal(await bench.run('status', '--context', 'prod'), 0, bench.err());
    assert.match(
      bench.out(),
      /owner references: the journal of owner references cannot be used: Secret\/.*: it is gone\n {4}next: look at it: kubectl --context=prod /,
    );
    assert.match(
      bench.out(),
      /\n {4}next: then continue from the copy: kubectl netsvc-upgrade ownerrefs --context=prod restore --state-namespace kube-system --journal-dir DIR --accept NS-751\n/,
    );
    const restore = sandboxCommand(sandbox.scenario);
    Object.assign(restore.seams, { compose });
    assert.equal(await restore.run('ownerrefs', 'restore', '--yes', '--context', 'prod'), 7, restore.err());
    assert.match(restore.err(), /kubectl netsvc-upgrade ownerrefs --context=prod restore --state-namespace kube-system/);
    const list = sandboxCommand(sandbox.scenario);
    Object.assign(list.seams, { compose });
    assert.equal(await list.run('ownerrefs', 'list'), 0, list.err());
    assert.match(list.err(), /Warning: the journal of owner references cannot be used: .* it is gone \(kubectl netsvc-upgrade status\)\n/);
  });
});
