import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { OPEN_BYTES } from '../../../src/adapters/records/log.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import { type KeptItem, type KeptLine, numberOf, RECORD_NAME } from '../../../src/kernel/run-record.ts';
import { type MemoryCluster, memoryCluster } from '../../support/memory-cluster.ts';
import { recordsIn } from '../../support/state.ts';

const recordsOf = ({ cluster }: MemoryCluster) => recordsIn(cluster);

/** What the API server counts: keys and values, binary ones before base64. */
function bytesOf({ data = {}, binaryData = {} }: KubeObject): number {
  const texts = Object.entries(data as Record<string, string>).map(([key, text]) => key.length + Buffer.byteLength(text));
  const binary = Object.entries(binaryData as Record<string, string>).map(([key, text]) => key.length + Buffer.from(text, 'base64').length);
  return [...texts, ...binary].reduce((sum, one) => sum + one, 0);
}

const LIMIT = 1_048_576;

/** An old endpoint as it is stored, with the UID and the labels that no two have alike. */
function endpoint(index: number): KubeObject {
  const uid = `${randomBytes(4).toString('hex')}-0000-4000-8000-${randomBytes(6).toString('hex')}`;
  const labels = { role: 'host', team: `t${index % 50}`, rack: `r${index % 400}` };
  const metadata = { name: `old-${index}`, uid, resourceVersion: `${100_000 + index}`, creationTimestamp: '2026-11-20T10:00:00Z', labels };
  const spec = { node: `node-${index}`, interfaceName: '*', expectedIPs: [`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`] };
  return { apiVersion: 'crd.projectcalico.org/v1', kind: 'HostEndpoint', metadata, spec };
}

const idOf = (index: number) => `20261120T100000Z-abc/hep/delete-${index}#${index}`;
const item = (index: number) => ({ id: idOf(index), content: { endpoints: [endpoint(index)] } });

/** As a run writes them: what became of the one before, with the next. */
const linesOf = (items: readonly KeptLine[], index: number): readonly KeptLine[] => [
  ...(index > 0 ? [{ id: items[index - 1]?.id ?? '', outcome: { done: true } }] : []),
  items[index] as KeptLine,
];

const byId = (items: readonly KeptItem[]) => items.toSorted((a, b) => (a.id < b.id ? -1 : 1));

