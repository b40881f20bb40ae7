import { setTimeout as pause } from 'node:timers/promises';

export type StoreSpace = ReturnType<typeof storeSpace>;

const PREFIX = '/filler/';
/** First key after all with the prefix. */
const END = '/filler0';
/** Below etcd's limit for a request; bytes. */
const LARGEST = 1_000_000;
/** Pages that a write takes besides its value; bytes. */
const SPARE = 16_384;
/** etcd commits, and so knows its size, ten times a second. Milliseconds. */
const COMMIT_MS = 150;
const FULL = /database space exceeded/;

/** Room in an etcd, seen and made as a person does with etcdctl; `store` was started with a quota and asks for no certificates. */
export function storeSpace(store: string) {
  let keys = 0;
  const ask = async <T>(path: string, body: object): Promise<T> => {
    const answer = await fetch(new URL(path, store), { method: 'POST', body: JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as T;
  };
  const room = async () => {
    const { dbSize, dbSizeQuota } = await ask<Readonly<Record<'dbSize' | 'dbSizeQuota', string>>>('/v3/maintenance/status', {});
    return Number(dbSizeQuota) - Number(dbSize);
  };
  const put = async (bytes: number) => {
    keys += 1;
    const value = Buffer.alloc(bytes).toString('base64');
    await ask('/v3/kv/put', { key: encoded(`${PREFIX}${String(keys).padStart(5, '0')}`), value });
    await pause(COMMIT_MS);
  };
  const fillBut = async (bytes: number) => {
    for (let left = await room(); left > bytes + SPARE; left = await room()) await put(Math.min(LARGEST, left - bytes - SPARE / 2));
  };
  return {
    /** Fills it so far that some so many bytes are left. */
    fillBut,
    /** Fills it until it takes no more writes: it raises the alarm NOSPACE. */
    async fill() {
      await fillBut(0);
      const refused = await put(LARGEST).catch(String);
      if (!refused || !FULL.test(refused)) throw new Error(`the store is not full: ${refused ?? 'it took one more'}`);
    },
    /** What filled it goes; then compact, defragment, disarm. */
    async makeRoom() {
      const range = { key: encoded(PREFIX), range_end: encoded(END) };
      const { header } = await ask<{ readonly header: Readonly<Record<'revision' | 'member_id', string>> }>('/v3/kv/deleterange', range);
      await ask('/v3/kv/compaction', { revision: header.revision, physical: true });
      await ask('/v3/maintenance/defragment', {});
      await ask('/v3/maintenance/alarm', { action: 'DEACTIVATE', memberID: header.member_id, alarm: 'NOSPACE' });
    },
  };
}

const encoded = (text: string): string => Buffer.from(text).toString('base64');
