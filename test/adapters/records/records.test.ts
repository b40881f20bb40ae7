import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { keyOf } from '../../../src/adapters/records/kept.ts';
import { STATE_TYPE } from '../../../src/adapters/state/ledger.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { K } from '../../../src/kernel/kinds.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import type { RunRecord } from '../../../src/kernel/run-record.ts';
import { RECORD_NAME } from '../../../src/kernel/run-record.ts';
import { RECORD as STORED, upgradeTo } from '../../fixtures/stored-record.ts';
import { memoryCluster } from '../../support/memory-cluster.ts';
import { recordsIn } from '../../support/state.ts';

const RECORD: RunRecord = { ...STORED, runId: '20261120T100000Z-abc', clusterUid: 'uid', digests: { 'netsvc.yaml': 'd1' } };

function ground() {
  const memory = memoryCluster();
  const records = recordsIn(memory.cluster);
  const map = (name = RECORD_NAME) => memory.objects.get(`kube-system/${name}`);
  const store = (text: string) =>
    memory.cluster.create(K.Secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      type: STATE_TYPE,
      metadata: { name: RECORD_NAME, namespace: 'kube-system' },
      data: { 'record.json': Buffer.from(text).toString('base64') },
    });
  return { memory, records, map, store };
}

function bytesOf(map: KubeObject): number {
  const binary = Object.values((map.data ?? {}) as Record<string, string>);
  return binary.reduce((sum, value) => sum + Buffer.from(value, 'base64').length, 0);
}

