import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { CHUNK_BYTES, packChunks, unpackChunk } from '../../../src/adapters/journal/chunk.ts';
import { headBytes, JOURNAL_NAME } from '../../../src/adapters/journal/head.ts';
import { journalStore } from '../../../src/adapters/journal/journal.ts';
import { STATE_TYPE } from '../../../src/adapters/state/ledger.ts';
import { mergeEntries, ownerEntries } from '../../../src/features/ownerrefs/journal-form.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import type { JournalEntry } from '../../../src/kernel/journal.ts';
import { K } from '../../../src/kernel/kinds.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { ApiFailure, type Cluster } from '../../../src/kernel/ports.ts';
import { emptyFolder } from '../../support/folders.ts';
import { memoryCluster } from '../../support/memory-cluster.ts';
import { DEPENDENT, entryFor, reference, referenceLists } from '../../support/owner-entries.ts';
import { journalIn } from '../../support/state.ts';

const SPACE = 'kube-system';
const entries = (count: number, from = 0): readonly JournalEntry[] =>
  Array.from({ length: count }, (_, index) =>
    entryFor([reference('v3:set'), reference('apps:web')], { ...DEPENDENT, name: `d-${from + index}`, uid: uidOf(from + index) }),
  );
const uidOf = (number: number) => `d0d0d0d0-0000-4000-8000-${String(number).padStart(12, '0')}`;

function ground(cluster?: (inner: Cluster) => Cluster) {
  const memory = memoryCluster();
  const storeOn = (over: Cluster, runId = '20261120T100000Z-abc', clusterUid = 'uid') =>
    journalStore({ place: journalIn(over), form: async () => ownerEntries, clusterUid, profile: 'calico', runId });
  const maps = () => [...memory.objects.keys()].map((key) => key.slice(SPACE.length + 1)).sort();
  const edit = (name: string, change: (map: KubeObject) => KubeObject) => {
    const key = `${SPACE}/${name}`;
    const map = memory.objects.get(key);
    assert.ok(map, `${name} is not there`);
    memory.objects.set(key, change(map));
  };
  return { memory, storeOn, store: storeOn(cluster?.(memory.cluster) ?? memory.cluster), maps, edit };
}