describe('what single actions keep', () => {
  it('is stored for 20,000 nodes in objects far below their limit, each written a bounded number of times, and read back the same', async function () {
    this.timeout(120_000);
    const memory = memoryCluster();
    const records = recordsOf(memory);
    const items = Array.from({ length: 20_000 }, (_, index) => item(index));
    for (let index = 0; index < items.length; index += 4) {
      await records.append([0, 1, 2, 3].flatMap((more) => linesOf(items, index + more)));
    }
    const sizes = [...memory.objects.values()].map(bytesOf);
    assert.ok(Math.max(...sizes) < 2 * OPEN_BYTES && 2 * OPEN_BYTES < LIMIT, `${Math.max(...sizes)} bytes`);
    assert.ok(sizes.length < 200, `${sizes.length} objects`);
    assert.ok(memory.writes < items.length / 4 + 200, `${memory.writes} writes`);
    const wanted = items.map((one, index) => ({ ...one, ...(index + 1 < items.length ? { outcome: { done: true } } : {}) }));
    // Not deepEqual: the difference of two such lists is never ended.
    assert.ok(isDeepStrictEqual(await recordsOf(memory).keptWith('/hep/'), byId(wanted)));
  });

  it('stays of both runs of which one went by an older record and numbered its items alike, and nobody can tell whose removal was done', async () => {
    const memory = memoryCluster();
    const [first, later] = [item(1), { id: idOf(1), content: { endpoints: [endpoint(2)] } }];
    await recordsOf(memory).append([first]);
    await recordsOf(memory).append([first]);
    await recordsOf(memory).append([later]);
    await recordsOf(memory).append([{ id: idOf(1), outcome: { done: true } }]);
    const kept = await recordsOf(memory).keptWith('/hep/');
    assert.deepEqual(kept, [first, { ...later, id: '20261120T100000Z-abc/hep/delete-1+2#1' }]);
    assert.deepEqual(kept.map(numberOf), [1, 1]);
  });

  it('loses nothing that was acknowledged, and repeats nothing, wherever the program is killed between two writes', async () => {
    const items = Array.from({ length: 8 }, (_, index) => ({ id: idOf(index), content: randomBytes(15_000).toString('hex') }));
    const whole = memoryCluster();
    for (const index of items.keys()) await recordsOf(whole).append(linesOf(items, index));
    assert.ok(whole.objects.size > 2, 'several parts');
    for (let at = 1; at <= whole.writes; at += 1) {
      for (const stored of [false, true]) {
        const memory = memoryCluster();
        const killed = cutAt(memory, at, stored);
        let done = 0;
        await (async () => {
          const records = recordsOf(killed);
          for (const index of items.keys()) {
            await records.append(linesOf(items, index));
            done += 1;
          }
        })().catch((thrown) => assert.ok(thrown instanceof ApiFailure));
        const kept = await recordsOf(memory).keptWith('/hep/');
        assert.ok(kept.length === done || kept.length === done + 1, `killed at write ${at}: ${kept.length} of ${done}`);
        assert.deepEqual(
          kept.map(({ id, content }) => ({ id, content })),
          byId(items.slice(0, kept.length)),
        );
        // A new process goes on.
        for (const index of [...items.keys()].slice(done)) await recordsOf(memory).append(linesOf(items, index));
        const wanted = items.map((one, index) => ({ ...one, ...(index + 1 < items.length ? { outcome: { done: true } } : {}) }));
        assert.deepEqual(await recordsOf(memory).keptWith('/hep/'), byId(wanted), `killed at write ${at}`);
      }
    }
  });

  it('is read together with what is beside the record; what is too long for the open part is compressed at once', async () => {
    const memory = memoryCluster();
    await recordsOf(memory).keep('r/hep/delete-1#1', { endpoints: [] });
    const long = randomBytes(300_000).toString('base64');
    await recordsOf(memory).append([{ id: 'r/hep/labels#2', content: long }]);
    assert.deepEqual(Object.keys(memory.objects.get('kube-system/netsvc-upgrade-run-log-1')?.data ?? {}), ['kept.jsonl.gz']);
    await recordsOf(memory).append([
      { id: 'r/hep/labels#2', outcome: { done: true } },
      { id: 'r/hep/delete-2#3', content: 'x' },
    ]);
    assert.deepEqual(await recordsOf(memory).keptWith('/hep/'), [
      { id: 'r/hep/delete-1#1', content: { endpoints: [] } },
      { id: 'r/hep/delete-2#3', content: 'x' },
      { id: 'r/hep/labels#2', content: long, outcome: { done: true } },
    ]);
    assert.deepEqual(await recordsOf(memory).keptWith('/delete-2'), [{ id: 'r/hep/delete-2#3', content: 'x' }]);
    assert.ok(memory.objects.has(`kube-system/${RECORD_NAME}`));
  });

  it('has the later of two items that are kept under one id without a number', async () => {
    const memory = memoryCluster();
    await recordsOf(memory).append([{ id: 'r/record', content: 1 }]);
    await recordsOf(memory).append([{ id: 'r/record', content: 2 }]);
    assert.deepEqual(await recordsOf(memory).keptWith(''), [{ id: 'r/record', content: 2 }]);
    await recordsOf(memory).keep('r/record', 3);
    assert.deepEqual(await recordsOf(memory).keptWith(''), [{ id: 'r/record', content: 3 }]);
  });

  it('loses nothing of what fills several Secrets, and has nothing of it before all is there, wherever the program is killed', async () => {
    const one = { id: idOf(1), content: 'before' };
    const long = { id: idOf(2), content: randomBytes(2_400_000).toString('base64') };
    const [first, last] = [linesOf([one, long], 0), linesOf([one, long, { id: idOf(3), content: 'after' }], 2)];
    for (const at of [1, 2, 3, 4, 5, 6])
      for (const stored of [false, true]) {
        const memory = memoryCluster();
        let done = 0;
        const killed = recordsOf(cutAt(memory, at, stored));
        await (async () => {
          for (const lines of [first, [long], last]) {
            await killed.append(lines);
            done += 1;
          }
        })().catch((thrown) => assert.ok(thrown instanceof ApiFailure));
        const where = `killed at write ${at}, ${stored ? 'stored' : 'not stored'}`;
        const ids = async () => (await recordsOf(memory).keptWith('')).map(numberOf);
        const kept = await ids();
        assert.ok(kept.length === done || (stored && kept.length === done + 1), `${where}: ${kept} of ${done}`);
        // A new process repeats what was not acknowledged.
        for (const lines of [first, [long], last].slice(done)) await recordsOf(memory).append(lines);
        assert.deepEqual(await ids(), [1, 2, 3], where);
        assert.ok(isDeepStrictEqual((await recordsOf(memory).keptWith(''))[1], { ...long, outcome: { done: true } }), where);
      }
  });

  it('is whole wherever the program is killed while what is beside the record is moved to the log', async () => {
    const content = [1, 2].map(() => randomBytes(600_000).toString('base64'));
    for (const at of [1, 2, 3, 4])
      for (const stored of [false, true]) {
        const memory = memoryCluster();
        const killed = recordsOf(cutAt(memory, at, stored));
        let done = 0;
        await (async () => {
          for (const index of [0, 1]) {
            await killed.keep(idOf(index + 1), content[index]);
            done += 1;
          }
        })().catch((thrown) => assert.ok(thrown instanceof ApiFailure));
        const kept = await recordsOf(memory).keptWith('');
        assert.ok(kept.length >= done && kept.every((one, index) => one.content === content[index]), `killed at write ${at}`);
        for (const index of [0, 1].slice(done)) await recordsOf(memory).keep(idOf(index + 1), content[index]);
        assert.ok(
          isDeepStrictEqual(
            (await recordsOf(memory).keptWith('')).map((one) => one.content),
            content,
          ),
          `killed at write ${at}`,
        );
      }
  });

  it('is not added to what somebody else wrote in between: that run ends, and nothing of the other one is lost', async () => {
    const memory = memoryCluster();
    const [one, other] = [recordsOf(memory), recordsOf(memory)];
    await one.append([{ id: 'a', content: 1 }]);
    memory.between = () => other.append([{ id: 'b', content: 2 }]);
    await assert.rejects(one.append([{ id: 'c', content: 3 }]), { name: 'Fault', code: 'stale' });
    assert.deepEqual(
      (await one.keptWith('')).map(({ id }) => id),
      ['a', 'b'],
    );
  });

  it('is found without its label, and refused where a part is gone or damaged', async () => {
    const memory = memoryCluster();
    for (let index = 1; index <= 8; index += 1) {
      await recordsOf(memory).append([{ id: `${index}`, content: randomBytes(40_000).toString('hex') }]);
    }
    const name = (number: number) => `kube-system/netsvc-upgrade-run-log-${number}`;
    const third = memory.objects.get(name(3)) as KubeObject;
    memory.objects.set(name(3), { ...third, metadata: { ...third.metadata, labels: {} } });
    assert.equal((await recordsOf(memory).keptWith('')).length, 8);
    const refused = (part: KubeObject | undefined, why: RegExp) => {
      if (part) memory.objects.set(name(3), part);
      else memory.objects.delete(name(3));
      return assert.rejects(recordsOf(memory).keptWith(''), (thrown) => thrown instanceof Fault && why.test(thrown.message));
    };
    await refused(undefined, /run-log-3: it is missing/);
    await refused({ ...third, data: { 'kept.jsonl.gz': 'AAAA' } }, /run-log-3: it cannot be read/);
    await refused({ ...third, data: {} }, /run-log-3: it cannot be read/);
  });
});

/** The program ends at that write: it is stored, or is not, and no answer comes any more. */
function cutAt(memory: MemoryCluster, at: number, stored: boolean): MemoryCluster {
  const gone = () => new ApiFailure(0, 'ECONNRESET', 'killed');
  let [writes, dead] = [0, false];
  const through = async <T>(isWrite: boolean, work: () => Promise<T>): Promise<T> => {
    if (dead) throw gone();
    if (isWrite) writes += 1;
    if (!isWrite || writes < at) return work();
    dead = true;
    if (stored) await work();
    throw gone();
  };
  const { cluster } = memory;
  const cut = {
    ...cluster,
    get: (...args: Parameters<typeof cluster.get>) => through(false, () => cluster.get(...args)),
    list: (...args: Parameters<typeof cluster.list>) => through(false, () => cluster.list(...args)),
    create: (...args: Parameters<typeof cluster.create>) => through(true, () => cluster.create(...args)),
    replace: (...args: Parameters<typeof cluster.replace>) => through(true, () => cluster.replace(...args)),
  };
  return { ...memory, cluster: cut };
}
