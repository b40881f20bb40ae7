import assert from 'node:assert/strict';
import { createServer as createHttp, type RequestListener, type Server } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { createServer as createTcp } from 'node:net';
import { askStore, kvstoreProbe } from '../../src/adapters/kvstore.ts';
import { createAuthority } from '../control-plane/certificates.ts';
import { listening } from '../control-plane/listening.ts';
import { patient } from '../support/patience.ts';
import { unverified } from '../support/unverified.ts';

const authority = createAuthority('store authority');
const server = authority.issue({ commonName: 'store', hosts: ['127.0.0.1'] });
const client = authority.issue({ commonName: 'agents' });
const stranger = createAuthority('another authority').issue({ commonName: 'agents' });
const certificates = { ca: authority.certificate, cert: client.certificate, key: client.key };

const healthy: RequestListener = ({ url }, response) => response.end(url === '/health' ? '{"health":"true","reason":""}' : '{}');

async function listeningTo<T>(made: Server, use: (port: number) => Promise<T>): Promise<T> {
  const { port, close } = await listening(made);
  return use(port).finally(close);
}

const secure = (answer: RequestListener = healthy) =>
  createHttps(
    { cert: server.certificate, key: server.key, ca: authority.certificate, requestCert: true, rejectUnauthorized: true },
    answer,
  ) as unknown as Server;

describe('asking the key-value store', () => {
  const endless: Readonly<Record<string, RequestListener>> = {
    'more than it may be': (_request, response) => void response.end('x'.repeat(100_000)),
    'without an end': (_request, response) => {
      response.write('{');
      const more = setInterval(() => response.write(' '), 100);
      response.on('close', () => clearInterval(more));
    },
    'half an answer, and then nobody': (_request, response) => {
      response.writeHead(200, { 'Content-Length': '1000' });
      response.write('{"health":"true"');
      setTimeout(() => response.destroy(), 50);
    },
    'another protocol': ({ socket }) => void socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    'half an answer, and then nothing': (_request, response) => void response.write('{"health":"true"'),
  };
  for (const [title, answer] of Object.entries(endless)) {
    it(`is unhealthy within seconds where it answers with ${title}`, async () => {
      const started = performance.now();
      const health = await listeningTo(createHttp(answer), (port) => askStore(`http://127.0.0.1:${port}`, {}));
      assert.equal(health.state, 'unhealthy', health.because);
      assert.ok(performance.now() - started < patient(6_000));
    });
  }

  it('is not reached where a head drips in, and gives up within seconds', async () => {
    const dripping = createTcp((socket) => {
      socket.on('error', () => undefined);
      socket.write('HTTP/1.1 200 OK\r\nX-');
      const more = setInterval(() => socket.write('a'), 100);
      socket.on('close', () => clearInterval(more));
    }) as unknown as Server;
    const health = await listeningTo(dripping, (port) => askStore(`http://127.0.0.1:${port}`, {}));
    assert.deepEqual([health.state, health.because], ['unreached', 'no answer within 3 s']);
  });

  it('shows its certificate to no store that is not trusted, though a variable of Node says so', async () => {
    const unasking = createHttps({ cert: server.certificate, key: server.key }, healthy) as unknown as Server;
    const health = await unverified(() => listeningTo(unasking, (port) => askStore(`https://127.0.0.1:${port}`, {})));
    assert.deepEqual(health.state, 'refused', health.because);
  });

  it('reads a value by its key, says what is not there, and what it is told', async () => {
    const asked: string[] = [];
    const store: RequestListener = (request, response) => {
      request.on('data', (chunk: Buffer) => {
        const { key } = JSON.parse(chunk.toString());
        asked.push(`${request.method} ${request.url} ${Buffer.from(key, 'base64')}`);
        if (asked.length === 3) response.writeHead(401).end('etcdserver: permission denied');
        else response.end(JSON.stringify(asked.length === 1 ? { kvs: [{ value: Buffer.from('here').toString('base64') }] } : {}));
      });
    };
    await listeningTo(createHttp(store), async (port) => {
      const read = () => kvstoreProbe.value(`http://127.0.0.1:${port}`, {}, '/a/b');
      assert.equal(await read(), 'here');
      assert.equal(await read(), undefined);
      await assert.rejects(read(), /does not say: it answered 401: etcdserver: permission denied/);
    });
    assert.equal(asked[0], 'POST /v3/kv/range /a/b');
  });

  it('is healthy with the certificates of the installation', async () => {
    const health = await listeningTo(secure(), (port) => askStore(`https://127.0.0.1:${port}`, certificates));
    assert.deepEqual([health.state, health.because], ['healthy', '']);
  });

  it('is healthy without TLS', async () => {
    const health = await listeningTo(createHttp(healthy), (port) => askStore(`http://127.0.0.1:${port}`, {}));
    assert.equal(health.state, 'healthy');
  });

  const refused: readonly (readonly [string, object])[] = [
    ['without a client certificate', { ca: authority.certificate }],
    ['with a certificate of another authority', { ...certificates, cert: stranger.certificate, key: stranger.key }],
    ['that the CA did not sign', { cert: client.certificate, key: client.key }],
  ];
  for (const [title, given] of refused) {
    it(`is refused ${title}, and no key is told`, async () => {
      const health = await listeningTo(secure(), (port) => askStore(`https://127.0.0.1:${port}`, given));
      assert.equal(health.state, 'refused', health.because);
      assert.ok(!health.because.includes('PRIVATE KEY'));
    });
  }

  it('is refused where https meets a plain server', async () => {
    const health = await listeningTo(createHttp(healthy), (port) => askStore(`https://127.0.0.1:${port}`, certificates));
    assert.equal(health.state, 'refused', health.because);
  });

  it('is unhealthy by its own word', async () => {
    const ill = createHttp((_request, response) => response.end('{"health":"false","reason":"NOSPACE"}'));
    const health = await listeningTo(ill, (port) => askStore(`http://127.0.0.1:${port}`, {}));
    assert.deepEqual([health.state, /NOSPACE/.test(health.because)], ['unhealthy', true]);
  });

  it('is not reached where nobody listens, and where the address is none', async () => {
    assert.equal((await askStore('https://127.0.0.1:1', certificates)).state, 'unreached');
    assert.equal((await askStore('https://<IP>:1', certificates)).state, 'unreached');
  });
});
