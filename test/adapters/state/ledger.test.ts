import assert from 'node:assert/strict';
import type { Content } from '../../../src/adapters/state/expectations.ts';
import { STATE_TYPE, secretLedger } from '../../../src/adapters/state/ledger.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { K } from '../../../src/kernel/kinds.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { ApiFailure, type Cluster } from '../../../src/kernel/ports.ts';
import { memoryCluster } from '../../support/memory-cluster.ts';

const SPACE = 'kube-system';
const NAME = 'netsvc-upgrade-run';
const of = (text: string): Content => ({ key: Buffer.from(text).toString('base64') });
const isStale = (why: RegExp) => (thrown: unknown) => {
  assert.ok(thrown instanceof Fault, String(thrown));
  assert.equal(thrown.code, 'stale');
  assert.match(thrown.message, why);
  assert.match(thrown.message, /^Secret\/kube-system\/netsvc-upgrade-run was /);
  assert.match(thrown.suggestions.join('\n'), /then run the same command again/);
  return true;
};

function ground(over: (inner: Cluster) => Cluster = (inner) => inner) {
  const memory = memoryCluster();
  const ledger = secretLedger(over(memory.cluster));
  const secret = () => memory.objects.get(`${SPACE}/${NAME}`) as KubeObject;
  const put = (object: KubeObject | undefined) => {
    if (object) memory.objects.set(`${SPACE}/${NAME}`, object);
    else memory.objects.delete(`${SPACE}/${NAME}`);
  };
  return { memory, ledger, secret, put };
}

/** Written, pinned as by a run that holds the lock, and then changed behind its back. */
async function changedBehind(change: (secret: KubeObject) => KubeObject | undefined) {
  const around = ground();
  await around.ledger.update(NAME, () => of('ours'));
  around.ledger.pin();
  around.put(change(around.secret()));
  return around;
}

const newer = (secret: KubeObject, more: object): KubeObject => ({
  ...secret,
  ...more,
  metadata: { ...secret.metadata, resourceVersion: '900' },
});

