import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { packChunks, unpackChunk } from '../../../src/adapters/journal/chunk.ts';
import { headBytes, JOURNAL_NAME } from '../../../src/adapters/journal/head.ts';
import { journalStore } from '../../../src/adapters/journal/journal.ts';
import { MetadataReader } from '../../../src/adapters/kube/metadata-list.ts';
import { parseRecord } from '../../../src/adapters/records/parse-record.ts';
import { STATE_TYPE } from '../../../src/adapters/state/ledger.ts';
import { ownerEntries } from '../../../src/features/ownerrefs/journal-form.ts';
import { continues, RECORD_NAME } from '../../../src/kernel/run-record.ts';
import { sha256Of } from '../../../src/kube/sha256.ts';
import { readCarriedEdits } from '../../../src/manifest/carried-file.ts';
import { anything, damaged, FUZZ_RUNS, faultOf, own } from '../../support/fuzz.ts';
import { memoryCluster } from '../../support/memory-cluster.ts';
import { entryFor, reference } from '../../support/owner-entries.ts';
import { journalIn, recordsIn } from '../../support/state.ts';

const SPACE = 'kube-system';
const GIB = 1024 ** 3;
/** Far below what a bomb unpacks to. */
const MEMORY_BYTES = 400 * 1024 ** 2;
const runs = { numRuns: FUZZ_RUNS };

const RECORD = {
  version: 1,
  ...{ runId: 'r', clusterUid: 'uid', profile: 'netsvc', target: 'v3.32.2', path: 'manifest', startedAt: 't', startedBy: 'a@b' },
  ...{ toolVersion: '0', digests: { 'upgrade.yaml': 'd' }, accepted: ['NS-301'], wrote: ['apply'], kept: ['r/apply/edits#1'] },
  stages: [{ id: 'apply', state: 'done', startedAt: 't' }],
};
const ENTRY = entryFor([reference('v3:set')]);
const HEAD = { version: 1, clusterUid: 'uid', profile: 'calico', appends: [] as unknown[] };
const NAME = `${JOURNAL_NAME}-r-0001-0001`;

/** A cluster whose state is these bytes, by the names and keys of its Secrets. */
function holding(secrets: Readonly<Record<string, Readonly<Record<string, Uint8Array>>>>) {
  const memory = memoryCluster();
  for (const [name, contents] of Object.entries(secrets)) {
    const data = Object.fromEntries(Object.entries(contents).map(([key, bytes]) => [key, Buffer.from(bytes).toString('base64')]));
    const metadata = { name, namespace: SPACE, uid: name, resourceVersion: '1' };
    memory.objects.set(`${SPACE}/${name}`, { apiVersion: 'v1', kind: 'Secret', type: STATE_TYPE, metadata, data });
  }
  const journal = journalStore({
    place: journalIn(memory.cluster),
    form: async () => ownerEntries,
    clusterUid: 'uid',
    profile: 'calico',
    runId: 'r',
  });
  return { records: recordsIn(memory.cluster), journal };
}

/** A value, or the one error of this program. */
async function valueOrFault(read: () => Promise<unknown>): Promise<void> {
  await read().catch(faultOf);
}

const bytesOf = (text: string) => Buffer.from(text);
const fieldsOf = (known: object) =>
  fc
    .array(fc.tuple(fc.constantFrom(...Object.keys(known), '__proto__'), anything), { maxLength: 4 })
    .map((entries) => ({ ...known, ...own(entries) }));

describe('any run record', () => {
  const read = (text: string) =>
    valueOrFault(async () => {
      const record = parseRecord(text, `Secret/${SPACE}/${RECORD_NAME}`);
      // What others do with it at once.
      continues(record, { goal: { release: 'v3.32.2' }, intent: { kind: 'upgrade' }, clusterUid: 'uid' });
      record.kept.findLast((one) => one.includes('/apply/'));
      for (const { id, because } of record.stages) `${id}${because?.trim()}`.trim();
      Object.values(record.digests).map((one) => one.slice(0, 12));
    });

  it('is one, or is refused: fields of any type', () =>
    fc.assert(
      fc.asyncProperty(fieldsOf(RECORD), (value) => read(JSON.stringify(value))),
      runs,
    ));
  it('is one, or is refused: a damaged one, and any text', () =>
    fc.assert(fc.asyncProperty(fc.oneof(damaged(JSON.stringify(RECORD, undefined, 1)), fc.string({ unit: 'binary' })), read), runs));
  for (const text of ['[]', 'null', '1', '"a"', '[{}]'])
    it(`is refused where it is ${text}`, async () => {
      assert.throws(() => parseRecord(text, `Secret/${SPACE}/${RECORD_NAME}`), /it is not an object/);
    });
});

