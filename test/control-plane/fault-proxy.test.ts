import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { createServer, get } from 'node:https';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { emptyFolder } from '../support/folders.ts';
import { type Api, ApiError, connect } from './api.ts';
import { createAuthority } from './certificates.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { type Listening, listening } from './listening.ts';
import type { FaultKind } from './proxy-faults.ts';
import { purposeOf } from './proxy-log.ts';

/** A server with one counter: every write raises it, every read tells it. */
interface Backend extends Listening {
  readonly writes: () => number;
  readonly auditIds: readonly string[];
  readonly asked: readonly string[];
}

const authority = createAuthority('backend-authority');
const client = authority.issue({ commonName: 'admin' });

async function startBackend(): Promise<Backend> {
  const own = authority.issue({ commonName: 'backend', hosts: ['127.0.0.1'] });
  const [auditIds, asked]: [string[], string[]] = [[], []];
  let writes = 0;
  const tls = { cert: own.certificate, key: own.key, ca: authority.certificate, requestCert: true, rejectUnauthorized: true };
  const server = createServer(tls, (request, response) => {
    request.resume();
    asked.push(`${request.method} ${request.url} ${request.headers['impersonate-user'] ?? ''}`.trim());
    auditIds.push(String(request.headers['audit-id']));
    if (request.method !== 'GET') writes += 1;
    response.setHeader('content-type', 'application/json');
    if (request.url?.includes('watch=true')) return void response.write('{"type":"ADDED","object":{}}\n');
    response.end(JSON.stringify({ writes }));
  });
  return { ...(await listening(server)), writes: () => writes, auditIds, asked };
}