describe('run records in Secrets', () => {
  it('finds nothing where nothing was stored', async () => {
    const { records, memory } = ground();
    assert.deepEqual([await records.load(), await records.kept('x'), memory.writes], [undefined, undefined, 0]);
  });

  it('loads what was saved, and keeps kept items over a later save', async () => {
    const { records } = ground();
    await records.save(RECORD);
    await records.keep('ownerrefs/strip/a', { owners: [1, 2] });
    await records.save({ ...RECORD, kept: ['ownerrefs/strip/a'] });
    assert.deepEqual(await records.load(), { ...RECORD, kept: ['ownerrefs/strip/a'] });
    assert.deepEqual(await records.kept('ownerrefs/strip/a'), { owners: [1, 2] });
    assert.equal(await records.kept('ownerrefs/strip'), undefined);
  });

  it('puts labels on its Secret, and kept items into it as gzip', async () => {
    const { records, map } = ground();
    await records.keep('a', 1);
    assert.equal(map()?.metadata.labels?.['app.kubernetes.io/managed-by'], 'netsvc-upgrade');
    assert.deepEqual(Object.keys(map()?.data as object), ['kept.a']);
  });

  it('writes again when somebody else wrote in between, losing neither', async () => {
    const { records, memory, map } = ground();
    await records.save(RECORD);
    memory.between = () => {
      const live = map();
      if (live)
        memory.objects.set(`kube-system/${RECORD_NAME}`, { ...live, other: true, metadata: { ...live.metadata, resourceVersion: '77' } });
    };
    await records.save({ ...RECORD, intent: upgradeTo('v9') });
    assert.deepEqual([(await records.load())?.intent.to, map()?.other], ['v9', true]);
  });

  it('reads its Secret before its first write, and again only where somebody else wrote or it did not succeed', async () => {
    const { memory } = ground();
    let reads = 0;
    const get: typeof memory.cluster.get = (...asked) => {
      reads += 1;
      return memory.cluster.get(...asked);
    };
    const records = recordsIn({ ...memory.cluster, get });
    for (const to of ['v1', 'v2', 'v3']) await records.save({ ...RECORD, intent: upgradeTo(to) });
    assert.equal(reads, 1);
    memory.between = () => {
      throw new ApiFailure(0, 'NoAnswer', 'reset');
    };
    await assert.rejects(records.save({ ...RECORD, intent: upgradeTo('v4') }), /reset/);
    await records.save({ ...RECORD, intent: upgradeTo('v5') });
    assert.equal(reads, 2, 'what became of a write without an answer nobody knows');
    memory.objects.delete(`kube-system/${RECORD_NAME}`);
    await assert.rejects(records.save({ ...RECORD, intent: upgradeTo('v6') }), { name: 'Fault', code: 'stale' });
    assert.equal(reads, 3, 'somebody took it away');
    assert.equal(await records.load(), undefined);
  });

  it('spreads items over further Secrets, none larger than its limit, and replaces them', async () => {
    const { records, memory } = ground();
    await records.save(RECORD);
    const big = randomBytes(1_600_000).toString('base64');
    await records.keep('big', big);
    await records.keep('small', 'x');
    assert.equal(await records.kept('big'), big);
    assert.equal(await records.kept('small'), 'x');
    assert.ok(memory.objects.has(`kube-system/${RECORD_NAME}-kept-1`));
    for (const map of memory.objects.values()) assert.ok(bytesOf(map) < 1_000_000, map.metadata.name);
    await records.keep('big', 'now small');
    assert.equal(await records.kept('big'), 'now small');
    const left = [...memory.objects.values()].reduce((sum, map) => sum + bytesOf(map), 0);
    assert.ok(left < 1000, `${left} bytes left`);
  });

  it('says when a piece of a kept item is missing', async () => {
    const { records, memory } = ground();
    await records.keep('big', randomBytes(1_600_000).toString('base64'));
    memory.objects.delete(`kube-system/${RECORD_NAME}-kept-1`);
    await assert.rejects(records.kept('big'), (thrown) => thrown instanceof Fault && /incomplete/.test(thrown.message));
  });

  it('gives every id a key of its own that a Secret may have', () => {
    const ids = ['a/b', 'a_b', 'a:b', 'a b', 'a', 'A', 'ä', `${'x'.repeat(300)}1`, `${'x'.repeat(300)}2`, 'a.1of2'];
    const keys = ids.map(keyOf);
    assert.equal(new Set(keys).size, ids.length);
    for (const key of keys) assert.match(key, /^[-._a-zA-Z0-9]{1,240}$/);
  });

  const refused: readonly [string, string, RegExp][] = [
    ['of a newer version', JSON.stringify({ ...RECORD, version: 3, toolVersion: '9.0.0' }), /has version 3; this program knows 2/],
    ['of version 1', JSON.stringify({ ...RECORD, version: 1 }), /wrong or missing: version/],
    ['with an intent that nobody knows', JSON.stringify({ ...RECORD, intent: { kind: 'hop', to: 'v9' } }), /wrong or missing: intent/],
    ['with a path that nobody knows', JSON.stringify({ ...RECORD, path: 'helm' }), /wrong or missing: path$/],
    ['without some fields', JSON.stringify({ ...RECORD, path: undefined, kept: 'x' }), /wrong or missing: path, kept/],
    ['with a step that is none', JSON.stringify({ ...RECORD, progress: { stage: 'apply', step: '1', of: 2 } }), /missing: progress$/],
    [
      'with a pod whose name is another command',
      JSON.stringify({ ...RECORD, stages: [{ id: 'apply', state: 'failed', startedAt: 't', pod: { namespace: 'a', name: 'b; rm' } }] }),
      /missing: stages$/,
    ],
    ['past a return without a reason', JSON.stringify({ ...RECORD, noReturn: { at: 'now' } }), /missing: noReturn$/],
    ['with a data plane that nobody knows', JSON.stringify({ ...RECORD, dataPlane: 'vpp' }), /missing: dataPlane$/],
    ['that is no JSON', '{', /not JSON/],
    ['that is no object', '[]', /not an object/],
  ];
  for (const [title, text, message] of refused) {
    it(`refuses a record ${title}, and never writes over it`, async () => {
      const { records, store, memory } = ground();
      await store(text);
      const writes = memory.writes;
      const isFault = (thrown: unknown) => thrown instanceof Fault && message.test(thrown.message);
      await assert.rejects(records.load(), isFault);
      await assert.rejects(records.save(RECORD), isFault);
      assert.equal(memory.writes, writes);
    });
  }
});
