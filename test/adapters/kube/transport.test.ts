import assert from 'node:assert/strict';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Fault } from '../../../src/kernel/fault.ts';
import { interruptionOf } from '../../../src/kernel/interruption.ts';
import { K } from '../../../src/kernel/kinds.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import { createAuthority } from '../../control-plane/certificates.ts';
import { until } from '../../control-plane/until.ts';
import { testFolder } from '../../support/folders.ts';
import { clusterTo, type Loopback, sendJson, sendStatus, serve } from '../../support/loopback-server.ts';
import { patient } from '../../support/patience.ts';
import { drippingProxy, serveSocks } from '../../support/socks-server.ts';

const VERSION = { gitVersion: 'v1.36.1', major: '1', minor: '36' };

describe('kube transport', () => {
  const open: Loopback[] = [];
  const on = async (...args: Parameters<typeof serve>) => {
    const server = await serve(...args);
    open.push(server);
    return server;
  };
  afterEach(async () => {
    await Promise.all(open.splice(0).map((server) => server.close()));
  });

  it('says who it is and asks loopback for no compression', async () => {
    const server = await on((_, response) => sendJson(response, VERSION));
    const { cluster } = clusterTo(server.url);
    assert.deepEqual(await cluster.version(), VERSION);
    assert.equal(server.seen[0]?.headers['user-agent'], 'kubectl-netsvc_upgrade/1.2.3');
    assert.equal(server.seen[0]?.headers['accept-encoding'], undefined);
  });

  it('fails where a proxy answers in another protocol, and does not wait for ever', async () => {
    const server = await on((_, response) => {
      response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    });
    await assert.rejects(clusterTo(server.url).cluster.version(), /ended without an answer/);
  });

  it('reads a compressed answer all the same', async () => {
    const server = await on((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(gzipSync(JSON.stringify(VERSION)));
    });
    assert.deepEqual(await clusterTo(server.url).cluster.version(), VERSION);
  });

  it('does not unpack more of an answer than any may have, and keeps its memory', async () => {
    // 320 KB that become 320 MiB.
    const piece = gzipSync(Buffer.alloc(16 * 1024 * 1024, 0x20));
    const server = await on((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      for (let index = 0; index < 20; index += 1) response.write(piece);
      response.end(gzipSync('{}'));
    });
    const { cluster } = clusterTo(server.url);
    await assert.rejects(cluster.version(), /the answer has more than 268435456 bytes/);
    await assert.rejects(cluster.list(K.Node), /the list of nodes is too large to be read/);
    assert.equal(server.seen.length, 2);
  });

  it('ends a question whose answer drips in without an end', async () => {
    const server = await on((_, response) => {
      response.writeHead(200);
      const more = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(more));
    });
    const { cluster } = clusterTo(server.url, {}, { answerMs: 500 });
    const started = performance.now();
    await assert.rejects(cluster.version(), /no whole answer within 0\.5 s/);
    await assert.rejects(cluster.list(K.Node), /no whole answer within 0\.5 s/);
    assert.ok(performance.now() - started < patient(4_000));
  });

  it('reads of a log no more and no longer than it asks for: a kubelet sends what it likes', async function () {
    this.timeout(20_000);
    const log = '/api/v1/namespaces/n/pods/p/log?tailLines=1&limitBytes=16384';
    const long = await on((_, response) => {
      response.end('\n'.repeat(40_000));
    });
    await assert.rejects(clusterTo(long.url).cluster.raw(log), /the answer has more than 32768 bytes/);
    const slow = await on((_, response) => {
      response.writeHead(200);
      const more = setInterval(() => response.write('\n'), 20);
      response.on('close', () => clearInterval(more));
    });
    await assert.rejects(clusterTo(slow.url).cluster.raw(log), /no whole answer within 5 s/);
  });

  it('ends a question to a proxy that never comes to the end of its answer', async () => {
    const proxy = await drippingProxy();
    try {
      const started = performance.now();
      const cluster = { 'proxy-url': proxy.url };
      await assert.rejects(
        clusterTo('https://api.invalid:6443', { cluster }, { answerMs: 500 }).cluster.version(),
        /no whole answer within 0\.5 s/,
      );
      await assert.rejects(
        clusterTo('https://api.invalid:6443', { cluster, requestTimeoutMs: 300 }).cluster.version(),
        /no answer within 300 ms \(--request-timeout\)/,
      );
      assert.ok(performance.now() - started < patient(10_000));
    } finally {
      proxy.close();
    }
  });

  it('sends fifty requests at once over at most eight connections', async () => {
    const server = await on((_, response) => sendJson(response, VERSION));
    const { cluster } = clusterTo(server.url);
    await Promise.all(Array.from({ length: 50 }, () => cluster.version()));
    await cluster.version();
    assert.equal(server.seen.length, 51);
    assert.ok(server.connections() <= 8, `${server.connections()} connections`);
  });

  it('repeats impersonation headers per group and per extra value', async () => {
    const server = await on((_, response) => sendJson(response, VERSION));
    const user = { as: 'zoë', 'as-uid': '7', 'as-groups': ['g,1', 'g2'], 'as-user-extra': { 'a/b': ['x', 'y'] } };
    await clusterTo(server.url, { user }).cluster.version();
    const raw = server.seen[0]?.rawHeaders ?? [];
    const lines = raw.flatMap((name, index) => (index % 2 === 0 && name.startsWith('Impersonate') ? [`${name}: ${raw[index + 1]}`] : []));
    assert.deepEqual(lines, [
      `Impersonate-User: ${Buffer.from('zoë').toString('latin1')}`,
      'Impersonate-Uid: 7',
      'Impersonate-Group: g,1',
      'Impersonate-Group: g2',
      'Impersonate-Extra-a%2Fb: x',
      'Impersonate-Extra-a%2Fb: y',
    ]);
  });

  it('never sends a token over plain http', async () => {
    const server = await on((_, response) => sendJson(response, VERSION));
    await clusterTo(server.url, { user: { token: 'secret' } }).cluster.version();
    assert.equal(server.seen[0]?.headers.authorization, undefined);
  });

  const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n' } };
  const warning = { Warning: ['299 - "old \\"api\\""', '299 - "two, with comma"'] };

  it('tells each warning of the server about a write once', async () => {
    const warned: string[] = [];
    const server = await on((_, response) => sendJson(response, configMap, 200, warning));
    const { cluster } = clusterTo(server.url, {}, { warn: (text) => warned.push(text) });
    await cluster.create(K.ConfigMap, configMap);
    await cluster.create(K.ConfigMap, configMap);
    assert.deepEqual(warned, ['old "api"', 'two, with comma']);
  });

  it('keeps warnings about its own reads and dry runs to itself', async () => {
    const warned: string[] = [];
    const server = await on((_, response) => sendJson(response, VERSION, 200, warning));
    const { cluster } = clusterTo(server.url, {}, { warn: (text) => warned.push(text) });
    await cluster.version();
    await cluster.dryRunApply(K.ConfigMap, configMap, 'kubectl');
    assert.deepEqual([warned, server.seen.map(({ method }) => method)], [[], ['GET', 'PATCH']]);
  });

  it('waits as long as 429 asks for, even with a write', async () => {
    let asked = 0;
    const server = await on((_, response) => {
      asked += 1;
      if (asked === 1) sendJson(response, {}, 429, { 'Retry-After': '3' });
      else sendJson(response, { metadata: { name: 'a' } });
    });
    const { cluster, pauses } = clusterTo(server.url);
    await cluster.create(K.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n' } });
    assert.deepEqual([asked, pauses], [2, [3000]]);
  });

  it('sends fewer requests at a time to a server that takes few of them, and all of them', async () => {
    const FEW = 3;
    let [atOnce, refused] = [0, 0];
    const server = await on(async (_, response) => {
      if (atOnce >= FEW) {
        refused += 1;
        return sendJson(response, {}, 429, { 'Retry-After': '1' });
      }
      atOnce += 1;
      await new Promise((resolve) => setTimeout(resolve, 2));
      atOnce -= 1;
      sendJson(response, configMap);
    });
    const warned: string[] = [];
    const { cluster } = clusterTo(server.url, {}, { warn: (text) => warned.push(text) });
    const names = Array.from({ length: 200 }, (_, number) => `a${number}`);
    const read = await Promise.all(names.map((name) => cluster.get(K.ConfigMap, name, 'n')));
    assert.equal(read.length, names.length);
    assert.deepEqual(warned, ['the API server has too much to do (429): fewer requests are sent at a time, and this takes longer']);
    // All but three of the first, which go out together, and of half as many each time after it.
    assert.ok(refused < 2 * names.length + 50, `${refused} refused`);
  });

  it('counts refusals (429) apart from what goes wrong, and by time', async () => {
    const server = await on((_, response) => {
      if (server.seen.length <= 30) return sendJson(response, {}, 429, { 'Retry-After': '2' });
      if (server.seen.length === 31) return sendStatus(response, 503, 'ServiceUnavailable', 'later');
      sendJson(response, VERSION);
    });
    const { cluster, pauses } = clusterTo(server.url);
    assert.deepEqual(await cluster.version(), VERSION);
    assert.deepEqual(pauses, [...Array.from({ length: 30 }, () => 2_000), 200]);
    const always = await on((_, response) => sendJson(response, {}, 429, { 'Retry-After': '30' }));
    await assert.rejects(clusterTo(always.url).cluster.version(), { status: 429 });
    assert.equal(always.seen.length, 5);
  });

  it('ends the pause of a refused write at Ctrl-C, sends it once more, and gives up soon', async () => {
    const soft = new AbortController();
    const server = await on((_, response) => {
      if (server.seen.length === 3) soft.abort();
      sendJson(response, {}, 429, { 'Retry-After': '2' });
    });
    const never = new AbortController().signal;
    const { cluster } = clusterTo(server.url, {}, { interruption: interruptionOf(soft.signal, never) });
    await assert.rejects(cluster.create(K.ConfigMap, configMap), { status: 429 });
    assert.ok(server.seen.length <= 5, `${server.seen.length} requests`);
  });

  it('lets nothing wait before what the lock is renewed by', async () => {
    const busy = Promise.withResolvers<void>();
    let reads = 0;
    const server = await on(async ({ url }, response) => {
      if (url.includes('/configmaps/')) reads += 1;
      if (url.includes('/configmaps/') && reads <= 2) return sendJson(response, {}, 429, { 'Retry-After': '1' });
      if (url.includes('/configmaps/') && reads === 3) await busy.promise;
      sendJson(response, configMap);
    });
    const { cluster } = clusterTo(server.url);
    const two = ['a', 'b'].map((name) => cluster.get(K.ConfigMap, name, 'n'));
    await until('one is under way', async () => reads === 3);
    await Promise.all([cluster.version(), cluster.get(K.Lease, 'l', 'n'), cluster.replace(K.Lease, { ...configMap, kind: 'Lease' })]);
    busy.resolve();
    await Promise.all(two);
  });

  it('forgets what waits for its turn once its caller does', async () => {
    const busy = Promise.withResolvers<void>();
    const server = await on(async (_, response) => {
      if (server.seen.length <= 2) return sendJson(response, {}, 429, { 'Retry-After': '1' });
      if (server.seen.length === 3) await busy.promise;
      sendJson(response, { ...VERSION, items: [] });
    });
    const { cluster } = clusterTo(server.url);
    const two = ['a', 'b'].map((name) => cluster.get(K.ConfigMap, name, 'n'));
    await until('one is under way', async () => server.seen.length === 3);
    const cut = new AbortController();
    const waiting = assert.rejects(cluster.list(K.Node, { signal: cut.signal }), /given up/);
    cut.abort(new Error('given up'));
    await waiting;
    busy.resolve();
    await Promise.all(two);
    await cluster.list(K.Node);
    assert.deepEqual(
      server.seen.map(({ url }) => url.split('?')[0]).filter((url) => url?.includes('nodes')),
      ['/api/v1/nodes'],
    );
  });

  it('sends no write again, and none at first, once the lock is not held, and reads on', async () => {
    const server = await on(({ method }, response) => {
      if (method === 'GET') sendJson(response, VERSION);
      else sendJson(response, {}, 429, { 'Retry-After': '30' });
    });
    let held = 1;
    const { cluster } = clusterTo(server.url);
    cluster.writeWhile(() => {
      if (held-- <= 0) throw new Fault('locked', 'the lock was lost', []);
    });
    const isLocked = (thrown: unknown) => thrown instanceof Fault && thrown.code === 'locked';
    const path = [{ op: 'add', path: '/metadata/labels', value: {} }] as const;
    await assert.rejects(
      cluster.patch(K.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'n', uid: 'u' }, path, 'kubectl'),
      isLocked,
    );
    await assert.rejects(cluster.create(K.ConfigMap, configMap), isLocked);
    assert.deepEqual(
      server.seen.map(({ method }) => method),
      ['PATCH'],
    );
    await cluster.version();
    cluster.writeWhile(undefined);
    await assert.rejects(cluster.create(K.ConfigMap, configMap), (thrown) => thrown instanceof ApiFailure && thrown.status === 429);
  });

  const repeated: readonly [string, 'GET' | 'POST', number, number][] = [
    ['a read after 503', 'GET', 503, 5],
    ['a read after 500', 'GET', 500, 5],
    ['not a read after 403', 'GET', 403, 1],
    ['not a write after 503', 'POST', 503, 1],
  ];
  for (const [title, method, status, times] of repeated) {
    it(`repeats ${title}`, async () => {
      const server = await on((_, response) => sendStatus(response, status, 'Because', 'it is so'));
      const { cluster } = clusterTo(server.url);
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n' } };
      const asked = method === 'GET' ? cluster.get(K.ConfigMap, 'a', 'n') : cluster.create(K.ConfigMap, object);
      await assert.rejects(asked, (thrown) => thrown instanceof ApiFailure && thrown.status === status && thrown.reason === 'Because');
      assert.equal(server.seen.length, times);
    });
  }

  it('repeats a read whose connection broke, and not a write', async () => {
    let asked = 0;
    const server = await on((seen, response) => {
      asked += 1;
      if (asked === 1 || seen.method === 'POST') response.destroy();
      else sendJson(response, VERSION);
    });
    const { cluster } = clusterTo(server.url);
    assert.deepEqual(await cluster.version(), VERSION);
    const write = cluster.create(K.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n' } });
    await assert.rejects(write, (thrown) => thrown instanceof ApiFailure && thrown.status === 0 && thrown.reason === 'ECONNRESET');
    assert.equal(asked, 3);
  });

  it('keeps the causes of a refusal, and quotes a body that is no Status', async () => {
    const server = await on(({ url }, response) => {
      const causes = [{ field: 'spec.x', message: 'no', reason: 'FieldValueInvalid' }];
      if (url.includes('one')) sendStatus(response, 422, 'Invalid', 'x is invalid', { details: { causes } });
      else response.writeHead(401).end('<html>\n  login   please</html>');
    });
    const { cluster } = clusterTo(server.url);
    await assert.rejects(cluster.get(K.Node, 'one'), (thrown) => thrown instanceof ApiFailure && thrown.causes[0]?.field === 'spec.x');
    await assert.rejects(cluster.get(K.Node, 'two'), { status: 401, message: 'the server answered 401: <html> login please</html>' });
  });

  it('ends a request that is aborted, with the reason of the abort', async () => {
    const stop = new AbortController();
    const why = new Error('enough');
    const server = await on(() => stop.abort(why));
    await assert.rejects(clusterTo(server.url).cluster.list(K.Node, { signal: stop.signal }), why);
  });

  it('gives what is under way up at Ctrl-C, and what comes after it once its time is over', async () => {
    const [hard, late] = [new AbortController(), new AbortController()];
    const interruption = { soft: hard.signal, hard: hard.signal, late: late.signal };
    let heard = () => {};
    const server = await on(() => heard());
    const { cluster } = clusterTo(server.url, {}, { interruption });
    const asked = () => new Promise<void>((resolve) => (heard = resolve));
    for (const stop of [hard, late]) {
      const arrived = asked();
      const answer = assert.rejects(cluster.version(), { code: 'interrupted', message: /^stopped at once/ });
      await arrived;
      stop.abort();
      await answer;
    }
    await assert.rejects(cluster.version(), { code: 'interrupted' });
    assert.equal(server.seen.length, 2);
  });

  it('does not sleep on before a retry at Ctrl-C', async () => {
    const hard = new AbortController();
    const server = await on((_, response) => {
      sendStatus(response, 503, 'ServiceUnavailable', 'later');
      setImmediate(() => hard.abort());
    });
    const { cluster } = clusterTo(
      server.url,
      {},
      { interruption: { soft: hard.signal, hard: hard.signal, late: new AbortController().signal } },
    );
    await assert.rejects(cluster.version(), { code: 'interrupted' });
  });

  it('gives up after --request-timeout', async () => {
    const server = await on(() => undefined);
    const { cluster } = clusterTo(server.url, { requestTimeoutMs: 20 });
    await assert.rejects(cluster.version(), { status: 0, reason: 'ETIMEDOUT' });
  });

  it('knows the difference between the clocks from the Date header', async () => {
    const server = await on((_, response) => sendJson(response, VERSION, 200, { Date: new Date(Date.now() + 3_600_000).toUTCString() }));
    const skew = await clusterTo(server.url).cluster.clockSkewMs();
    assert.ok(Math.abs(skew - 3_600_000) < 5000, String(skew));
  });

  it('explains a server that cannot be reached, naming context and file', async () => {
    const server = await on(() => undefined);
    await server.close();
    await assert.rejects(clusterTo(server.url).cluster.clusterUid(), (thrown) => {
      assert.ok(thrown instanceof Fault);
      assert.match(thrown.message, /cannot be reached: connect ECONNREFUSED \S+ \(context "test" of test\.kubeconfig\)/);
      return true;
    });
  });

  describe('over TLS', () => {
    const authority = createAuthority('test authority');
    const identity = authority.issue({ commonName: 'server', hosts: ['127.0.0.1'] });
    const trusted = { 'certificate-authority-data': Buffer.from(authority.certificate).toString('base64') };
    const folder = testFolder('kube-transport-');

    it('shows its client certificate and its token', async () => {
      const client = authority.issue({ commonName: 'me' });
      const server = await on((_, response) => sendJson(response, VERSION), { ...identity, clientAuthority: authority.certificate });
      const user = {
        token: 'abc',
        'client-certificate-data': Buffer.from(client.certificate).toString('base64'),
        'client-key-data': Buffer.from(client.key).toString('base64'),
      };
      await clusterTo(server.url, { cluster: trusted, user }).cluster.version();
      assert.equal(server.seen[0]?.headers.authorization, 'Bearer abc');
    });

    it('refuses an authority that it does not know, unless told to skip the check', async () => {
      const server = await on((_, response) => sendJson(response, VERSION), identity);
      const other = { 'certificate-authority-data': Buffer.from(createAuthority('other').certificate).toString('base64') };
      await assert.rejects(clusterTo(server.url, { cluster: other }).cluster.clusterUid(), /unknown authority \(x509/);
      const careless = clusterTo(server.url, { cluster: { 'insecure-skip-tls-verify': true } });
      assert.deepEqual(await careless.cluster.version(), VERSION);
    });

    it('keeps its connections, and reads the certificates once for all of them', async () => {
      const server = await on((_, response) => sendJson(response, VERSION), identity);
      const { cluster } = clusterTo(server.url, { cluster: trusted });
      const tls = process.getBuiltinModule('node:tls');
      const { createSecureContext } = tls;
      let contexts = 0;
      tls.createSecureContext = (options) => {
        contexts += 1;
        return createSecureContext(options);
      };
      try {
        await Promise.all(Array.from({ length: 30 }, () => cluster.version()));
      } finally {
        tls.createSecureContext = createSecureContext;
      }
      assert.ok(server.connections() > 1 && server.connections() <= 8, `${server.connections()} connections`);
      assert.equal(contexts, 1);
    });

    it('lets the connection say what is wrong with a certificate that cannot be read', async () => {
      const server = await on((_, response) => sendJson(response, VERSION), identity);
      const user = {
        'client-certificate-data': Buffer.from('none').toString('base64'),
        'client-key-data': Buffer.from('none').toString('base64'),
      };
      await assert.rejects(clusterTo(server.url, { cluster: trusted, user }).cluster.version(), ApiFailure);
    });

    it('checks the name given with --tls-server-name', async () => {
      const named = authority.issue({ commonName: 'server', hosts: ['api.example'] });
      const server = await on((_, response) => sendJson(response, VERSION), named);
      await assert.rejects(clusterTo(server.url, { cluster: trusted }).cluster.clusterUid(), /for another name/);
      const told = clusterTo(server.url, { cluster: { ...trusted, 'tls-server-name': 'api.example' } });
      assert.deepEqual(await told.cluster.version(), VERSION);
    });

    it('runs a credential plugin once for many requests, tells it the cluster, and again after a 401', async () => {
      const plugin = join(folder, 'plugin');
      const log = join(folder, 'log');
      await writeFile(
        plugin,
        `#!/bin/sh
echo "$KUBERNETES_EXEC_INFO" >> "$LOG"
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t'$(wc -l < "$LOG")'"}}'
`,
      );
      await chmod(plugin, 0o700);
      let good = 'Bearer t1';
      const server = await on(({ headers }, response) => {
        if (headers.authorization === good) sendJson(response, VERSION);
        else sendStatus(response, 401, 'Unauthorized', 'Unauthorized');
      }, identity);
      const exec = {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: plugin,
        env: [{ name: 'LOG', value: log }],
        interactiveMode: 'IfAvailable',
        provideClusterInfo: true,
      };
      const { cluster } = clusterTo(server.url, {
        user: { exec },
        cluster: { ...trusted, extensions: [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'x' } }] },
      });
      await Promise.all([cluster.version(), cluster.version(), cluster.version()]);
      await cluster.version();
      const runs = (await readFile(log, 'utf8')).trim().split('\n');
      assert.equal(runs.length, 1);
      const { extensions: _none, ...sent } = { server: server.url, ...trusted, extensions: [] };
      assert.deepEqual(JSON.parse(runs[0] ?? ''), {
        apiVersion: 'client.authentication.k8s.io/v1',
        kind: 'ExecCredential',
        spec: { cluster: { ...sent, config: { audience: 'x' } }, interactive: false },
      });
      good = 'Bearer t2';
      await Promise.all([cluster.version(), cluster.version(), cluster.version()]);
      assert.equal((await readFile(log, 'utf8')).trim().split('\n').length, 2);
      good = 'none';
      await assert.rejects(cluster.clusterUid(), /does not accept the credentials of user "tester"/);
    });

    const badPlugins: readonly [string, string | undefined, RegExp][] = [
      ['that is missing', undefined, /cannot be started \(ENOENT\)/],
      ['that fails', '#!/bin/sh\nexit 3\n', /failed/],
      ['that prints no JSON', '#!/bin/sh\necho hello\n', /printed no JSON/],
      ['that speaks another version', `#!/bin/sh\necho '{"apiVersion":"v9"}'\n`, /speaks v9/],
    ];
    for (const [title, script, message] of badPlugins) {
      it(`names a credential plugin ${title}`, async () => {
        const plugin = join(folder, title.replaceAll(' ', '-'));
        if (script) await writeFile(plugin, script, { mode: 0o700 });
        const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: plugin, interactiveMode: 'Never' };
        const { cluster } = clusterTo('https://127.0.0.1:9', { user: { exec }, cluster: trusted });
        await assert.rejects(cluster.version(), (thrown) => thrown instanceof Fault && message.test(thrown.message));
      });
    }

    it('takes the token of an auth-provider, and refuses one that is not known', async () => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const token = `${part({ alg: 'none' })}.${part({ exp: 4_000_000_000 })}.x`;
      const server = await on((_, response) => sendJson(response, VERSION), identity);
      const providerOf = (name: string) => ({
        'auth-provider': { name, config: { 'id-token': token, 'client-id': 'c', 'idp-issuer-url': 'https://idp' } },
      });
      await clusterTo(server.url, { cluster: trusted, user: providerOf('oidc') }).cluster.version();
      assert.equal(server.seen[0]?.headers.authorization, `Bearer ${token}`);
      const unknown = clusterTo(server.url, { cluster: trusted, user: providerOf('nonsense') });
      await assert.rejects(
        unknown.cluster.version(),
        (thrown) => thrown instanceof Fault && /auth-provider "nonsense" gave no credential/.test(thrown.message),
      );
    });

    it('lets a SOCKS proxy find the address of a name that is not known here, as kubectl does', async () => {
      const far = await on((_, response) => sendJson(response, VERSION), authority.issue({ commonName: 'x', hosts: ['api.far.invalid'] }));
      const socks = await serveSocks(Number(new URL(far.url).port));
      try {
        const { cluster } = clusterTo('https://api.far.invalid:6443', { cluster: { ...trusted, 'proxy-url': socks.url } });
        assert.deepEqual(await cluster.version(), VERSION);
        assert.deepEqual(socks.asked, ['api.far.invalid']);
        await cluster.close();
      } finally {
        await socks.close();
      }
    });

    it('tunnels through the proxy of the kubeconfig and keeps the tunnel', async () => {
      const { connect } = await import('node:net');
      const { createServer } = await import('node:http');
      const target = await on((_, response) => sendJson(response, VERSION), identity);
      let tunnels = 0;
      const proxy = createServer().on('connect', (request, socket) => {
        tunnels += 1;
        const [host, port] = (request.url ?? '').split(':');
        const upstream = connect(Number(port), host, () => {
          socket.write('HTTP/1.1 200 OK\r\n\r\n');
          upstream.pipe(socket).pipe(upstream);
        });
        upstream.on('error', () => socket.destroy());
        socket.on('error', () => upstream.destroy());
      });
      await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
      try {
        const { port } = proxy.address() as { port: number };
        const { cluster } = clusterTo(target.url, { cluster: { ...trusted, 'proxy-url': `http://127.0.0.1:${port}` } });
        await cluster.version();
        // The connection goes back to the pool on the next turn.
        await new Promise((resolve) => setImmediate(resolve));
        await cluster.version();
        assert.equal(tunnels, 1);
        await cluster.close();
        const wrong = await on((_, response) => sendJson(response, VERSION), authority.issue({ commonName: 'x', hosts: ['localhost'] }));
        const misled = clusterTo(wrong.url, { cluster: { ...trusted, 'proxy-url': `http://127.0.0.1:${port}` } });
        await assert.rejects(misled.cluster.clusterUid(), /for another name/);
      } finally {
        proxy.closeAllConnections();
        proxy.close();
      }
    });
  });
});
