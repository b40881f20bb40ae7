import assert from 'node:assert/strict';
import type { Content } from '../../../src/adapters/state/entry.ts';
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

/** Written, and then changed behind the back of who wrote it. */
async function changedBehind(change: (secret: KubeObject) => KubeObject | undefined) {
  const around = ground();
  await around.ledger.update(NAME, () => of('ours'));
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
  ];
  for (const [how, change, why] of changes) {
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

  it('goes by what it read first, however often it reads since: a plan is made from that', async () => {
    for (const first of [() => of('planned from'), () => undefined]) {
      const { ledger, memory } = ground();
      await secretLedger(memory.cluster).update(NAME, first);
      await ledger.read(NAME);
      await secretLedger(memory.cluster).update(NAME, () => of('theirs'));
      assert.deepEqual((await ledger.read(NAME))?.content, of('theirs'));
      await assert.rejects(
        ledger.update(NAME, () => of('ours')),
        isStale(/changed/),
      );
      assert.deepEqual((await ledger.read(NAME))?.content, of('theirs'));
    }
  });

  it('goes by what it wrote last, whatever it reads since', async () => {
    const { ledger, put, secret } = await changedBehind((one) => newer(one, { data: of('theirs') }));
    await ledger.read(NAME);
    await assert.rejects(
      ledger.update(NAME, () => of('more')),
      isStale(/changed/),
    );
    put(newer(secret(), { data: of('ours') }));
    await ledger.update(NAME, () => of('more'));
  });

  it('adds to what it never read: it writes what was there as well', async () => {
    const { ledger, memory } = ground();
    await secretLedger(memory.cluster).update(NAME, () => of('theirs'));
    await ledger.update(NAME, (live) => ({ ...live, more: 'b3Vycw==' }));
    assert.deepEqual((await ledger.read(NAME))?.content, { ...of('theirs'), more: 'b3Vycw==' });
  });

  it('knows an object that it created without an answer', async () => {
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
    await assert.rejects(
      ledger.update(NAME, () => of('a')),
      /no answer/,
    );
    await ledger.update(NAME, (live) => {
      assert.deepEqual(live, of('a'));
      return of('b');
    });
  });

  it('takes its own write for done that was sent again after a lost answer: it is not added twice', async () => {
    const { ledger, secret } = ground((inner) => ({
      ...inner,
      async replace(...asked) {
        await inner.replace(...asked);
        throw new ApiFailure(409, 'Conflict', 'modified');
      },
    }));
    await ledger.update(NAME, () => of('a'));
    await ledger.update(NAME, (live) => ({ more: `${live?.key}${live?.more ?? ''}` }));
    assert.deepEqual(secret().data, { more: of('a').key });
  });

  it('goes on where only a label was changed', async () => {
    const { ledger, secret } = await changedBehind((one) => ({
      ...one,
      metadata: { ...one.metadata, labels: { theirs: 'x' }, resourceVersion: '900' },
    }));
    await ledger.update(NAME, () => of('more'));
    assert.deepEqual([secret().data, secret().metadata.labels], [of('more'), { theirs: 'x' }]);
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
    const { version } = (await ledger.read(NAME)) ?? assert.fail();
    put({ ...secret(), metadata: { ...secret().metadata, uid: 'other', resourceVersion: '7' } });
    await assert.rejects(ledger.remove(NAME, version), /is another one by now/);
    assert.ok(secret());
  });
});