describe('the fault proxy', () => {
  let backend: Backend;
  let proxy: FaultProxy;
  let api: Api;
  const folder = emptyFolder('netsvc-upgrade-proxy-');
  beforeEach(async () => {
    backend = await startBackend();
    const server = `https://127.0.0.1:${backend.port}`;
    const behind = { server, authority: authority.certificate, certificate: client.certificate, key: client.key };
    proxy = await startFaultProxy({ behind, kubeconfigPath: join(folder, 'kubeconfig'), bodies: true, silenceMs: 5 });
    api = connect(proxy.access);
  });
  afterEach(async () => {
    api.close();
    await proxy.stop();
    await backend.close();
  });

  const arm = (kind: FaultKind, nth = 1, kill?: () => void) =>
    proxy.arm({ kind, nth, matches: ({ purpose }) => purpose === 'write', ...(kill ? { kill } : {}) });
  const write = () => api.send<{ writes: number }>('POST', '/api/v1/namespaces/a/configmaps', { data: { a: 'b' } });
  const read = (path = '/api/v1/nodes') => api.get<{ writes: number }>(path);
  const isReset = (thrown: NodeJS.ErrnoException) => thrown.code === 'ECONNRESET' || thrown.code === 'EPIPE';

  it('passes requests through as the administrator, numbers them and keeps what was written', async () => {
    assert.deepEqual(await read(), { writes: 0 });
    assert.deepEqual(await write(), { writes: 1 });
    const told = proxy.requests.map(({ number, method, purpose, clientStatus, serverStatus, body }) => ({
      number,
      method,
      purpose,
      clientStatus,
      serverStatus,
      body,
    }));
    const status = { clientStatus: 200, serverStatus: 200 };
    assert.deepEqual(told, [
      { number: 1, method: 'GET', purpose: 'read', ...status, body: undefined },
      { number: 2, method: 'POST', purpose: 'write', ...status, body: '{"data":{"a":"b"}}' },
    ]);
    assert.deepEqual(proxy.requests.map(proxy.auditId), backend.auditIds);
  });

  it('counts moments so that an answer before a request is seen to be before it', async () => {
    await write();
    await write();
    const [first, second] = proxy.requests;
    assert.ok(first?.answeredAt && second && first.arrivedAt < first.answeredAt && first.answeredAt < second.arrivedAt);
  });

  it('writes a kubeconfig for its owner alone, which names the proxy and knows no key of the server', async () => {
    const text = await readFile(proxy.kubeconfigPath, 'utf8');
    assert.equal((await stat(proxy.kubeconfigPath)).mode & 0o777, 0o600);
    assert.ok(text.includes(proxy.access.server));
    assert.ok(!text.includes(Buffer.from(client.key).toString('base64')));
  });

  const refusals: readonly (readonly [FaultKind, number])[] = [
    ['conflict', 409],
    ['too-many-requests', 429],
    ['server-error', 500],
    ['unavailable', 503],
  ];
  for (const [kind, status] of refusals) {
    it(`${kind}: answers ${status} to the second write, which the server never sees, and to no other`, async () => {
      arm(kind, 2);
      await write();
      await assert.rejects(write, (thrown) => thrown instanceof ApiError && thrown.status === status);
      await write();
      assert.equal(backend.writes(), 2);
      assert.equal(proxy.disarm()?.number, 2);
    });
  }

  const breaks: readonly (readonly [FaultKind, number])[] = [
    ['reset-before', 0],
    ['reset-after', 1],
    ['silence-after', 1],
  ];
  for (const [kind, done] of breaks) {
    it(`${kind}: the client has no answer, the server has done ${done === 1 ? 'it' : 'nothing'}`, async () => {
      arm(kind);
      await assert.rejects(write, isReset);
      assert.equal(backend.writes(), done);
      const [entry] = proxy.requests;
      assert.deepEqual([entry?.fault, entry?.answeredAt, entry?.serverStatus], [kind, undefined, done === 1 ? 200 : undefined]);
      await write();
    });
  }

  for (const kind of ['kill-before', 'kill-after'] as const) {
    it(`${kind}: ends the client and lets nobody in until the fault is ended`, async () => {
      let killed = 0;
      arm(kind, 1, () => {
        killed += 1;
      });
      await assert.rejects(write, isReset);
      await assert.rejects(() => read(), isReset);
      assert.deepEqual([killed, backend.writes()], [1, kind === 'kill-after' ? 1 : 0]);
      assert.equal(proxy.disarm()?.fault, kind);
      await read();
    });
  }

  it('stale: tells the oldest answer again, and only to a question asked before', async () => {
    proxy.arm({ kind: 'stale', nth: 1, matches: ({ isRepeated }) => isRepeated });
    await read();
    await write();
    assert.deepEqual(await read('/api/v1/pods'), { writes: 1 });
    assert.deepEqual(await read(), { writes: 0 });
    assert.deepEqual(await read(), { writes: 1 });
  });

  it('stale: has nothing old to tell once its answers are forgotten', async () => {
    await read();
    proxy.forgetAnswers();
    proxy.arm({ kind: 'stale', nth: 1, matches: ({ isRepeated }) => isRepeated });
    await write();
    assert.deepEqual(await read(), { writes: 1 });
    await write();
    assert.deepEqual(await read(), { writes: 1 });
    assert.equal(proxy.disarm()?.number, 5);
  });

  it('gone: a watch begins and says 410; the next one streams', async () => {
    proxy.arm({ kind: 'gone', nth: 1, matches: ({ purpose }) => purpose === 'watch' });
    const watched = '/api/v1/pods?watch=true';
    const gone = await api.get<{ type: string; object: { code: number } }>(watched);
    assert.deepEqual([gone.type, gone.object.code], ['ERROR', 410]);
    const { authority: ca, certificate: cert, key } = proxy.access;
    const stream = get(proxy.access.server + watched, { ca, cert, key, agent: false });
    const [message] = await once(stream, 'response');
    const [line] = await once(message as Socket, 'data');
    assert.match(String(line), /ADDED/);
    stream.destroy();
  });

  it('a client without the certificate is not served', async () => {
    const stranger = connect({ ...proxy.access, certificate: client.certificate, key: client.key });
    await assert.rejects(stranger.get('/api/v1/nodes'));
    assert.equal(proxy.requests.length, 0);
  });

  it('passes the headers of impersonation on', async () => {
    const { authority: ca, certificate: cert, key } = proxy.access;
    const asked = get(`${proxy.access.server}/api`, { ca, cert, key, agent: false, headers: { 'impersonate-user': 'jane' } });
    await once(asked, 'response');
    assert.deepEqual(backend.asked, ['GET /api jane']);
  });

  it('a question that stores nothing is no write', () => {
    const cases = [
      ['GET', '/api/v1/pods?watch=1', 'watch'],
      ['GET', '/api/v1/pods', 'read'],
      ['PATCH', '/api/v1/pods/a?dryRun=All', 'ask'],
      ['POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', 'ask'],
      ['PATCH', '/api/v1/pods/a?force=true', 'write'],
      ['DELETE', '/api/v1/pods/a', 'write'],
    ] as const;
    for (const [method, path, purpose] of cases) assert.equal(purposeOf(method, path), purpose, path);
  });
});
