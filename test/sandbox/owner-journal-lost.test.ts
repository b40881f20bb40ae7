import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { journalStore } from '../../src/adapters/journal/journal.ts';
import type { ComposeRequest } from '../../src/cli/seams.ts';
import { ownerEntries } from '../../src/features/ownerrefs/journal-form.ts';
import { ownerrefsStripStage } from '../../src/features/ownerrefs/strip-stage.ts';
import { Fault } from '../../src/kernel/fault.ts';
import { K } from '../../src/kernel/kinds.ts';
import { emptyFolder } from '../support/folders.ts';
import { entryFor, reference } from '../support/owner-entries.ts';
import { type OwnerSandbox, ownerSandbox, renaming } from '../support/owner-sandbox.ts';
import { journalOf, perform } from '../support/owner-sweep.ts';
import { compositionOf, sandboxCommand } from '../support/sandbox-command.ts';
import { journalIn } from '../support/state.ts';

describe('a journal of owner references that is lost or came to harm', () => {
  const parent = emptyFolder('owners-');
  let sandbox: OwnerSandbox;
  beforeEach(async () => {
    sandbox = await ownerSandbox();
  });

  const inCluster = () => journalOf(sandbox, sandbox.cluster);
  const isOurs = (name: string) => name.startsWith('netsvc-upgrade-owners');
  const loseJournal = () => {
    const { store } = sandbox.scenario.cluster;
    for (const { metadata } of store.list(K.Secret)) if (isOurs(metadata.name)) store.delete(K.Secret, metadata.name, metadata.namespace);
  };
  const command = () => {
    const scenario = { ...sandbox.scenario, workFolder: parent };
    const bench = sandboxCommand(scenario);
    const compose = async (request: ComposeRequest) => ({
      ...compositionOf(scenario, request, renaming),
      ...{ cluster: sandbox.cluster, journal: inCluster() },
    });
    Object.assign(bench.seams, { compose });
    return bench;
  };
  const call = async (...argv: readonly string[]) => {
    const bench = command();
    return { exit: await bench.run(...argv), out: bench.out(), err: bench.err(), text: `${bench.out()}${bench.err()}` };
  };

  it('is in a file of the machine that removed them, whole and for people alone', async () => {
    await perform(sandbox, [ownerrefsStripStage], parent);
    const journal = await inCluster().load();
    const [file = '', ...more] = (await readdir(parent)).filter((name) => name.startsWith('owner-references-'));
    assert.deepEqual(more, []);
    const { entries } = JSON.parse(await readFile(join(parent, file), 'utf8'));
    assert.deepEqual([entries, entries.length], [journal?.entries, 5]);
  });

  it('is removed with its references all the same where that file cannot be written, which is said', async () => {
    const { exit, text } = await call('ownerrefs', 'strip', '--yes');
    assert.equal(exit, 0, text);
    const blocked = await ownerSandbox();
    const outcome = await perform(blocked, [ownerrefsStripStage], '/dev/null/none');
    assert.equal(outcome.exit, 'done', outcome.message);
    assert.equal((await journalOf(blocked, blocked.cluster).load())?.entries.length, 5);
  });

  it('is put aside as advised where it is another cluster’s, and nobody speaks of a backup', async () => {
    const place = journalIn(sandbox.cluster);
    const foreign = { place, form: async () => ownerEntries, clusterUid: 'other', profile: 'netsvc', runId: 'r1' };
    await journalStore(foreign).append([entryFor([reference('v3:web')])]);
    const { suggestions, message } = await inCluster()
      .load()
      .then(
        () => assert.fail('the journal was read'),
        (thrown: unknown) => (thrown instanceof Fault ? thrown : assert.fail(String(thrown))),
      );
    assert.match(message, /Secret\/kube-system\/netsvc-upgrade-owners: it is of another cluster/);
    assert.doesNotMatch(suggestions.join(), /backup/);
    // What `kubectl get secrets -o name | grep -E …` of the advice selects is deleted.
    const [, pattern = ''] = /grep -E '([^']+)' \| xargs kubectl -n kube-system delete$/m.exec(suggestions.join('\n')) ?? [];
    assert.notEqual(pattern, '', suggestions.join('\n'));
    const { store } = sandbox.scenario.cluster;
    for (const { metadata } of store.list(K.Secret))
      if (new RegExp(pattern).test(`secret/${metadata.name}`)) store.delete(K.Secret, metadata.name, metadata.namespace);
    assert.equal((await perform(sandbox, [ownerrefsStripStage], parent)).exit, 'done');
  });

  for (const [when, ...slice] of [
    ['before the upgrade', 'ownerrefs', 'strip'],
    ['in the middle of it', 'run', '--through', 'wait', '--skip', 'backup'],
  ] as const)
    it(`stops the run with exit 7 where it is lost ${when}, whatever is left to do`, async () => {
      const begun = await call(...slice, '--yes');
      assert.equal(begun.exit, 0, begun.text);
      loseJournal();
      const ended = await call('run', '--skip', 'backup', '--yes');
      assert.deepEqual([ended.exit, /NS-753.*the journal is gone/.test(ended.text)], [7, true], ended.text);
      assert.match(ended.text, /take owner-references-\*\.json/);
    });

  it('is counted by status from the run record, in one request', async () => {
    await perform(sandbox, [ownerrefsStripStage], parent);
    loseJournal();
    const { exit, out, err } = await call('status');
    assert.equal(exit, 0, err);
    assert.match(out, /\nowner references: \d+ references on 5 objects recorded as removed\n/);
    const document = JSON.parse((await call('status', '-o', 'json')).out);
    assert.equal(document.ownerReferences.objects, 5);
  });

  it('does not keep list from listing where it is in pieces, which restore tells with each step', async () => {
    await perform(sandbox, [ownerrefsStripStage], parent);
    const { store } = sandbox.scenario.cluster;
    const chunk = store.list(K.Secret).find(({ metadata }) => /owners-r1-0001-0001$/.test(metadata.name));
    assert.ok(chunk);
    store.delete(K.Secret, chunk.metadata.name, 'kube-system');
    const restore = await call('ownerrefs', 'restore', '--yes', '--context', 'prod');
    assert.equal(restore.exit, 7, restore.err);
    assert.match(restore.err, /: it is gone\n[\s\S]*Next: kubectl --context=prod -n kube-system get secret/);
    const list = await call('ownerrefs', 'list');
    assert.equal(list.exit, 0, list.err);
    assert.match(list.err, /Warning: the journal of owner references cannot be used: .* it is gone \(/);
  });
});