describe('the ledger', () => {
  it('stores Secrets of one type, and finds them by it', async () => {
    const { ledger, secret, memory } = ground();
    await ledger.update(NAME, () => of('a'));
    assert.equal(secret().type, STATE_TYPE);
    await memory.cluster.create(K.Secret, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'netsvc-upgrade-x', namespace: SPACE } });
    assert.deepEqual(await ledger.names(), [NAME]);
  });

  it('refuses a Secret of another type under its name, and never writes over it', async () => {
    const { ledger, put, memory } = ground();
    put({ apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata: { name: NAME, namespace: SPACE, uid: 'x', resourceVersion: '1' } });
    const refused = {
      name: 'Fault',
      code: 'failed',
      message: 'Secret/kube-system/netsvc-upgrade-run is not of this program: its type is another one',
    };
    await assert.rejects(ledger.read(NAME), refused);
    await assert.rejects(
      ledger.update(NAME, () => of('a')),
      refused,
    );
    assert.equal(memory.writes, 0);
  });

  it('keeps what others noted on a Secret when it writes it', async () => {
    const { ledger, secret, put } = ground();
    await ledger.update(NAME, () => of('a'));
    put({ ...secret(), metadata: { ...secret().metadata, annotations: { seen: 'yes' }, resourceVersion: '900' } });
    await ledger.update(NAME, () => of('b'));
    assert.deepEqual([secret().metadata.annotations, secret().data], [{ seen: 'yes' }, of('b')]);
  });

  const changes: readonly [string, (secret: KubeObject) => KubeObject | undefined, RegExp][] = [
    ['changed', (secret) => newer(secret, { data: of('theirs') }), /changed by somebody else/],
    ['deleted', () => undefined, /deleted by somebody else/],
    [
      'made anew with the same content',
      (secret) => ({ ...secret, metadata: { ...secret.metadata, uid: 'other', resourceVersion: '901' } }),
      /changed by somebody else/,
    ],
  ];
  for (const [how, change, why] of changes) {
    it(`stops a run under which its state was ${how}: when it reads`, async () => {
      const { ledger } = await changedBehind(change);
      await assert.rejects(ledger.read(NAME), isStale(why));
    });
    it(`stops a run under which its state was ${how}: when it writes, and leaves that as it is`, async () => {
      const { ledger, memory } = await changedBehind(change);
      const before = new Map(memory.objects);
      await assert.rejects(
        ledger.update(NAME, () => of('more')),
        isStale(why),
      );
      assert.deepEqual(memory.objects, before);
    });
  }

  it('goes by what was seen before the lock was taken', async () => {
    const { ledger, put, secret } = ground();
    await ledger.update(NAME, () => of('planned from'));
    await ledger.read(NAME);
    put(newer(secret(), { data: of('another run') }));
    ledger.pin();
    await assert.rejects(ledger.read(NAME), isStale(/changed/));
  });

  it('goes by what was seen first: a plan is made of several reads', async () => {
    const { ledger, put, secret } = ground();
    await ledger.update(NAME, () => of('planned from'));
    await ledger.read(NAME);
    put(newer(secret(), { data: of('another run') }));
    await ledger.read(NAME);
    ledger.pin();
    await assert.rejects(ledger.read(NAME), isStale(/changed/));
  });

  it('goes by what was seen first also where nothing was there', async () => {
    const { ledger, memory, put, secret } = ground();
    assert.equal(await ledger.read(NAME), undefined);
    await secretLedger(memory.cluster).update(NAME, () => of('theirs'));
    await ledger.read(NAME);
    ledger.pin();
    put(secret());
    await assert.rejects(ledger.read(NAME), isStale(/changed/));
  });

  it('knows from its first list what was not there, and its own ones', async () => {
    const { ledger, memory } = ground();
    assert.deepEqual(await ledger.names(), []);
    await secretLedger(memory.cluster).update(NAME, () => of('theirs'));
    ledger.pin();
    await ledger.update(`${NAME}-log-1`, () => of('ours'));
    assert.deepEqual(await ledger.names(), [NAME, `${NAME}-log-1`]);
    assert.deepEqual((await ledger.read(`${NAME}-log-1`))?.content, of('ours'));
    await assert.rejects(ledger.read(NAME), isStale(/changed/));
  });

  it('knows an object that it created without an answer, though its list has no such name', async () => {
    let lost = true;
    const { ledger } = ground((inner) => ({
      ...inner,
      async create(...asked) {
        const made = await inner.create(...asked);
        if (!lost) return made;
        lost = false;
        throw new ApiFailure(0, 'ECONNRESET', 'no answer');
      },
    }));
    assert.deepEqual(await ledger.names(), []);
    ledger.pin();
    await assert.rejects(ledger.create(NAME, of('a')), /no answer/);
    assert.deepEqual((await ledger.read(NAME))?.content, of('a'));
  });

  it('begins anew with what is found once other runs could write', async () => {
    const { ledger, memory } = ground();
    await ledger.names();
    ledger.pin();
    ledger.unpin();
    await secretLedger(memory.cluster).update(NAME, () => of('theirs'));
    await ledger.read(NAME);
    ledger.pin();
    assert.deepEqual((await ledger.read(NAME))?.content, of('theirs'));
  });

  it('goes on where only a label was changed', async () => {
    const { ledger, secret } = await changedBehind((one) => ({
      ...one,
      metadata: { ...one.metadata, labels: { theirs: 'x' }, resourceVersion: '900' },
    }));
    await ledger.update(NAME, () => of('more'));
    assert.deepEqual([secret().data, secret().metadata.labels], [of('more'), { theirs: 'x' }]);
  });

  it('lets other runs write once the lock is given back', async () => {
    const { ledger } = await changedBehind((secret) => newer(secret, { data: of('theirs') }));
    ledger.unpin();
    assert.deepEqual((await ledger.read(NAME))?.content, of('theirs'));
  });

  it('goes on after an outdated answer, if the next one agrees with what it wrote', async () => {
    let outdated: KubeObject | undefined;
    const { ledger, secret } = ground((inner) => ({
      ...inner,
      async get(...asked) {
        const answer = outdated ?? (await inner.get(...asked));
        outdated = undefined;
        return answer;
      },
    }));
    await ledger.update(NAME, () => of('a'));
    const before = secret();
    ledger.pin();
    await ledger.update(NAME, () => of('b'));
    outdated = before;
    assert.deepEqual((await ledger.read(NAME))?.content, of('b'));
  });

  for (const stored of [true, false])
    it(`knows its own write of which no answer came, which was ${stored ? '' : 'not '}stored`, async () => {
      let lost = false;
      const { ledger } = ground((inner) => ({
        ...inner,
        async replace(...asked) {
          if (!lost) return inner.replace(...asked);
          lost = false;
          if (stored) await inner.replace(...asked);
          throw new ApiFailure(0, 'ECONNRESET', 'no answer');
        },
      }));
      await ledger.update(NAME, () => of('a'));
      ledger.pin();
      lost = true;
      await assert.rejects(
        ledger.update(NAME, () => of('b')),
        /no answer/,
      );
      assert.deepEqual((await ledger.read(NAME))?.content, of(stored ? 'b' : 'a'));
      await ledger.update(NAME, () => of('c'));
    });

  it('removes what it read, and nothing that was made anew under its name', async () => {
    const { ledger, secret, put } = ground();
    await ledger.update(NAME, () => of('a'));
    ledger.pin();
    const { version } = (await ledger.read(NAME)) ?? assert.fail();
    put({ ...secret(), metadata: { ...secret().metadata, uid: 'other', resourceVersion: '7' } });
    await assert.rejects(ledger.remove(NAME, version), isStale(/changed/));
    assert.ok(secret());
  });
});
