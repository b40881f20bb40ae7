import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { listOwned } from '../../../src/adapters/kube/owned.ts';
import { Transport } from '../../../src/adapters/kube/transport.ts';
import { K } from '../../../src/kernel/kinds.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import { clusterTo, connectionTo, type Loopback, sendJson, sendStatus, serve } from '../../support/loopback-server.ts';
import { reference, V3 } from '../../support/owner-entries.ts';
import { type ListItem, metadataList } from './metadata-list.ts';

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

const limitsOf = (server: Loopback) => server.seen.map(({ url }) => Number(/limit=(\d+)/.exec(url)?.[1]));

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

  it('asks for pages as large as come soon, up to 32 times the first, and for the first size again when one took long', async () => {
    const took = [100, 300, 150, 10, 1000, 10, 10];
    let time = 0;
    const server = await on((_, response) => {
      time += took[server.seen.length - 1] ?? 0;
      sendProtobuf(response, metadataList([], server.seen.length < took.length ? `t${server.seen.length}` : ''));
    });
    const transport = new Transport(connectionTo(server.url), { version: '1', sleep: async () => undefined });
    await listOwned(transport, K.ConfigMap, { ownedBy: [GROUP] }, { limit: 5, now: () => time });
    assert.deepEqual(limitsOf(server), [5, 20, 40, 80, 160, 5, 160]);
    await transport.close();
  });

  it('asks for smaller pages where objects are large', async () => {
    const server = await on(({ url }, response) => {
      const item = { ...owned('a', 'v3:a'), noise: Buffer.alloc(512 * 1024) };
      sendProtobuf(response, url.includes('continue') ? metadataList([]) : metadataList([item], 't'));
    });
    const transport = new Transport(connectionTo(server.url), { version: '1', sleep: async () => undefined });
    await listOwned(transport, K.ConfigMap, { ownedBy: [GROUP] }, { limit: 5, now: () => 0 });
    assert.deepEqual(limitsOf(server), [5, 79]);
    await transport.close();
  });

  it('asks for the next page while the one before is still on its way', async () => {
    let end = () => undefined as unknown;
    const server = await on(({ url }, response) => {
      if (!url.includes('continue')) return sendProtobuf(response, metadataList([owned('a', 'v3:a')], 'second'));
      if (url.includes('second')) {
        const body = metadataList([owned('b', 'v3:b')], 'third');
        response.writeHead(200, { 'content-type': PROTOBUF });
        response.write(body.subarray(0, -20));
        end = () => response.end(body.subarray(-20));
        return;
      }
      sendProtobuf(response, metadataList([owned('c', 'v3:c')]));
      end();
    });
    assert.deepEqual(names(await listFrom(server)), ['a', 'b', 'c']);
  });

  it('is begun again where a page that is read again continues elsewhere', async () => {
    let times = 0;
    let broken = () => undefined as unknown;
    const server = await on(({ url }, response) => {
      if (!url.includes('continue')) return sendProtobuf(response, metadataList([owned('a', 'v3:a')], 'second'));
      if (!url.includes('second')) {
        broken();
        return sendProtobuf(response, metadataList([owned('c', 'v3:c')]));
      }
      times += 1;
      const body = metadataList([owned('b', 'v3:b')], times === 1 ? 'old' : 'new');
      if (times > 1) return sendProtobuf(response, body);
      response.writeHead(200, { 'content-type': PROTOBUF, 'content-length': body.length });
      response.write(body.subarray(0, -20));
      broken = () => response.destroy();
    });
    assert.deepEqual(names(await listFrom(server)), ['a', 'b', 'c']);
    assert.equal(server.seen.filter(({ url }) => !url.includes('continue')).length, 2);
  });

  describe('of a kind with many objects', () => {
    const many = (count: number, name: string) => Array.from({ length: count }, (_, index) => owned(`${name}-${index}`, 'apps:x'));
    /** 100 objects, 60 of them in the namespace `one`; `two` says that it has so many. */
    const serveMany = (inTwo: number, namespaces: readonly string[] = ['one', 'two', 'empty']) => {
      const parts: Readonly<Record<string, readonly ListItem[]>> = {
        one: [...many(59, 'one'), owned('in-one', 'v3:a')],
        two: [...many(inTwo - 1, 'two'), owned('in-two', 'v3:a')],
      };
      return on(({ url }, response) => {
        const part = /namespaces\/(\w+)/.exec(url)?.[1];
        if (part) sendProtobuf(response, metadataList(parts[part] ?? []));
        else if (url.includes('continue')) sendProtobuf(response, metadataList([owned('in-rest', 'v3:a')]));
        else if (url.includes('configmaps'))
          sendProtobuf(response, metadataList([owned('in-first', 'v3:a'), ...many(2, 'one')], 'next', 97));
        else if (namespaces.length === 0) sendStatus(response, 403, 'Forbidden', 'namespaces is forbidden');
        else sendJson(response, { items: namespaces.map((name) => ({ metadata: { name } })) });
      });
    };

    it('is read by namespaces at the state of the first page', async () => {
      const server = await serveMany(40);
      assert.deepEqual(names(await listFrom(server)), ['in-one', 'in-two']);
      const states = server.seen.filter(({ url }) => /namespaces\/\w+/.test(url)).map(({ url }) => url.replace(/limit=\d+/, 'limit=N'));
      assert.deepEqual(
        [...states].sort(),
        ['empty', 'one', 'two'].map(
          (name) => `/api/v1/namespaces/${name}/configmaps?limit=N&resourceVersion=4711&resourceVersionMatch=Exact`,
        ),
      );
    });

    it('is read page by page where the namespaces do not have them all, may not be listed, or are too many', async () => {
      const others = Array.from({ length: 31 }, (_, index) => `n${index}`);
      const servers = [serveMany(39), serveMany(40, []), serveMany(40, ['one', 'two', ...others])];
      for (const server of await Promise.all(servers)) assert.deepEqual(names(await listFrom(server)), ['in-first', 'in-rest']);
    });
  });

  it('may come compressed', async () => {
    const server = await on((_, response) =>
      sendProtobuf(response, gzipSync(metadataList([owned('a', 'v3:a')])), { 'content-encoding': 'gzip' }),
    );
    assert.deepEqual(names(await listFrom(server)), ['a']);
  });
});
