import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { listOwned } from '../../../src/adapters/kube/owned.ts';
import { Transport } from '../../../src/adapters/kube/transport.ts';
import { K } from '../../../src/kernel/kinds.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import { clusterTo, connectionTo, type Loopback, sendJson, sendStatus, serve } from '../../support/loopback-server.ts';
import { metadataList } from '../../support/metadata-list.ts';
import { reference, V3 } from '../../support/owner-entries.ts';

const GROUP = 'projectcalico.org';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const owned = (name: string, ...texts: readonly string[]) => ({
  metadata: { name, namespace: 'n', uid: `uid-of-${name}`, resourceVersion: '9', ownerReferences: texts.map((text) => reference(text)) },
});

function sendProtobuf(response: ServerResponse, body: Buffer, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(200, { 'content-type': PROTOBUF, ...headers });
  response.end(body);
}

function names(objects: readonly KubeObject[]): readonly string[] {
  return objects.map(({ metadata }) => metadata.name);
}

describe('a list of what a group owns', () => {
  const open: Loopback[] = [];
  const on = async (...args: Parameters<typeof serve>) => {
    const server = await serve(...args);
    open.push(server);
    return server;
  };
  const listFrom = (server: Loopback) => clusterTo(server.url, {}, { pageSize: 3 }).cluster.list(K.ConfigMap, { ownedBy: [GROUP] });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((server) => server.close()));
  });

  it('asks for metadata in protobuf, page by page, and keeps only what the group owns, whole', async () => {
    const server = await on(({ url }, response) => {
      const body = url.includes('continue=next')
        ? metadataList([owned('c', 'apps:x', 'v3:b')])
        : metadataList([owned('a', 'v3:a'), owned('b', 'apps:x'), owned('foreign', 'crd.projectcalico.org:x')], 'next');
      sendProtobuf(response, body);
    });
    const [a, c, ...rest] = await listFrom(server);
    assert.deepEqual(a, { apiVersion: 'v1', kind: 'ConfigMap', ...owned('a', 'v3:a') });
    assert.deepEqual([c?.metadata.ownerReferences?.map(({ apiVersion }) => apiVersion), rest], [['apps/v1', V3], []]);
    assert.deepEqual(
      server.seen.map(({ url }) => url.replace(/limit=\d+/, 'limit=N')),
      ['/api/v1/configmaps?limit=N', '/api/v1/configmaps?limit=N&continue=next'],
    );
    assert.match(
      server.seen[0]?.headers.accept ?? '',
      /^application\/vnd\.kubernetes\.protobuf;as=PartialObjectMetadataList.*,application\/json$/,
    );
  });

  it('reads JSON, of metadata or of whole objects, from servers that know no protobuf', async () => {
    const server = await on((_, response) =>
      sendJson(response, { items: [{ ...owned('a', 'v3:a'), data: { x: 'y' } }, owned('b', 'apps:x'), { metadata: { name: 'c' } }] }),
    );
    assert.deepEqual(await listFrom(server), [{ apiVersion: 'v1', kind: 'ConfigMap', ...owned('a', 'v3:a') }]);
  });

  it('is told of a refusal in words, whichever form the server refuses in', async () => {
    const server = await on(({ headers }, response) => {
      if (!headers.accept?.startsWith(PROTOBUF)) return sendStatus(response, 403, 'Forbidden', 'configmaps is forbidden');
      response.writeHead(403, { 'content-type': PROTOBUF });
      response.end(Buffer.from('k8s\0\x0a\x01\x00'));
    });
    await assert.rejects(listFrom(server), (thrown: unknown) => {
      assert.ok(thrown instanceof ApiFailure);
      assert.deepEqual([thrown.status, thrown.message], [403, 'configmaps is forbidden']);
      return true;
    });
  });

  it('is read again from the page’s beginning if the connection breaks in it', async () => {
    let times = 0;
    const body = metadataList([owned('a', 'v3:a'), owned('b', 'v3:b')]);
    const server = await on((_, response) => {
      times += 1;
      if (times > 1) return sendProtobuf(response, body);
      response.writeHead(200, { 'content-type': PROTOBUF, 'content-length': body.length });
      response.write(body.subarray(0, -20), () => response.destroy());
    });
    assert.deepEqual([names(await listFrom(server)), times], [['a', 'b'], 2]);
  });

  it('is begun again when its token has expired, in the end in one piece', async () => {
    const server = await on(({ url }, response) => {
      if (url.includes('continue')) return sendStatus(response, 410, 'Expired', 'too old');
      sendProtobuf(
        response,
        url.includes('limit') ? metadataList([owned('a', 'v3:a')], 't') : metadataList([owned('a', 'v3:a'), owned('b', 'v3:b')]),
      );
    });
    assert.deepEqual(names(await listFrom(server)), ['a', 'b']);
    assert.equal(server.seen.filter(({ url }) => !url.includes('limit')).length, 1);
  });

  it('asks for larger pages while they come soon, up to eight times the first, and for the first size again when one took long', async () => {
    const server = await on((_, response) => sendProtobuf(response, metadataList([], server.seen.length < 8 ? 't' : '')));
    let time = 0;
    const slow = new Set([6]);
    const now = () => {
      time += slow.has(server.seen.length) ? 1000 : 100;
      return time;
    };
    const transport = new Transport(connectionTo(server.url), { version: '1', sleep: async () => undefined });
    await listOwned(transport, K.ConfigMap, { ownedBy: [GROUP] }, { limit: 5, now });
    const limits = server.seen.map(({ url }) => Number(/limit=(\d+)/.exec(url)?.[1]));
    assert.deepEqual(limits, [5, 10, 20, 40, 40, 40, 5, 10]);
    await transport.close();
  });

  it('may come compressed', async () => {
    const server = await on((_, response) =>
      sendProtobuf(response, gzipSync(metadataList([owned('a', 'v3:a')])), { 'content-encoding': 'gzip' }),
    );
    assert.deepEqual(names(await listFrom(server)), ['a']);
  });
});
