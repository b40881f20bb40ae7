import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { authorizerOf } from '../../../src/adapters/kube/auth.ts';
import type { Connection, ConnectionFlags } from '../../../src/adapters/kubeconfig/connection.ts';
import { privateKubeconfig, readConnection } from '../../../src/adapters/kubeconfig/kubeconfig.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { createAuthority } from '../../control-plane/certificates.ts';
import { testFolder } from '../../support/folders.ts';
import { describeWhere, lacksProgram } from '../../support/needs.ts';

const FIRST = `
apiVersion: v1
kind: Config
current-context: one
clusters:
- {name: shared, cluster: {server: "https://first.example:6443", certificate-authority: pki/ca.crt, tls-server-name: inner}}
- {name: plain, cluster: {server: "http://plain.example"}}
- {name: broken, cluster: {server: "https://broken.example", certificate-authority: pki/missing.crt}}
contexts:
- {name: one, context: {cluster: shared, user: filed, namespace: teams}}
- {name: two, context: {cluster: shared, user: plugged}}
- {name: lost, context: {cluster: nowhere, user: filed}}
- {name: broken, context: {cluster: broken, user: filed}}
users:
- {name: filed, user: {tokenFile: pki/token, as: joe, as-groups: [g1, g2], as-uid: "7", as-user-extra: {scopes: [a, b]}}}
- {name: plugged, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: bin/plugin, interactiveMode: Never}}}
- {name: onpath, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: plugin, interactiveMode: Never}}}
- {name: certified, user: {client-certificate: pki/client.crt, client-key: pki/client.key}}
`;

const SECOND = `
apiVersion: v1
kind: Config
current-context: other
clusters:
- {name: shared, cluster: {server: "https://second.example:6443"}}
- {name: own, cluster: {server: "https://own.example"}}
contexts:
- {name: other, context: {cluster: own, user: tokened}}
users:
- {name: tokened, user: {token: t0}}
- {name: late, user: {tokenFile: late-token}}
`;