describe('anything that was kept', () => {
  const item = (content: Uint8Array) => holding({ [RECORD_NAME]: { 'kept.jsonl.gz': content } });
  const log = (key: string, content: Uint8Array) => holding({ 'netsvc-upgrade-run-log-1': { [key]: content } });

  it('is an item, or is refused: any JSON', () =>
    fc.assert(
      fc.asyncProperty(anything, async (value) => {
        const { records } = item(gzipSync(JSON.stringify(value) ?? ''));
        await valueOrFault(() => records.kept('r/apply/edits#1'));
        await valueOrFault(() => records.keptWith('/apply/'));
      }),
      runs,
    ));
  it('is an item, or is refused: any bytes', () =>
    fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        await valueOrFault(() => item(bytes).records.keptWith(''));
        await valueOrFault(() => log('kept.jsonl.gz', bytes).records.keptWith(''));
        await valueOrFault(() => log('kept.jsonl', bytes).records.keptWith(''));
      }),
      runs,
    ));
  it('is a line of the log, or is refused: any JSON', () =>
    fc.assert(
      fc.asyncProperty(fc.oneof(anything, fieldsOf({ id: 'r/hep/x#1', content: 1, outcome: { done: true } })), async (value) => {
        const line = bytesOf(`${JSON.stringify(value) ?? ''}\n`);
        await valueOrFault(() => log('kept.jsonl', line).records.keptWith(''));
        await valueOrFault(() => log('kept.jsonl.gz', gzipSync(line)).records.keptWith(''));
      }),
      runs,
    ));
  it('is refused where its name says that it is the last of four thousand million parts', async () => {
    const { records } = log('kept.jsonl.gz.4294967295of4294967295', gzipSync('{}'));
    await assert.rejects(records.kept('a'), /the part before it is missing/);
    const first = log('kept.jsonl.gz.1of4294967295', gzipSync('{}'));
    assert.deepEqual(await first.records.keptWith(''), []);
  });
  it('is carried edits, or none', () => {
    const file = { release: 'a', merged: 'b', changed: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }], removed: [] };
    const carried = { target: 'v1', base: 'v0', resolutions: {}, edits: [], files: { 'upgrade.yaml': file } };
    assert.ok(readCarriedEdits(carried));
    fc.assert(
      fc.property(
        fc.oneof(
          fieldsOf(carried),
          fieldsOf(file).map((one) => ({ ...carried, files: { 'upgrade.yaml': one } })),
          anything,
        ),
        (value) => {
          const read = readCarriedEdits(JSON.parse(JSON.stringify(value) ?? 'null'));
          for (const { changed, removed } of Object.values(read?.files ?? {})) {
            for (const { kind, metadata } of changed) assert.equal(typeof `${kind}/${metadata.name}`, 'string');
            for (const one of removed) one.split('/');
          }
        },
      ),
      runs,
    );
  });
});

