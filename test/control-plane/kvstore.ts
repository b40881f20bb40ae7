import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolvePrograms } from './binaries.ts';
import { createAuthority, type Identity } from './certificates.ts';
import { freePorts } from './free-ports.ts';
import { askStore } from './kvstore-request.ts';
import { superviseProcesses } from './processes.ts';
import { until } from './until.ts';

/** A real key-value store that only answers to client certificates, on loopback. */
export interface KeyValueStore {
  readonly endpoint: string;
  readonly ca: string;
  readonly client: Identity;
  /** An identity that another authority signed: the store refuses it. */
  readonly stranger: Identity;
  put(key: string, value: string): Promise<void>;
  get(key: string): Promise<string | undefined>;
  /** Values by key, of all keys that begin so. */
  list(prefix: string): Promise<ReadonlyMap<string, string>>;
  remove(key: string): Promise<void>;
  stop(): Promise<void>;
}

const encoded = (text: string): string => Buffer.from(text).toString('base64');

export async function startKeyValueStore(maxMinutes = 30): Promise<KeyValueStore> {
  const { etcd } = await resolvePrograms();
  const dir = await mkdtemp(join(tmpdir(), 'key-value-store-'));
  const [clientPort = 0, peerPort = 0] = await freePorts(2);
  const authority = createAuthority('store authority');
  const server = authority.issue({ commonName: 'store', hosts: ['127.0.0.1', 'localhost'] });
  const client = authority.issue({ commonName: 'agents' });
  const files = { ca: join(dir, 'ca.pem'), cert: join(dir, 'server.pem'), key: join(dir, 'server.key') };
  await Promise.all([
    writeFile(files.ca, authority.certificate),
    writeFile(files.cert, server.certificate),
    writeFile(files.key, server.key, { mode: 0o600 }),
  ]);
  const endpoint = `https://127.0.0.1:${clientPort}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  const processes = await superviseProcesses({ logs: join(dir, 'logs'), remove: dir, maxMinutes });
  const running = await processes.start('kvstore', etcd, [
    '--name=kvstore',
    `--data-dir=${join(dir, 'data')}`,
    '--unsafe-no-fsync',
    `--listen-client-urls=${endpoint}`,
    `--advertise-client-urls=${endpoint}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=kvstore=${peer}`,
    `--cert-file=${files.cert}`,
    `--key-file=${files.key}`,
    `--trusted-ca-file=${files.ca}`,
    '--client-cert-auth',
    '--log-level=warn',
  ]);
  const call = (path: string, body: object) => askStore(new URL(path, endpoint), authority.certificate, client, JSON.stringify(body));
  await until('the key-value store answers', async () => {
    if (running.ended()) throw new Error(await running.tail());
    await call('/v3/maintenance/status', {});
    return true;
  });
  return {
    endpoint,
    ca: authority.certificate,
    client,
    stranger: createAuthority('another').issue({ commonName: 'agents' }),
    put: async (key, value) => void (await call('/v3/kv/put', { key: encoded(key), value: encoded(value) })),
    async get(key) {
      const { kvs = [] } = JSON.parse(await call('/v3/kv/range', { key: encoded(key) })) as { kvs?: readonly { value: string }[] };
      return kvs[0] && Buffer.from(kvs[0].value, 'base64').toString();
    },
    async list(prefix) {
      const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
      const { kvs = [] } = JSON.parse(await call('/v3/kv/range', { key: encoded(prefix), range_end: encoded(end) })) as {
        kvs?: readonly { key: string; value: string }[];
      };
      return new Map(kvs.map(({ key, value }) => [Buffer.from(key, 'base64').toString(), Buffer.from(value, 'base64').toString()]));
    },
    remove: async (key) => void (await call('/v3/kv/deleterange', { key: encoded(key) })),
    async stop() {
      await processes.stopAll();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