describeWhere(lacksProgram('kubectl'), 'the connection that kubectl would use', function () {
  this.timeout(20_000);
  const folder = testFolder('kubeconfig-');
  let first = '';
  let second = '';
  let env: Record<string, string | undefined> = {};
  const authority = createAuthority('kubeconfig test');
  const client = authority.issue({ commonName: 'me' });

  before(async () => {
    first = join(folder, 'a', 'config');
    second = join(folder, 'b', 'config');
    await mkdir(join(folder, 'a', 'pki'), { recursive: true });
    await mkdir(join(folder, 'b'));
    await writeFile(first, FIRST);
    await writeFile(second, SECOND);
    await writeFile(join(folder, 'a', 'pki', 'ca.crt'), authority.certificate);
    await writeFile(join(folder, 'a', 'pki', 'token'), 'from-file\n');
    await writeFile(join(folder, 'a', 'pki', 'client.crt'), client.certificate);
    await writeFile(join(folder, 'a', 'pki', 'client.key'), client.key);
    await writeFile(join(folder, 'empty'), '');
    env = { PATH: process.env.PATH, HOME: folder };
  });
  after(() => rm(folder || join(tmpdir(), 'nothing-here'), { recursive: true, force: true }));

  const read = (flags: ConnectionFlags, kubeconfig: readonly string[]) =>
    readConnection(flags, { ...env, KUBECONFIG: kubeconfig.join(delimiter) });

  /** What kubectl itself makes of the private kubeconfig: it must be able to read it, and see the same. */
  async function seenByKubectl(connection: Connection) {
    const file = join(folder, 'private');
    await writeFile(file, privateKubeconfig(connection), { mode: 0o600 });
    return JSON.parse(
      execFileSync('kubectl', ['config', 'view', '--raw', '--minify', '-o', 'json', `--kubeconfig=${file}`], { encoding: 'utf8' }),
    );
  }

  const servers: readonly [string, ConnectionFlags, (files: { first: string; second: string }) => string[], string, string][] = [
    ['the first file decides the current context', {}, (f) => [f.first, f.second], 'one', 'https://first.example:6443'],
    ['and so in the other order', {}, (f) => [f.second, f.first], 'other', 'https://own.example'],
    [
      'of one cluster name in two files the first counts',
      { context: 'two' },
      (f) => [f.second, f.first],
      'two',
      'https://second.example:6443',
    ],
    [
      'missing and empty files do not matter',
      {},
      (f) => ['/nowhere/x', join(f.first, '..', '..', 'empty'), f.second],
      'other',
      'https://own.example',
    ],
    ['--context is another than the current one', { context: 'other' }, (f) => [f.first, f.second], 'other', 'https://own.example'],
    ['--cluster is outside of the context', { cluster: 'own' }, (f) => [f.first, f.second], 'one', 'https://own.example'],
    [
      '--cluster fixes a context whose cluster is missing',
      { context: 'lost', cluster: 'own' },
      (f) => [f.first, f.second],
      'lost',
      'https://own.example',
    ],
    ['--server replaces the server', { server: 'https://flag.example/' }, (f) => [f.first], 'one', 'https://flag.example'],
    ['--server without a scheme is https where TLS is configured', { server: 'flag:6443' }, (f) => [f.first], 'one', 'https://flag:6443'],
    ['--server alone needs no kubeconfig', { server: 'http://localhost:8001' }, () => ['/nowhere/x'], '', 'http://localhost:8001'],
  ];
  for (const [title, flags, files, contextName, server] of servers) {
    it(title, async () => {
      const connection = await read(flags, files({ first, second }));
      assert.deepEqual([connection.contextName, connection.server], [contextName, server]);
      assert.equal((await seenByKubectl(connection)).clusters[0].cluster.server, server);
    });
  }

  it('resolves relative paths from the file that an entry came from', async () => {
    const pki = join(folder, 'a', 'pki');
    const one = await read({}, [first, second]);
    assert.equal(one.user.tokenFile, join(pki, 'token'));
    assert.equal(Buffer.from(one.cluster['certificate-authority-data'] ?? '', 'base64').toString(), authority.certificate);
    assert.equal((await read({ user: 'late' }, [first, second])).user.tokenFile, join(folder, 'b', 'late-token'));
    assert.equal((await read({ context: 'two' }, [first, second])).user.exec?.command, join(folder, 'a', 'bin', 'plugin'));
    assert.equal((await read({ user: 'onpath' }, [first])).user.exec?.command, 'plugin');
  });

  it('reads tokens from tokenFile', async () => {
    const connection = await read({}, [first]);
    assert.deepEqual(await authorizerOf(connection, { terminal: false }).current(), { authorization: 'Bearer from-file' });
  });

  it('prefers the file to a token beside it as long as it can be read, as kubectl does', async () => {
    const connection = await read({}, [first]);
    const both = { ...connection, user: { ...connection.user, token: 'beside' } };
    assert.deepEqual(await authorizerOf(both, { terminal: false }).current(), { authorization: 'Bearer from-file' });
    const lost = { ...both, user: { ...both.user, tokenFile: '/nowhere/token' } };
    assert.deepEqual(await authorizerOf(lost, { terminal: false }).current(), { authorization: 'Bearer beside' });
  });

  it('keeps impersonation of the kubeconfig, flag by flag replaced, in the private kubeconfig too', async () => {
    const user = (await seenByKubectl(await read({ as: 'ann', 'as-group': ['g3'] }, [first]))).users[0].user;
    const { as, 'as-groups': groups, 'as-uid': uid, 'as-user-extra': extra } = user;
    assert.deepEqual([as, groups, uid, extra], ['ann', ['g3'], '7', { scopes: ['a', 'b'] }]);
  });

  it('leaves a token file before --token, as kubectl does, and lets certificate flags replace those of the entry', async () => {
    const tokened = await read({ token: 'flag' }, [first]);
    assert.deepEqual(await authorizerOf(tokened, { terminal: false }).current(), { authorization: 'Bearer from-file' });
    assert.equal((await read({ token: 'flag', user: 'tokened' }, [second])).user.token, 'flag');
    const certificate = join(folder, 'a', 'pki', 'client.crt');
    const key = join(folder, 'a', 'pki', 'client.key');
    const certified = await read({ user: 'tokened', 'client-certificate': certificate, 'client-key': key }, [second]);
    assert.deepEqual(await authorizerOf(certified, { terminal: false }).current(), {
      authorization: 'Bearer t0',
      certificate: client.certificate,
      key: client.key,
    });
  });

  it('lets --insecure-skip-tls-verify drop the authority, and --server the name of the certificate', async () => {
    const careless = await read({ 'insecure-skip-tls-verify': true }, [first]);
    assert.deepEqual([careless.cluster['certificate-authority-data'], careless.cluster['tls-server-name']], [undefined, 'inner']);
    assert.equal((await read({ server: 'https://x' }, [first])).cluster['tls-server-name'], undefined);
    assert.equal((await read({ server: 'https://x', 'tls-server-name': 'y' }, [first])).cluster['tls-server-name'], 'y');
  });

  it('knows the one file that leads there by itself, and none where flags or several files do', async () => {
    const own = async (flags: ConnectionFlags, files: readonly string[]) => (await read(flags, files)).ownFile;
    assert.equal(await own({}, [first]), first);
    assert.equal(await own({ context: 'one', 'request-timeout': '5s', as: 'joe' }, [first]), first);
    assert.equal(await own({ kubeconfig: second }, [first]), second);
    for (const flags of [
      { context: 'two' },
      { cluster: 'plain' },
      { as: 'ann' },
      { token: 't' },
      { 'as-group': ['g'] },
      { 'insecure-skip-tls-verify': true },
    ])
      assert.equal(await own(flags, [first]), undefined, JSON.stringify(flags));
    assert.equal(await own({}, [first, second]), undefined);
  });

  it('takes the namespace of the context, or default', async () => {
    const namespaces = await Promise.all([read({}, [first]), read({}, [second])]);
    assert.deepEqual(
      namespaces.map(({ namespace }) => namespace),
      ['teams', 'default'],
    );
  });

  const times: readonly [string, number | undefined][] = [
    ['0', undefined],
    ['30', 30_000],
    ['1m30s', 90_000],
    ['250ms', 250],
    ['0s', undefined],
  ];
  for (const [value, expected] of times) {
    it(`reads --request-timeout=${value}`, async () => {
      assert.equal((await read({ 'request-timeout': value }, [second])).requestTimeoutMs, expected);
    });
  }

  const refused: readonly [string, ConnectionFlags, RegExp][] = [
    ['an unknown context', { context: 'bad' }, /context "bad" does not exist in .*a\/config/],
    ['an unknown cluster', { cluster: 'bad' }, /cluster "bad" does not exist/],
    ['an unknown user', { user: 'bad' }, /user "bad" does not exist/],
    ['a context whose cluster is missing', { context: 'lost' }, /cluster "nowhere" does not exist/],
    ['a missing file of an authority', { context: 'broken' }, /certificate authority cannot be read: .*missing\.crt/],
    ['--kubeconfig that is no file', { kubeconfig: '/nowhere/x' }, /kubeconfig file \/nowhere\/x does not exist/],
    ['groups to impersonate without a user', { user: 'plugged', 'as-group': ['g'] }, /without a user/],
    ['a time that is none', { 'request-timeout': 'soon' }, /--request-timeout=soon is not a time/],
  ];
  for (const [title, flags, message] of refused) {
    it(`refuses ${title}`, async () => {
      await assert.rejects(read(flags, [first]), (thrown) => {
        assert.ok(thrown instanceof Fault);
        assert.equal(thrown.code, 'usage');
        assert.match(thrown.message, message);
        return thrown.suggestions.length > 0;
      });
    });
  }

  it('names the file that kubectl cannot read, and says when there is no context at all', async () => {
    const bad = join(folder, 'bad');
    await writeFile(bad, 'x: [');
    await assert.rejects(read({}, [bad]), (thrown) => thrown instanceof Fault && /cannot read .*bad.*yaml/.test(thrown.message));
    await assert.rejects(read({}, ['/nowhere/x']), /no current context in \/nowhere\/x/);
  });

  it('says that kubectl is missing', async () => {
    const both = { ...env, KUBECONFIG: [first, second].join(delimiter) };
    const asked = readConnection({}, both, { kubectl: join(folder, 'no-kubectl') });
    await assert.rejects(asked, (thrown) => thrown instanceof Fault && /kubectl cannot be started/.test(thrown.message));
  });

  it('says when the client certificate expired', async () => {
    const asked = readConnection({ user: 'certified' }, { ...env, KUBECONFIG: first }, { now: () => new Date('2100-01-01') });
    await assert.rejects(asked, (thrown) => thrown instanceof Fault && /user "certified" .* expired on 20\d\d-/.test(thrown.message));
  });

  it('lets a token in beside a client certificate that has expired', async () => {
    const connection = await readConnection(
      { user: 'certified', token: 'fresh' },
      { ...env, KUBECONFIG: first },
      { now: () => new Date('2100-01-01') },
    );
    assert.equal((await authorizerOf(connection, { terminal: false }).current()).authorization, 'Bearer fresh');
  });

  it('is that of the pod where there is no kubeconfig', async () => {
    const account = join(folder, 'account');
    await mkdir(account);
    await writeFile(join(account, 'token'), 'pod-token');
    await writeFile(join(account, 'ca.crt'), authority.certificate);
    await writeFile(join(account, 'namespace'), 'agents');
    const pod = { ...env, KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    const connection = await readConnection({}, pod, { serviceAccountFolder: account });
    assert.deepEqual([connection.source, connection.server, connection.namespace], ['in-cluster', 'https://[fd00::1]:443', 'agents']);
    assert.deepEqual(await authorizerOf(connection, { terminal: false }).current(), { authorization: 'Bearer pod-token' });
    const chosen = await readConnection({}, { ...pod, KUBECONFIG: second }, { serviceAccountFolder: account });
    assert.equal(chosen.server, 'https://own.example');
  });
});
