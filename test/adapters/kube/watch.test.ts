import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { K } from '../../../src/kernel/kinds.ts';
import type { WatchUpdate } from '../../../src/kernel/ports.ts';
import { clusterTo, type Loopback, sendJson, sendStatus, serve } from '../../support/loopback-server.ts';

const node = (name: string, resourceVersion: string) => ({ metadata: { name, resourceVersion, managedFields: [{}] } });

function send(response: ServerResponse, ...events: readonly [string, unknown][]): void {
  for (const [type, object] of events) response.write(`${JSON.stringify({ type, object })}\n`);
}

function textOf(update: WatchUpdate): string {
  if (update.type === 'snapshot') return `snapshot ${update.items.map(({ metadata }) => metadata.name).join(',')}`;
  return `${update.type} ${update.object.metadata.name}`;
}

describe('watching over the API', () => {
  let server: Loopback;
  afterEach(() => server.close());

  /** Watches nodes until as many updates have come; ends by the signal. */
  async function watchUntil(
    count: number,
  ): Promise<{ readonly texts: string[]; readonly updates: WatchUpdate[]; readonly pauses: number[] }> {
    const stop = new AbortController();
    const { cluster, pauses } = clusterTo(server.url);
    const updates: WatchUpdate[] = [];
    for await (const update of cluster.watch(K.Node, { signal: stop.signal, fieldSelector: 'metadata.name=a' })) {
      updates.push(update);
      if (updates.length === count) stop.abort();
    }
    return { texts: updates.map(textOf), updates, pauses };
  }

  const watches = () => server.seen.filter(({ url }) => url.includes('watch=1')).map(({ url }) => new URL(url, 'http://x').searchParams);

  it('sends a snapshot, then what changes, without managedFields, and ends when aborted', async () => {
    server = await serve(({ url }, response) => {
      if (!url.includes('watch=1')) return sendJson(response, { metadata: { resourceVersion: '5' }, items: [node('a', '4')] });
      send(response, ['ADDED', node('b', '6')], ['BOOKMARK', { metadata: { resourceVersion: '7' } }], ['DELETED', node('a', '8')]);
    });
    const { texts, updates } = await watchUntil(3);
    assert.deepEqual(texts, ['snapshot a', 'changed b', 'deleted a']);
    const { metadata, kind } = updates[1]?.type === 'changed' ? updates[1].object : assert.fail();
    assert.deepEqual([kind, metadata.managedFields], ['Node', undefined]);
    assert.deepEqual(
      watches().map((query) => [query.get('resourceVersion'), query.get('fieldSelector')]),
      [['5', 'metadata.name=a']],
    );
  });

  it('leaves connections for questions, however many watches there are', async () => {
    server = await serve(({ url }, response) => {
      if (!url.includes('watch=1')) return sendJson(response, { metadata: { resourceVersion: '5' }, items: [] });
      send(response, ['ADDED', node('b', '6')]);
    });
    const stop = new AbortController();
    const { cluster } = clusterTo(server.url);
    const all = Array.from({ length: 20 }, () => cluster.watch(K.Node, { signal: stop.signal })[Symbol.asyncIterator]());
    for (const one of all) for (const type of ['snapshot', 'changed']) assert.equal((await one.next()).value?.type, type);
    assert.deepEqual(await cluster.list(K.Node), []);
    stop.abort();
  });

  it('goes on from the last bookmark after the connection breaks in the middle of a line', async () => {
    server = await serve(({ url }, response) => {
      if (!url.includes('watch=1')) return sendJson(response, { metadata: { resourceVersion: '5' }, items: [] });
      if (watches().length > 1) return send(response, ['MODIFIED', node('a', '9')]);
      send(response, ['BOOKMARK', { metadata: { resourceVersion: '8' } }]);
      response.write('{"type":"ADDED","object":{"metad', () => response.destroy());
    });
    assert.deepEqual((await watchUntil(2)).texts, ['snapshot ', 'changed a']);
    assert.deepEqual(
      watches().map((query) => query.get('resourceVersion')),
      ['5', '8'],
    );
  });

  const gaps: readonly [string, (response: ServerResponse) => void][] = [
    ['an ERROR event', (response) => send(response, ['ERROR', { kind: 'Status', code: 410, message: 'too old resource version' }])],
    ['the status', (response) => sendStatus(response, 410, 'Expired', 'too old')],
  ];
  for (const [title, say] of gaps) {
    it(`lists again after a gap told by ${title}`, async () => {
      let lists = 0;
      server = await serve(({ url }, response) => {
        if (url.includes('watch=1')) return say(response);
        lists += 1;
        sendJson(response, { metadata: { resourceVersion: String(lists) }, items: [node(`list-${lists}`, '1')] });
      });
      assert.deepEqual((await watchUntil(2)).texts, ['snapshot list-1', 'snapshot list-2']);
    });
  }

  it('pauses longer and longer while the server is away', async () => {
    server = await serve(({ url }, response) => {
      if (!url.includes('watch=1')) return sendJson(response, { metadata: { resourceVersion: '5' }, items: [] });
      if (watches().length <= 3) return void response.writeHead(200).end();
      send(response, ['ADDED', node('a', '6')]);
    });
    const { pauses } = await watchUntil(2);
    assert.deepEqual(pauses, [500, 1000, 2000]);
  });

  it('throws a refusal that waiting cannot change', async () => {
    server = await serve((_, response) => sendStatus(response, 403, 'Forbidden', 'nodes is forbidden'));
    await assert.rejects(watchUntil(1), { status: 403, message: 'nodes is forbidden' });
  });
});
