import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolvePrograms } from './binaries.ts';
import { createAuthority } from './certificates.ts';
import { freePorts } from './free-ports.ts';
import { askStore } from './kvstore-request.ts';
import { etcdArguments } from './parts.ts';
import { superviseProcesses } from './processes.ts';
import { until } from './until.ts';

/** A real key-value store that only answers to client certificates, on loopback. */
export type KeyValueStore = Awaited<ReturnType<typeof startKeyValueStore>>;

const encoded = (text: string): string => Buffer.from(text).toString('base64');
const plain = (text: string): string => Buffer.from(text, 'base64').toString();

export async function startKeyValueStore(maxMinutes = 30) {
  const { etcd } = await resolvePrograms();
  const dir = await mkdtemp(join(tmpdir(), 'key-value-store-'));
  const [clientPort = 0, peerPort = 0] = await freePorts(2);
  const authority = createAuthority('store authority');
  const server = authority.issue({ commonName: 'store', hosts: ['127.0.0.1', 'localhost'] });
  const client = authority.issue({ commonName: 'agents' });
  const write = async (name: string, content: string) => {
    await writeFile(join(dir, name), content, { mode: 0o600 });
    return join(dir, name);
  };
  const endpoint = `https://127.0.0.1:${clientPort}`;
  const processes = await superviseProcesses(dir, maxMinutes);
  const running = await processes.start('kvstore', etcd, [
    ...etcdArguments('kvstore', join(dir, 'data'), endpoint, `http://127.0.0.1:${peerPort}`),
    `--cert-file=${await write('server.pem', server.certificate)}`,
    `--key-file=${await write('server.key', server.key)}`,
    `--trusted-ca-file=${await write('ca.pem', authority.certificate)}`,
    '--client-cert-auth',
  ]);
  const call = (path: string, body: object) => askStore(new URL(path, endpoint), authority.certificate, client, JSON.stringify(body));
  const range = async (body: object) => {
    const { kvs = [] } = JSON.parse(await call('/v3/kv/range', body)) as { kvs?: readonly { key: string; value: string }[] };
    return new Map(kvs.map(({ key, value }) => [plain(key), plain(value)]));
  };
  await until('the key-value store answers', async () => {
    if (running.ended()) throw new Error(await running.tail());
    await call('/v3/maintenance/status', {});
    return true;
  });
  return {
    endpoint,
    ca: authority.certificate,
    client,
    /** An identity that another authority signed: the store refuses it. */
    stranger: createAuthority('another').issue({ commonName: 'agents' }),
    put: (key: string, value: string) => call('/v3/kv/put', { key: encoded(key), value: encoded(value) }),
    get: async (key: string) => (await range({ key: encoded(key) })).get(key),
    /** Values by key, of all keys that begin so. */
    list(prefix: string) {
      const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
      return range({ key: encoded(prefix), range_end: encoded(end) });
    },
    remove: (key: string) => call('/v3/kv/deleterange', { key: encoded(key) }),
    stop: () => processes.stopAll(),
  };
}