describe('any journal of owner references', () => {
  const headed = (head: object, chunk: Uint8Array) =>
    holding({ [JOURNAL_NAME]: { 'journal.json': headBytes(head as never) }, [NAME]: { 'entries.jsonl.gz': chunk } });
  const naming = (chunk: Uint8Array, entries = 1) => ({
    ...HEAD,
    appends: [{ append: 1, runId: 'r', chunks: [{ name: NAME, sha256: sha256Of(chunk), entries }] }],
  });

  it('is read where it is right', async () => {
    const [chunk] = await packChunks([ENTRY], { clusterUid: 'uid', runId: 'r', append: 1 });
    assert.ok(chunk);
    assert.deepEqual((await headed(naming(chunk.bytes), chunk.bytes).journal.load())?.entries, [ENTRY]);
  });
  it('is one, or is refused: heads with fields of any type, their checksum right', () =>
    fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fieldsOf(HEAD),
          fc
            .array(fieldsOf({ append: 1, runId: 'r', chunks: [{ name: NAME, sha256: 'x', entries: 1 }] }), { maxLength: 3 })
            .map((appends) => ({ ...HEAD, appends })),
        ),
        (head) => valueOrFault(() => headed(JSON.parse(JSON.stringify(head)), gzipSync('x')).journal.load()),
      ),
      runs,
    ));
  it('is one, or is refused: chunks with any lines, their checksum right', () =>
    fc.assert(
      fc.asyncProperty(fc.oneof(anything, fieldsOf(ENTRY)), (entry) => {
        const header = { version: 1, clusterUid: 'uid', runId: 'r', append: 1, number: 1, of: 1, entries: 1 };
        const chunk = gzipSync(`${JSON.stringify(header)}\n${JSON.stringify(entry) ?? ''}\n`);
        return valueOrFault(() => headed(naming(chunk), chunk).journal.load());
      }),
      runs,
    ));
  it('is one, or is refused: any bytes', () =>
    fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        await valueOrFault(() => holding({ [JOURNAL_NAME]: { 'journal.json': bytes } }).journal.load());
        await valueOrFault(() => headed(naming(bytes), bytes).journal.load());
      }),
      runs,
    ));
});

describe('any list of metadata in protobuf', () => {
  const read = async (parts: readonly Uint8Array[]) => {
    const reader = new MetadataReader(['netsvc.io/']);
    for (const part of parts) reader.take(part);
    return reader.page();
  };
  const magic = Buffer.from('k8s\0');
  const refusal = (thrown: unknown) => {
    if (!(thrown instanceof RangeError)) throw thrown;
    assert.match(thrown.message, /^the (list of metadata|protobuf message|answer is no protobuf)/);
  };

  it('is one, or is refused with a RangeError that says so', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 }), fc.boolean(), (parts, isHeaded) =>
        read(isHeaded ? [magic, ...parts] : parts).then(() => undefined, refusal),
      ),
      runs,
    ));
  it('is refused where an item says that it is larger than any, before it has arrived', async () => {
    const item = Buffer.from([0x12, 0xff, 0xff, 0xff, 0xff, 0x0f]);
    const list = Buffer.concat([magic, Buffer.from([0x12, 0xff, 0xff, 0xff, 0xff, 0x7f]), item]);
    await assert.rejects(read([list]), /the list of metadata has an item of \d+ bytes/);
  });
  it('is refused where a number does not end', async () => {
    await assert.rejects(read([magic, Buffer.alloc(5_000_000, 0x80)]), /a number of more than 10 bytes/);
  });
});

describe('what unpacks to gigabytes', function () {
  this.timeout(60_000);
  /** One gibibyte of zeroes in about a megabyte: what a Secret may hold. */
  let bomb: Uint8Array;
  before(() => {
    bomb = gzipSync(Buffer.alloc(GIB), { level: 9 });
    assert.ok(bomb.length < 1_100_000, `${bomb.length} bytes`);
  });

  /** Bytes that the work took at most, as far as the process tells afterwards. */
  async function peak(work: () => Promise<unknown>): Promise<number> {
    const before = process.memoryUsage().rss;
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5);
    await work().finally(() => clearInterval(watch));
    return Math.max(most, process.memoryUsage().rss) - before;
  }

  const cases: readonly [string, () => Promise<unknown>, RegExp][] = [
    ['a chunk of the journal', () => unpackChunk(bomb, ownerEntries), /unpacked it is larger than 32 MiB/],
    ['a kept item', () => holding({ [RECORD_NAME]: { 'kept.jsonl.gz': bomb } }).records.kept('a'), /netsvc-upgrade-run: it cannot be read/],
    [
      'a part of the log',
      () => holding({ 'netsvc-upgrade-run-log-1': { 'kept.jsonl.gz': bomb } }).records.keptWith(''),
      /it cannot be read/,
    ],
  ];
  for (const [title, work, message] of cases)
    it(`is refused, and takes little memory: ${title}`, async () => {
      const bytes = await peak(() => assert.rejects(work(), message));
      assert.ok(bytes < MEMORY_BYTES, `${Math.round(bytes / 1024 ** 2)} MiB`);
    });
});
