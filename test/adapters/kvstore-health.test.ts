import assert from 'node:assert/strict';
import { createServer as createHttp, type RequestListener, type Server } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { askStore } from '../../src/adapters/kvstore-health.ts';
import { createAuthority } from '../control-plane/certificates.ts';

const authority = createAuthority('store authority');
const server = authority.issue({ commonName: 'store', hosts: ['127.0.0.1'] });
const client = authority.issue({ commonName: 'agents' });
const stranger = createAuthority('another authority').issue({ commonName: 'agents' });
const certificates = { ca: authority.certificate, cert: client.certificate, key: client.key };

const healthy: RequestListener = ({ url }, response) => response.end(url === '/health' ? '{"health":"true","reason":""}' : '{}');

async function listening<T>(made: Server, use: (port: number) => Promise<T>): Promise<T> {
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  try {
    return await use((made.address() as AddressInfo).port);
  } finally {
    made.closeAllConnections();
    await new Promise((resolve) => made.close(resolve));
  }
}

const secure = (answer: RequestListener = healthy) =>
  createHttps(
    { cert: server.certificate, key: server.key, ca: authority.certificate, requestCert: true, rejectUnauthorized: true },
    answer,
  ) as unknown as Server;

describe('asking the key-value store', () => {
  it('is healthy with the certificates of the installation', async () => {
    const health = await listening(secure(), (port) => askStore(`https://127.0.0.1:${port}`, certificates));
    assert.deepEqual([health.state, health.because], ['healthy', '']);
  });

  it('is healthy without TLS', async () => {
    const health = await listening(createHttp(healthy), (port) => askStore(`http://127.0.0.1:${port}`, {}));
    assert.equal(health.state, 'healthy');
  });

  const refused: readonly (readonly [string, object])[] = [
    ['without a client certificate', { ca: authority.certificate }],
    ['with a certificate of another authority', { ...certificates, cert: stranger.certificate, key: stranger.key }],
    ['that the CA did not sign', { cert: client.certificate, key: client.key }],
  ];
  for (const [title, given] of refused) {
    it(`is refused ${title}, and no key is told`, async () => {
      const health = await listening(secure(), (port) => askStore(`https://127.0.0.1:${port}`, given));
      assert.equal(health.state, 'refused', health.because);
      assert.ok(!health.because.includes('PRIVATE KEY'));
    });
  }

  it('is refused where https meets a plain server', async () => {
    const health = await listening(createHttp(healthy), (port) => askStore(`https://127.0.0.1:${port}`, certificates));
    assert.equal(health.state, 'refused', health.because);
  });

  it('is unhealthy by its own word', async () => {
    const ill = createHttp((_request, response) => response.end('{"health":"false","reason":"NOSPACE"}'));
    const health = await listening(ill, (port) => askStore(`http://127.0.0.1:${port}`, {}));
    assert.deepEqual([health.state, /NOSPACE/.test(health.because)], ['unhealthy', true]);
  });

  it('is not reached where nobody listens, and where the address is none', async () => {
    assert.equal((await askStore('https://127.0.0.1:1', certificates)).state, 'unreached');
    assert.equal((await askStore('https://<IP>:1', certificates)).state, 'unreached');
  });
});
