import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { copiedJournal, journalFolder } from '../../../src/adapters/journal/folder.ts';
import { JOURNAL_NAME } from '../../../src/adapters/journal/head.ts';
import { journalStore } from '../../../src/adapters/journal/journal.ts';
import { ownerEntries } from '../../../src/features/ownerrefs/journal-form.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import { emptyFolder } from '../../support/folders.ts';
import { memoryCluster } from '../../support/memory-cluster.ts';
import { DEPENDENT, entryFor, reference } from '../../support/owner-entries.ts';
import { journalIn } from '../../support/state.ts';

const entry = (name: string) => entryFor([reference('v3:set')], { ...DEPENDENT, name, uid: `uid-of-${name}` });

describe('the second copy of the journal', () => {
  const parent = emptyFolder('journal-');
  let folder = '';
  beforeEach(async () => {
    folder = join(parent, 'owners', 'journal');
  });

  function ground() {
    const memory = memoryCluster();
    const deps = {
      place: journalIn(memory.cluster, 'kube-system'),
      form: async () => ownerEntries,
      clusterUid: 'uid',
      profile: 'calico',
      runId: 'r1',
    };
    const local = journalStore({ ...deps, place: journalFolder(folder) });
    const [both, trusting] = [false, true].map((isTrusted) => copiedJournal(deps, journalFolder(folder), isTrusted));
    assert.ok(both && trusting);
    return { memory, local, cluster: journalStore(deps), both, trusting };
  }

  it('holds the same, in files that only their owner reads, and that gunzip reads', async () => {
    const { both, local, cluster } = ground();
    await both.append([entry('a')]);
    assert.deepEqual((await local.load())?.entries, (await cluster.load())?.entries);
    assert.deepEqual(await readdir(folder), [`${JOURNAL_NAME}-r1-0001-0001.jsonl.gz`, `${JOURNAL_NAME}.json`]);
    for (const file of await readdir(folder)) assert.equal((await stat(join(folder, file))).mode & 0o777, 0o600);
    assert.equal((await stat(folder)).mode & 0o777, 0o700);
    const [, line = ''] = gunzipSync(await readFile(join(folder, `${JOURNAL_NAME}-r1-0001-0001.jsonl.gz`)))
      .toString()
      .split('\n');
    assert.deepEqual(JSON.parse(line), entry('a'));
  });

  it('is read if the cluster has none any more, and says that it is the copy', async () => {
    const { both, memory } = ground();
    await both.append([entry('a')]);
    assert.equal((await both.load())?.copyOnly, false);
    memory.objects.clear();
    const journal = await both.load();
    assert.deepEqual([journal?.entries, journal?.copyOnly, journal?.readFrom], [[entry('a')], true, join(folder, `${JOURNAL_NAME}.json`)]);
  });

  it('is not taken for a journal that the cluster holds in pieces', async () => {
    const { both, memory } = ground();
    await both.append([entry('a')]);
    memory.objects.delete(`kube-system/${JOURNAL_NAME}-r1-0001-0001`);
    await assert.rejects(both.load(), /it is gone/);
  });

  it('stops a new journal: it may be the only record of an upgrade that is not over', async () => {
    const { both, memory } = ground();
    await both.append([entry('a')]);
    memory.objects.clear();
    await assert.rejects(both.append([entry('b')]), /there is a local copy of one/);
    assert.equal(memory.objects.size, 0);
  });

  it('is what a new journal begins with once a person has said that the cluster’s was lost', async () => {
    const { both, cluster, local, trusting, memory } = ground();
    await both.append([entry('a')]);
    memory.objects.clear();
    await trusting.append([]);
    assert.deepEqual((await cluster.load())?.entries, [entry('a')]);
    memory.objects.clear();
    await trusting.append([entry('b')]);
    assert.deepEqual((await cluster.load())?.entries, [entry('a'), entry('b')]);
    assert.deepEqual((await local.load())?.entries, [entry('a'), entry('b')]);
  });

  it('does not bring back what it notes as back: it may be older than what was removed last', async () => {
    const { trusting, cluster, local } = ground();
    const off = entry('a');
    const noted = { ...off, owners: off.owners.map((owner) => ({ ...owner, restoredUid: 'now' })) };
    await local.append([noted]);
    await trusting.append([entry('b')]);
    assert.deepEqual((await cluster.load())?.entries, [off, entry('b')]);
  });

  it('is written after the cluster, and not at all if that failed', async () => {
    const { both, memory } = ground();
    memory.away = new ApiFailure(503, 'Unavailable', 'away');
    await assert.rejects(both.append([entry('a')]), /away/);
    assert.deepEqual(await readdir(parent), []);
  });

  it('gets what it missed with the next append', async () => {
    const { both, cluster, local } = ground();
    await cluster.append([entry('a')]);
    await both.append([entry('b')]);
    assert.deepEqual((await local.load())?.entries, [entry('a'), entry('b')]);
    assert.deepEqual((await both.load())?.entries, [entry('a'), entry('b')]);
  });

  it('gets what it missed without anything new, and only then is written to', async () => {
    const { both, cluster, local } = ground();
    await both.append([]);
    assert.deepEqual(await readdir(parent), []);
    await cluster.append([entry('a')]);
    await cluster.append([entry('b')]);
    await both.append([]);
    assert.deepEqual((await local.load())?.entries, [entry('a'), entry('b')]);
    const files = await readdir(folder);
    await both.append([]);
    assert.deepEqual(await readdir(folder), files);
  });

  it('leaves files of others alone, also those whose names begin like its own', async () => {
    const { both } = ground();
    const others = [`${JOURNAL_NAME}-backup.json`, `${JOURNAL_NAME}-r1-0001-0001.json`, `${JOURNAL_NAME}.jsonl.gz`];
    await mkdir(folder, { recursive: true });
    for (const file of others) await writeFile(join(folder, file), 'x');
    assert.equal(await both.load(), undefined);
    await both.append([entry('a')]);
    await both.forget();
    assert.deepEqual(await readdir(folder), others);
  });

  it('is refused if it was cut short, and stays', async () => {
    const { both, local, memory } = ground();
    await both.append([entry('a')]);
    memory.objects.clear();
    await truncate(join(folder, `${JOURNAL_NAME}-r1-0001-0001.jsonl.gz`), 20);
    await assert.rejects(both.load(), /checksum does not match/);
    await assert.rejects(local.forget(), /checksum does not match/);
    assert.equal((await readdir(folder)).length, 2);
  });

  it('is archived in place of the cluster’s, and forgotten with it', async () => {
    const { both, memory } = ground();
    await both.append([entry('a')]);
    memory.objects.clear();
    const file = await both.archive(join(parent, 'archive.json'));
    assert.deepEqual(JSON.parse(await readFile(file, 'utf8')).entries, [entry('a')]);
    await both.forget();
    assert.deepEqual([await readdir(folder), await both.load()], [[], undefined]);
  });

  it('is what counts beside a head that names nothing: that was left by an append that the cluster refused', async () => {
    const { both, trusting, cluster, memory } = ground();
    await both.append([entry('a')]);
    memory.objects.clear();
    const { create } = memory.cluster;
    memory.cluster.create = async (kind, object) => {
      if (object.metadata.name !== JOURNAL_NAME) throw new ApiFailure(403, 'Forbidden', 'exceeded quota');
      return create(kind, object);
    };
    await assert.rejects(trusting.append([entry('b')]), /exceeded quota/);
    memory.cluster.create = create;
    assert.deepEqual((await cluster.load())?.entries, []);
    const journal = await both.load();
    assert.deepEqual([journal?.entries, journal?.copyOnly], [[entry('a')], true]);
    await assert.rejects(both.append([entry('b')]), /local copy/);
    const file = await both.archive(join(parent, 'archive.json'));
    assert.deepEqual(JSON.parse(await readFile(file, 'utf8')).entries, [entry('a')]);
    await trusting.append([entry('b')]);
    assert.deepEqual((await cluster.load())?.entries, [entry('a'), entry('b')]);
  });

  it('is forgotten first: where that is cut off, the cluster’s still says that it is to be ended', async () => {
    const { both, cluster, memory } = ground();
    await both.append([entry('a')]);
    const { remove } = memory.cluster;
    memory.cluster.remove = async () => {
      throw new Error('cut off');
    };
    await assert.rejects(both.forget(), /cut off/);
    assert.deepEqual([await readdir(folder), await cluster.leftOver()], [[], true]);
    memory.cluster.remove = remove;
    await both.forget();
    assert.deepEqual([await both.load(), await both.leftOver()], [undefined, false]);
  });
});
