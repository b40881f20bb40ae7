import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { recordStateIn } from '../../../src/adapters/records/records.ts';
import { STATE_TYPE, secretLedger } from '../../../src/adapters/state/ledger.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { K } from '../../../src/kernel/kinds.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import type { RunRecord } from '../../../src/kernel/run-record.ts';
import { RECORD_NAME } from '../../../src/kernel/run-record.ts';
import { RECORD as STORED, upgradeTo } from '../../fixtures/stored-record.ts';
import { memoryCluster } from '../../support/memory-cluster.ts';
import { recordsIn } from '../../support/state.ts';

const LOG = 'kube-system/netsvc-upgrade-run-log';

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
    assert.deepEqual(Object.keys(map()?.data as object), ['kept.jsonl.gz']);
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

  it('moves what its Secret has no room for to the log, no part of which is larger than its limit, and replaces items there too', async () => {
    const { records, memory } = ground();
    await records.save(RECORD);
    const [half, big] = [600_000, 3_000_000].map((size) => randomBytes(size).toString('base64'));
    await records.keep('one', half);
    await records.keep('two', half);
    assert.deepEqual([...memory.objects.keys()], [`kube-system/${RECORD_NAME}`, `${LOG}-1`]);
    await records.keep('one', big);
    await records.keep('small', 'x');
    for (const map of memory.objects.values()) assert.ok(bytesOf(map) < 1_000_000, map.metadata.name);
    const read = () => Promise.all(['one', 'two', 'small'].map((id) => records.kept(id)));
    assert.deepEqual(await read(), [big, half, 'x']);
    await records.keep('one', 'now small');
    assert.deepEqual(await read(), ['now small', half, 'x']);
    assert.deepEqual(
      (await records.keptWith('')).map(({ content }) => content),
      ['now small', 'x', half],
    );
    assert.deepEqual(await records.load(), RECORD);
  });

  it('counts what is in the log as soon as it is there whole, wherever it was killed on the way', async () => {
    const [small, big] = [100, 3_000_000].map((size) => randomBytes(size).toString('base64'));
    for (let writes = 0; ; writes += 1) {
      const { records, memory } = ground();
      await records.save(RECORD);
      await records.keep('one', small);
      const { cluster } = memory;
      let left = writes;
      const may =
        <A extends readonly unknown[], R>(write: (...given: A) => R) =>
        (...given: A): R => {
          if (left === 0) throw new Error('killed');
          left -= 1;
          return write(...given);
        };
      const killed = recordsIn({ ...cluster, create: may(cluster.create), replace: may(cluster.replace) });
      const isDone = await killed.keep('one', big).then(
        () => true,
        () => false,
      );
      const seen = await recordsIn(cluster).kept('one');
      memory.objects.delete(`kube-system/${RECORD_NAME}`);
      const inLog = await recordsIn(cluster).kept('one');
      assert.equal(seen === big, inLog === big, `after ${writes} writes`);
      if (isDone) return;
    }
  });

  it('reads what is beside the record without a list, whatever is in the log', async () => {
    const { memory, records } = ground();
    const long = randomBytes(100_000).toString('hex');
    for (const nth of [1, 2, 3, 4, 5, 6, 7, 8]) await records.append([{ id: `r/report/${nth}`, content: long }]);
    await records.keep('r/apply/edits#1', { mtu: 1400 });
    const byName = recordsIn({ ...memory.cluster, list: () => assert.fail('`wait` may list no Secrets') });
    assert.deepEqual(await byName.kept('r/apply/edits#1'), { mtu: 1400 });
  });

  it('says when a part of a kept item is missing', async () => {
    const { records, memory } = ground();
    await records.append([{ id: 'big', content: randomBytes(2_400_000).toString('base64') }]);
    const isFault = (why: RegExp) => (thrown: unknown) => thrown instanceof Fault && why.test(thrown.message);
    const third = memory.objects.get(`${LOG}-3`);
    assert.ok(third);
    memory.objects.delete(`${LOG}-2`);
    await assert.rejects(records.kept('big'), isFault(/incomplete: Secret.kube-system.netsvc-upgrade-run-log-2: it is missing/));
    memory.objects.set(`${LOG}-2`, { ...third, metadata: { ...third.metadata, name: 'netsvc-upgrade-run-log-2' } });
    await assert.rejects(records.kept('big'), isFault(/run-log-2: the part before it is missing/));
  });

  it('tell that no run has written yet, and nothing else: a lease that is gone beside a record may be that of a run at work', async () => {
    const { memory, records } = ground();
    const state = () => recordStateIn(secretLedger(memory.cluster));
    assert.deepEqual([await state(), await state()], ['none', 'none']);
    await records.save({ ...RECORD, intent: upgradeTo('v1') });
    assert.equal(await state(), undefined);
    const key = `kube-system/${RECORD_NAME}`;
    memory.objects.set(key, { ...(memory.objects.get(key) as KubeObject), type: 'Opaque' });
    assert.equal(await state(), undefined);
  });

  const refused: readonly [string, string, RegExp][] = [
    ['of a newer version', JSON.stringify({ ...RECORD, version: 3, toolVersion: '9.0.0' }), /has version 3; this program knows 2/],
    ['of version 1', JSON.stringify({ ...RECORD, version: 1 }), /wrong or missing: version/],
    ['with an intent that nobody knows', JSON.stringify({ ...RECORD, intent: { kind: 'hop', to: 'v9' } }), /wrong or missing: intent/],
    ['with a path that nobody knows', JSON.stringify({ ...RECORD, path: 'helm' }), /wrong or missing: path$/],
    ['without some fields', JSON.stringify({ ...RECORD, path: undefined, kept: 'x' }), /wrong or missing: path, kept/],
    ['with a step that is none', JSON.stringify({ ...RECORD, progress: { stage: 'apply', step: '1', of: 2 } }), /missing: progress$/],
    [
      'with a container whose name is another command',
      JSON.stringify({
        ...RECORD,
        stages: [
          { id: 'apply', state: 'failed', startedAt: 't', pod: { namespace: 'a', name: 'b', log: { container: 'c; rm', of: 'former' } } },
        ],
      }),
      /missing: stages$/,
    ],
    [
      'with a pod whose name is another command',
      JSON.stringify({ ...RECORD, stages: [{ id: 'apply', state: 'failed', startedAt: 't', pod: { namespace: 'a', name: 'b; rm' } }] }),
      /missing: stages$/,
    ],
    ['with something owed that is no text', JSON.stringify({ ...RECORD, owed: [7] }), /wrong or missing: owed$/],
    [
      'with a node whose name is another command',
      JSON.stringify({ ...RECORD, stages: [{ id: 'apply', state: 'failed', startedAt: 't', node: 'b; rm' }] }),
      /missing: stages$/,
    ],
    [
      'with something left that is no text',
      JSON.stringify({ ...RECORD, stages: [{ id: 'apply', state: 'failed', startedAt: 't', left: 7 }] }),
      /wrong or missing: stages/,
    ],
    [
      'with a watch whose length is no time',
      JSON.stringify({ ...RECORD, stages: [{ id: 'apply', state: 'running', startedAt: 't', watch: { since: 't', ms: -1, by: 'b' } }] }),
      /missing: stages$/,
    ],
    ['past a return without a reason', JSON.stringify({ ...RECORD, noReturn: { at: 'now' } }), /missing: noReturn$/],
    [
      'past a point of no return that nobody knows',
      JSON.stringify({ ...RECORD, noReturn: { point: 'whatever somebody wrote there', at: 'now' } }),
      /missing: noReturn$/,
    ],
    [
      'with a point of no return ahead that nobody knows',
      JSON.stringify({ ...RECORD, progress: { stage: 'apply', step: 1, of: 2, noReturn: { step: 2, point: 'toString' } } }),
      /missing: progress$/,
    ],
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