describe('the journal of owner references in Secrets', () => {
  it('finds nothing where nothing was stored, and stores nothing for no entries', async () => {
    const { store, memory } = ground();
    await store.append([]);
    assert.deepEqual([await store.load(), memory.writes], [undefined, 0]);
  });

  it('loads what was appended, by whom, and where it lies', async () => {
    const { store, maps } = ground();
    await store.append(entries(3));
    const journal = await store.load();
    assert.deepEqual([journal?.entries, journal?.runIds, journal?.profile], [entries(3), ['20261120T100000Z-abc'], 'calico']);
    assert.equal(journal?.readFrom, 'Secret/kube-system/netsvc-upgrade-owners');
    assert.deepEqual(maps(), [JOURNAL_NAME, `${JOURNAL_NAME}-20261120t100000z-abc-0001-0001`]);
  });

  it('adds a second append of another run, merged, without touching the first chunk', async () => {
    const { store, storeOn, memory } = ground();
    await store.append(entries(2));
    const before = memory.objects.get(`${SPACE}/${JOURNAL_NAME}-20261120t100000z-abc-0001-0001`);
    await storeOn(memory.cluster, 'second').append(entries(2, 1));
    assert.equal(memory.objects.get(`${SPACE}/${JOURNAL_NAME}-20261120t100000z-abc-0001-0001`), before);
    const journal = await store.load();
    assert.deepEqual(journal?.entries, entries(3));
    assert.deepEqual(journal?.runIds, ['20261120T100000Z-abc', 'second']);
  });

  it('marks its Secrets as its own, and chunks as immutable', async () => {
    const { store, memory } = ground();
    await store.append(entries(1));
    for (const map of memory.objects.values()) {
      assert.equal(map.metadata.labels?.['app.kubernetes.io/managed-by'], 'netsvc-upgrade');
      assert.equal(map.immutable === true, map.metadata.name !== JOURNAL_NAME);
    }
  });

  it('holds 20,000 entries in chunks that fit into Secrets', async () => {
    const { store, memory, maps } = ground();
    const many = entries(20_000);
    await store.append(many);
    assert.ok(maps().length > 3, `${maps().length} Secrets`);
    for (const map of memory.objects.values()) {
      const [value = ''] = Object.values((map.data ?? {}) as Record<string, string>);
      assert.ok(Buffer.from(value, 'base64').length <= CHUNK_BYTES);
    }
    assert.deepEqual((await store.load())?.entries, many);
  });

  it('reads back any list of entries', async () => {
    const lists = fc.array(referenceLists, { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(lists, async (some) => {
        const made = some.map((list, index) => entryFor(list, { ...DEPENDENT, name: `ä/${index}\n` }));
        const chunks = await packChunks(made, { clusterUid: 'uid', runId: 'r', append: 1 });
        const read = await Promise.all(chunks.map(({ bytes }) => unpackChunk(bytes, ownerEntries)));
        assert.deepEqual(mergeEntries(read.flatMap((one) => one.entries)), mergeEntries(made));
      }),
      { numRuns: 30 },
    );
  });
});

describe('the journal, when a write fails', () => {
  const WRITES_OF_TWO_APPENDS = 5; // head, chunk, head; chunk, head
  for (const outcome of ['before', 'after'] as const)
    for (let crash = 1; crash <= WRITES_OF_TWO_APPENDS; crash += 1)
      it(`holds what was acknowledged, and the rest after one more try: cut off ${outcome} write ${crash}`, async () => {
        const { memory, storeOn } = ground();
        const dying = storeOn(dyingAt(memory.cluster, crash, outcome));
        const acknowledged: JournalEntry[] = [];
        await assert.rejects(async () => {
          for (const part of [entries(2), entries(2, 2)]) {
            await dying.append(part);
            acknowledged.push(...part);
          }
        }, /cut off/);
        const found = (await storeOn(memory.cluster).load())?.entries ?? [];
        for (const entry of acknowledged) assert.ok(found.some(({ object }) => object.uid === entry.object.uid));
        const again = storeOn(memory.cluster);
        await again.append(entries(4));
        assert.deepEqual((await again.load())?.entries, entries(4));
      });

  it('goes on if the answer to a write is lost but the write is there', async () => {
    const { store } = ground((inner) => ({
      ...inner,
      create: async (kind, object) => {
        await inner.create(kind, object);
        throw new ApiFailure(0, 'ECONNRESET', 'no answer');
      },
      replace: async (kind, object) => {
        await inner.replace(kind, object);
        throw new ApiFailure(504, 'Timeout', 'no answer in time');
      },
    }));
    await store.append(entries(1));
    assert.deepEqual((await store.load())?.entries, entries(1));
  });

  it('adds to the newer head if somebody else wrote it in between', async () => {
    const { memory, store, storeOn } = ground();
    await store.append(entries(1));
    const inner = memory.cluster;
    let once = true;
    const late = storeOn({
      ...inner,
      replace: async (kind, object) => {
        if (once) {
          once = false;
          await storeOn(inner, 'other').append(entries(1, 5));
        }
        return inner.replace(kind, object);
      },
    });
    await late.append(entries(1, 1));
    assert.deepEqual(
      (await store.load())?.entries.map(({ object }) => object.name),
      ['d-0', 'd-5', 'd-1'],
    );
  });

  it('does not ask again where the head is refused for good', async () => {
    let asked = 0;
    const { store } = ground((inner) => ({
      ...inner,
      replace: () => {
        asked += 1;
        return Promise.reject(new ApiFailure(403, 'Forbidden', 'may not replace configmaps'));
      },
    }));
    await assert.rejects(store.append(entries(1)), /may not replace/);
    assert.deepEqual([asked, (await store.load())?.entries], [1, []]);
  });

  it('has a head before its first chunk also where an outdated answer still shows one that was forgotten', async () => {
    let outdated: KubeObject | undefined;
    const { store, memory, maps } = ground((inner) => ({
      ...inner,
      async get(kind, name, namespace) {
        const answer = outdated && name === JOURNAL_NAME ? outdated : await inner.get(kind, name, namespace);
        outdated = undefined;
        return answer;
      },
    }));
    await store.append(entries(1));
    const former = memory.objects.get(`${SPACE}/${JOURNAL_NAME}`);
    await store.forget();
    assert.deepEqual(maps(), []);
    outdated = former;
    await store.append(entries(2));
    assert.deepEqual((await store.load())?.entries, entries(2));
  });

  it('is not written beside a head of which a list knows nothing', async () => {
    const { store, memory, maps } = ground((inner) => ({ ...inner, list: async () => [] }));
    await assert.rejects(store.append(entries(1)), /is not in the list of what is there; nothing was written beside it/);
    assert.deepEqual(maps(), [JOURNAL_NAME]);
    assert.equal(memory.writes, 1);
  });

  it('is not appended to while somebody else forgets it', async () => {
    const { memory, store, storeOn } = ground();
    await store.append(entries(1));
    const inner = memory.cluster;
    const late = storeOn({
      ...inner,
      create: async (kind, object) => {
        await assert.rejects(storeOn(dyingAt(inner, 2, 'before'), 'other').forget(), /cut off/);
        return inner.create(kind, object);
      },
    });
    await assert.rejects(late.append(entries(1, 1)), /it was deleted while it was written to/);
    assert.equal(await store.load(), undefined);
  });

  it('says so, and holds nothing, if a quota forbids it', async () => {
    const { memory, store, maps } = ground();
    memory.between = () => {
      throw new ApiFailure(403, 'Forbidden', 'exceeded quota: configmaps');
    };
    await assert.rejects(store.append(entries(1)), /exceeded quota/);
    assert.deepEqual([maps(), await store.load()], [[], undefined]);
  });

  it('does not trust a server that stores something else', async () => {
    const { store } = ground((inner) => ({
      ...inner,
      create: (kind, object) => inner.create(kind, object.metadata.name === JOURNAL_NAME ? object : { ...object, data: {} }),
    }));
    await assert.rejects(store.append(entries(1)), /does not hold what was just written/);
    assert.deepEqual((await store.load())?.entries, []);
  });
});

describe('a journal that is not as it was written', () => {
  const CHUNK = `${JOURNAL_NAME}-20261120t100000z-abc-0001-0001`;
  const head = { version: 1, clusterUid: 'uid', profile: 'calico', appends: [] } as const;
  const text = (bytes: Uint8Array) => ({ data: { 'journal.json': Buffer.from(bytes).toString('base64') } });
  const cut = (map: KubeObject, length: number) => {
    const value = Buffer.from((map.data as Record<string, string>)['entries.jsonl.gz'] ?? '', 'base64');
    return { ...map, data: { 'entries.jsonl.gz': value.subarray(0, length).toString('base64') } };
  };
  const cases: readonly [string, string, (map: KubeObject) => KubeObject, RegExp][] = [
    ['a chunk that is cut short', CHUNK, (map) => cut(map, 100), /0001-0001: its checksum does not match/],
    ['a chunk that is empty', CHUNK, (map) => ({ ...map, data: {} }), /0001-0001: its checksum/],
    [
      'a head that was edited',
      JOURNAL_NAME,
      (map) => ({ ...map, ...text(Buffer.from(headText(map).replace('calico', 'netsvc'))) }),
      /its checksum/,
    ],
    ['a head that is empty', JOURNAL_NAME, (map) => ({ ...map, data: {} }), /Secret\/kube-system\/netsvc-upgrade-owners: it is not JSON/],
    [
      'a head of another cluster',
      JOURNAL_NAME,
      (map) => ({ ...map, ...text(headBytes({ ...head, clusterUid: 'foreign' })) }),
      /another cluster.*foreign/,
    ],
    [
      'a head of a newer layout',
      JOURNAL_NAME,
      (map) => ({ ...map, ...text(headBytes({ ...head, version: 2 } as never)) }),
      /version 2; this program knows 1/,
    ],
    [
      'a head without a version',
      JOURNAL_NAME,
      (map) => ({ ...map, ...text(headBytes({ ...head, version: undefined } as never)) }),
      /it has no version/,
    ],
  ];
  for (const [title, name, change, message] of cases)
    it(`is refused, neither written nor deleted: ${title}`, async () => {
      const { store, memory, edit, maps } = ground();
      await store.append(entries(2));
      edit(name, change);
      const { writes } = memory;
      for (const use of [() => store.load(), () => store.forget(), () => store.archive('never-written')]) {
        const refused = await use().then(
          () => assert.fail('it was accepted'),
          (thrown: unknown) => thrown,
        );
        assert.ok(refused instanceof Fault && message.test(refused.message), String(refused));
        assert.ok(refused.suggestions.length > 0);
      }
      assert.deepEqual([memory.writes, maps().length], [writes, 2]);
    });

  it('is refused if a chunk is gone, or the head', async () => {
    for (const [name, message] of [
      [CHUNK, /0001-0001: it is gone/],
      [JOURNAL_NAME, /whose head .* is gone/],
    ] as const) {
      const { store, memory } = ground();
      await store.append(entries(1));
      memory.objects.delete(`${SPACE}/${name}`);
      await assert.rejects(store.load(), message);
      if (name === JOURNAL_NAME) await assert.rejects(store.append(entries(1)), message);
    }
  });

  const others = [
    ['cluster', { clusterUid: 'foreign' }],
    ['run', { runId: 'another' }],
    ['append', { append: 2 }],
  ] as const;
  for (const [title, other] of others)
    it(`is refused if a chunk of another ${title} is put in its place, checksum and all`, async () => {
      const { store, memory, edit } = ground();
      await store.append(entries(1));
      const [foreign] = await packChunks(entries(1), { clusterUid: 'uid', runId: '20261120T100000Z-abc', append: 1, ...other });
      assert.ok(foreign);
      edit(CHUNK, (map) => ({ ...map, data: { 'entries.jsonl.gz': Buffer.from(foreign.bytes).toString('base64') } }));
      const chunks = [{ name: CHUNK, sha256: foreign.sha256, entries: 1 }];
      edit(JOURNAL_NAME, (map) => ({
        ...map,
        ...text(headBytes({ ...head, appends: [{ append: 1, runId: '20261120T100000Z-abc', chunks }] })),
      }));
      await assert.rejects(store.load(), /it is a chunk of another journal/);
      assert.ok(memory.objects.has(`${SPACE}/${CHUNK}`));
    });

  it('is refused if the lines of a chunk are not whole', async () => {
    const [chunk] = await packChunks(entries(1), { clusterUid: 'uid', runId: 'r', append: 1 });
    const header = JSON.stringify({ version: 1, clusterUid: 'uid', runId: 'r', append: 1, number: 1, of: 1, entries: 2 });
    assert.ok(chunk);
    await assert.rejects(unpackChunk(chunk.bytes.subarray(0, -1), ownerEntries), /cut short/);
    await assert.rejects(unpackChunk(await gzipped(`${header}\n{"object":{}}\n{}\n`), ownerEntries), /entry 1 is not whole/);
    await assert.rejects(unpackChunk(await gzipped(`${header}\n{}\n`), ownerEntries), /holds 1 entry, its header says 2/);
    await assert.rejects(unpackChunk(await gzipped(`${header}\n{}`), ownerEntries), /last line is cut short/);
    await assert.rejects(unpackChunk(await gzipped('{}\n'), ownerEntries), /no header/);
    await assert.rejects(unpackChunk(await gzipped('{\n'), ownerEntries), /line 1 is not JSON/);
  });
});

describe('forgetting the journal', () => {
  const folder = emptyFolder('journal-');

  it('deletes all of it, and a new journal can be begun', async () => {
    const { store, maps } = ground();
    await store.append(entries(2));
    await store.forget();
    assert.deepEqual([maps(), await store.load()], [[], undefined]);
    await store.forget();
    await store.append(entries(1, 7));
    assert.deepEqual((await store.load())?.entries, entries(1, 7));
  });

  for (let crash = 1; crash <= 4; crash += 1)
    it(`can be cut off before write ${crash}: the journal is whole or void, and can be forgotten again or begun anew`, async () => {
      const { store, storeOn, memory, maps } = ground();
      await store.append(entries(1));
      await store.append(entries(1, 1));
      await assert.rejects(storeOn(dyingAt(memory.cluster, crash, 'before')).forget(), /cut off/);
      assert.deepEqual((await store.load())?.entries, crash === 1 ? entries(2) : undefined);
      await store.append(entries(1, 9));
      assert.deepEqual((await store.load())?.entries, crash === 1 ? [...entries(2), ...entries(1, 9)] : entries(1, 9));
      await store.forget();
      assert.deepEqual(maps(), []);
    });

  it('archives everything to a new file first, what was never acknowledged too', async () => {
    const { store, storeOn, memory } = ground();
    await store.append(entries(1));
    await assert.rejects(storeOn(dyingAt(memory.cluster, 2, 'before')).append(entries(1, 1)), /cut off/);
    const file = join(folder, 'journal.json');
    assert.equal(await store.archive(file), file);
    const archived = JSON.parse(await readFile(file, 'utf8'));
    assert.deepEqual([archived.entries, archived.clusterUid], [entries(1), 'uid']);
    assert.deepEqual(archived.unacknowledged[0].entries, entries(1, 1));
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal(await store.archive(file), join(folder, 'journal-2.json'));
    assert.deepEqual(JSON.parse(await readFile(file, 'utf8')), archived);
    await store.forget();
    assert.equal(memory.objects.size, 0);
  });

  it('stops if somebody appends meanwhile', async () => {
    const { store, storeOn, memory } = ground();
    await store.append(entries(1));
    memory.between = () => storeOn(memory.cluster, 'other').append(entries(1, 1));
    await assert.rejects(store.forget(), /modified/);
    assert.deepEqual((await store.load())?.entries, entries(2));
  });

  it('leaves Secrets of others alone, also those whose names begin like its own', async () => {
    const { store, memory, maps } = ground();
    const others = ['netsvc-upgrade-owners-backup', 'netsvc-upgrade-owners-r1-0001', 'netsvc-upgrade-run'];
    for (const name of others)
      await memory.cluster.create(K.Secret, { apiVersion: 'v1', kind: 'Secret', type: STATE_TYPE, metadata: { name, namespace: SPACE } });
    assert.equal(await store.load(), undefined);
    await store.append(entries(1));
    await store.forget();
    assert.deepEqual(maps(), others);
  });
});

function headText(map: KubeObject): string {
  return Buffer.from((map.data as Record<string, string>)['journal.json'] ?? '', 'base64').toString('utf8');
}

async function gzipped(text: string): Promise<Uint8Array> {
  const { gzipSync } = await import('node:zlib');
  return gzipSync(text);
}

/** A cluster that the process reaches no more from its n-th write on: that one is still committed, or not. */
function dyingAt(inner: Cluster, crash: number, outcome: 'before' | 'after'): Cluster {
  let writes = 0;
  const dead = () => new Error('cut off');
  async function write<T>(act: () => Promise<T>): Promise<T> {
    writes += 1;
    if (writes === crash && outcome === 'after') await act();
    if (writes >= crash) throw dead();
    return act();
  }
  async function read<T>(act: () => Promise<T>): Promise<T> {
    if (writes >= crash) throw dead();
    return act();
  }
  return {
    ...inner,
    get: (...call) => read(() => inner.get(...call)),
    list: (...call) => read(() => inner.list(...call)),
    create: (...call) => write(() => inner.create(...call)),
    replace: (...call) => write(() => inner.replace(...call)),
    remove: (...call) => write(() => inner.remove(...call)),
  };
}
