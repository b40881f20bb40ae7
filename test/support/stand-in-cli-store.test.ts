import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { createAuthority } from '../control-plane/certificates.ts';
import { testFolder } from './folders.ts';
import { type Loopback, sendJson, serve } from './loopback-server.ts';
import { installStandIn } from './stand-in-cli.ts';
import { CALICO_TARGET } from './target.ts';
import { assertSucceeded } from './upgrade-process.ts';

const ROOT = '/calico/resources/v3/projectcalico.org/';
const base64 = (text: string) => Buffer.from(text).toString('base64');
const plain = (text: string) => Buffer.from(text, 'base64').toString();

/** The three requests of the store's JSON interface that the stand-in makes. */
describe('the stand-in for the service’s CLI on a key-value store', () => {
  const folder = testFolder('stand-in-store-');
  let server: Loopback;
  const values = new Map<string, string>();
  const file = (name: string) => join(folder, name);
  const authority = createAuthority('store authority');
  const client = authority.issue({ commonName: 'agents' });

  const configOf = (endpoint: string) => {
    const files = `etcdCACertFile: ${file('ca')}\n  etcdCertFile: ${file('cert')}\n  etcdKeyFile: ${file('key')}`;
    return `spec:\n  datastoreType: etcdv3\n  etcdEndpoints: "${endpoint}"\n  ${files}\n`;
  };

  before(async () => {
    const identity = authority.issue({ commonName: 'store', hosts: ['127.0.0.1'] });
    server = await serve(
      ({ url, body }, response) => {
        const { key, value = '', range_end: end } = JSON.parse(body);
        if (url === '/v3/kv/put') values.set(plain(key), plain(value));
        if (url === '/v3/kv/deleterange') values.delete(plain(key));
        const found = [...values].filter(([one]) => one >= plain(key) && one < plain(end ?? base64(`${plain(key)}\0`))).sort();
        sendJson(response, { kvs: found.map(([one, text]) => ({ key: base64(one), value: base64(text) })) });
      },
      { ...identity, clientAuthority: authority.certificate },
    );
    for (const [name, text] of Object.entries({ ca: authority.certificate, cert: client.certificate, key: client.key }))
      writeFileSync(file(name), text);
    writeFileSync(file('ctl.cfg'), configOf(server.url));
    installStandIn(file('ctl'), {}, { etcd: true });
  });
  after(async () => {
    await server?.close();
  });
  beforeEach(() => {
    values.clear();
    values.set(`${ROOT}clusterinformations/default`, JSON.stringify({ spec: { calicoVersion: CALICO_TARGET, clusterType: 'k8s,bgp' } }));
    values.set(`${ROOT}hostendpoints/a`, JSON.stringify({ kind: 'HostEndpoint', metadata: { name: 'a' }, spec: { node: 'n1' } }));
  });

  const run = (args: readonly string[], input = '', config = 'ctl.cfg') =>
    execa(file('ctl'), [...args, `--config=${file(config)}`], { input, reject: false, extendEnv: false, env: { PATH: '/usr/bin:/bin' } });

  it('tells the cluster’s release, and its own without a connection', async () => {
    assert.match((await run(['version'])).stdout, /^Cluster Version: {3}v3\.32\.1$/m);
    const connections = server.connections();
    assertSucceeded(await run(['version', '--client']));
    assert.equal(server.connections(), connections);
  });

  it('creates, patches, lists and deletes, and leaves every other key as it was', async () => {
    values.set('/calico/ipam/v2/handle/kept', 'yes');
    values.set(`${ROOT}kubecontrollersconfigurations/default`, JSON.stringify({ metadata: { name: 'default' }, spec: { x: 1 } }));
    const object = { apiVersion: 'projectcalico.org/v3', kind: 'HostEndpoint', metadata: { name: 'b' }, spec: { node: 'n2' } };
    assertSucceeded(await run(['create', '-f', '-'], JSON.stringify(object)));
    assert.deepEqual(JSON.parse(values.get(`${ROOT}hostendpoints/b`) ?? ''), object);
    assertSucceeded(await run(['patch', 'kubecontrollersconfiguration', 'default', '--patch', '{"spec":{"y":2}}']));
    assert.deepEqual(JSON.parse(values.get(`${ROOT}kubecontrollersconfigurations/default`) ?? '').spec, { x: 1, y: 2 });
    assertSucceeded(await run(['delete', 'hostendpoint', 'a']));
    const { items } = JSON.parse((await run(['get', 'hostendpoints', '-o', 'json'])).stdout);
    assert.deepEqual(
      items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
      ['b'],
    );
    assert.equal(values.get('/calico/ipam/v2/handle/kept'), 'yes');
  });

  it('hangs where the store does not answer, after its own two lines', async () => {
    writeFileSync(file('away.cfg'), configOf('https://127.0.0.1:1'));
    const child = run(['version'], '', 'away.cfg');
    let ended = false;
    void child.then(() => {
      ended = true;
    });
    const line = await new Promise((resolve) => {
      child.stdout.once('data', (text: Buffer) => resolve(`${text}`));
      void child.then(({ stderr }) => resolve(stderr));
    });
    assert.match(`${line}`, /^Client Version:/);
    assert.ok(!ended);
    child.kill('SIGKILL');
    await child;
  });
});
