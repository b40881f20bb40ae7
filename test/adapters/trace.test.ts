import assert from 'node:assert/strict';
import { K } from '../../src/core/kinds.ts';
import { createAuthority } from '../control-plane/certificates.ts';
import { clusterTo, type Loopback, sendJson, sendStatus, serve } from '../support/loopback-server.ts';

const POD = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p', namespace: 'n' }, spec: { nodeName: 'node-1' } };
const LONG = { ...POD, metadata: { ...POD.metadata, annotations: { long: 'x'.repeat(2000) } } };
const SECRET = { kind: 'Secret', apiVersion: 'v1', metadata: { name: 's', namespace: 'n' }, data: { password: 'aHVudGVyMg==' } };

describe('what -v tells of requests', () => {
  const authority = createAuthority('test authority');
  let server: Loopback;
  before(async () => {
    const identity = authority.issue({ commonName: 'server', hosts: ['127.0.0.1'] });
    server = await serve(({ url }, response) => {
      if (url.includes('/secrets/')) return sendJson(response, SECRET);
      if (url.includes('/pods/long')) return sendJson(response, LONG);
      return url.includes('/pods/p') ? sendJson(response, POD) : sendStatus(response, 404, 'NotFound', 'no such thing');
    }, identity);
  });
  after(() => server.close());

  const told = async (level: number, kind: 'Pod' | 'Secret', name: string): Promise<readonly string[]> => {
    const lines: string[] = [];
    const cluster = { 'certificate-authority-data': Buffer.from(authority.certificate).toString('base64') };
    const to = clusterTo(server.url, { cluster, user: { token: 'very-secret' } }, { trace: { level, say: (line) => lines.push(line) } });
    await to.cluster.get(K[kind], name, 'n');
    await to.cluster.close();
    return lines.map((line) => line.replace(/in \d+ milliseconds/, 'in … milliseconds'));
  };

  it('is nothing below 6', async () => assert.deepEqual(await told(5, 'Pod', 'p'), []));

  it('is a line for each from 6 on, the failed ones too', async () => {
    assert.deepEqual(await told(6, 'Pod', 'p'), [`GET ${server.url}/api/v1/namespaces/n/pods/p 200 OK in … milliseconds`]);
    assert.deepEqual(await told(6, 'Pod', 'none'), [`GET ${server.url}/api/v1/namespaces/n/pods/none 404 Not Found in … milliseconds`]);
  });

  it('has headers from 7 on, without the token', async () => {
    const lines = await told(7, 'Pod', 'p');
    assert.ok(lines.includes('    Authorization: (hidden)'), lines.join('\n'));
    assert.ok(lines.includes('    content-type: application/json'));
    assert.ok(!lines.join('\n').includes('very-secret'));
  });

  it('has bodies from 8 on, cut where they are long, and reads them all the same', async () => {
    assert.equal((await told(8, 'Pod', 'p')).at(-1), `Response Body: ${JSON.stringify(POD)}`);
    const lines = await told(8, 'Pod', 'long');
    assert.match(lines.at(-2) ?? '', /^Response Body: \{"kind":"Pod".{1011}$/);
    assert.equal(lines.at(-1), `    … ${JSON.stringify(LONG).length - 1024} more characters`);
  });

  it('never has the body of a Secret', async () => {
    const lines = await told(8, 'Secret', 's');
    assert.equal(lines.at(-1), `Response Body: (hidden) (${JSON.stringify(SECRET).length} characters)`);
  });
});
