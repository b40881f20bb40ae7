import assert from 'node:assert/strict';
import { K } from '../../src/kernel/kinds.ts';
import type { Cluster } from '../../src/kernel/ports.ts';
import { LAST_APPLIED } from '../../src/kube/managed-fields.ts';
import { createAuthority } from '../control-plane/certificates.ts';
import { clusterTo, type Loopback, sendJson, sendStatus, serve } from '../support/loopback-server.ts';

const POD = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p', namespace: 'n' }, spec: { nodeName: 'node-1' } };
const LONG = { ...POD, metadata: { ...POD.metadata, annotations: { long: 'x'.repeat(2000) } } };
const DATA = { password: 'aHVudGVyMg==' };
/** As a client-side apply leaves it: with its values in an annotation, too. */
const NOTED = { kind: 'Secret', apiVersion: 'v1', metadata: { name: 's', namespace: 'n' }, data: DATA };
const SECRET = { ...NOTED, metadata: { ...NOTED.metadata, annotations: { [LAST_APPLIED]: JSON.stringify(NOTED) } } };

describe('what -v tells of requests', () => {
  const authority = createAuthority('test authority');
  let server: Loopback;
  before(async () => {
    const identity = authority.issue({ commonName: 'server', hosts: ['127.0.0.1'] });
    server = await serve(({ url, method }, response) => {
      if (url.includes('/secrets/') || (url.includes('/secrets') && method === 'POST')) return sendJson(response, SECRET);
      if (url.includes('/secrets')) return sendJson(response, { kind: 'SecretList', apiVersion: 'v1', metadata: {}, items: [SECRET] });
      if (url.includes('/pods/long')) return sendJson(response, LONG);
      return url.includes('/pods/p') ? sendJson(response, POD) : sendStatus(response, 404, 'NotFound', 'no such thing');
    }, identity);
  });
  after(() => server.close());

  const told = (level: number, kind: 'Pod' | 'Secret', name: string) => toldOf(level, (to) => to.get(K[kind], name, 'n'));
  const toldOf = async (level: number, ask: (to: Cluster) => Promise<unknown>): Promise<readonly string[]> => {
    const lines: string[] = [];
    const cluster = { 'certificate-authority-data': Buffer.from(authority.certificate).toString('base64') };
    const to = clusterTo(server.url, { cluster, user: { token: 'very-secret' } }, { trace: { level, say: (line) => lines.push(line) } });
    await ask(to.cluster);
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

  const ref = { apiVersion: 'v1', kind: 'Secret', name: 's', namespace: 'n' };
  const requests: Readonly<Record<string, (to: Cluster) => Promise<unknown>>> = {
    list: (to) => to.list(K.Secret, { namespace: 'n' }),
    create: (to) => to.create(K.Secret, SECRET),
    replace: (to) => to.replace(K.Secret, SECRET),
    patch: (to) => to.patch(K.Secret, ref, [{ op: 'add', path: '/data/password', value: DATA.password }], 'test'),
    'dry run of an apply': (to) => to.dryRunApply(K.Secret, SECRET, 'test'),
    'dry run of a patch': (to) => to.dryRunPatch(K.Secret, ref, [{ op: 'add', path: '/data/password', value: DATA.password }], 'test'),
    'dry run of a creation': (to) => to.dryRunCreate(K.Secret, SECRET),
    'request by path': (to) => to.raw('/api/v1/namespaces/n/secrets/s'),
  };
  for (const [title, ask] of Object.entries(requests))
    it(`has no value of a Secret, nor what kubectl noted of it, at any level: ${title}`, async () => {
      const lines = await toldOf(9, ask);
      assert.ok(
        lines.some((line) => line.startsWith('Response Body: (hidden)')),
        lines.join('\n'),
      );
      assert.ok(!lines.join('\n').includes(DATA.password), lines.join('\n'));
    });
});
