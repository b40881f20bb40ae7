import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolvePrograms } from './binaries.ts';
import { createAuthority } from './certificates.ts';
import { freePorts } from './free-ports.ts';
import { storeClient } from './kvstore-client.ts';
import { etcdArguments } from './parts.ts';
import { superviseProcesses } from './processes.ts';
import { until } from './until.ts';

/** A real key-value store that only answers to client certificates, on loopback. */
export type KeyValueStore = Awaited<ReturnType<typeof startKeyValueStore>>;

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
  const store = storeClient(endpoint, authority.certificate, client);
  await until('the key-value store answers', async () => {
    if (running.ended()) throw new Error(await running.tail());
    await store.status();
    return true;
  });
  return {
    ...store,
    endpoint,
    ca: authority.certificate,
    client,
    /** An identity that another authority signed: the store refuses it. */
    stranger: createAuthority('another').issue({ commonName: 'agents' }),
    stop: () => processes.stopAll(),
  };
}
