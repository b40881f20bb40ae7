import assert from 'node:assert/strict';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { delimiter, join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { execa } from 'execa';
import { resolvePrograms } from '../control-plane/binaries.ts';
import { createAuthority } from '../control-plane/certificates.ts';
import { testFolder } from '../support/folders.ts';
import { type Loopback, sendStatus, serve } from '../support/loopback-server.ts';
import { type Surroundings, surroundingsEnv, upgrade } from '../support/upgrade-process.ts';

/** What a server learns of who asks, and how. */
interface Asked {
  readonly server: string;
  readonly throughProxy: boolean;
  /** Server name of the TLS greeting. */
  readonly calledAs: string;
  /** Common name of the client's certificate. */
  readonly certificate: string;
  readonly authorization: string;
  readonly impersonation: Readonly<Record<string, string>>;
}

const PLUGIN = `#!/bin/sh
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"plugged-'"$1-$FROM_ENV"'"}}'
`;

/** One request of kubectl and all of ours, with the same kubeconfigs, flags and environment: each server must learn the same from both. */
describe('whom kubectl asks, and as whom', function () {
  this.timeout(60_000);
  const authority = createAuthority('agree');
  const identity = authority.issue({ commonName: 'server', hosts: ['127.0.0.1', 'localhost', 'inner.example', 'api.example'] });
  const client = authority.issue({ commonName: 'ann', organization: 'team' });
  const asked: Asked[] = [];
  const servers: Record<'one' | 'two', Loopback | undefined> = { one: undefined, two: undefined };
  const tunnels = new Set<number>();
  const folder = testFolder('kubectl-agrees-');
  let around: Surroundings;
  let proxy: ReturnType<typeof createServer>;

  const answering = (server: string) => (request: { readonly headers: NodeJS.Dict<string | string[]> }, socket: TLSSocket) => {
    const { headers } = request;
    asked.push({
      server,
      throughProxy: tunnels.has(socket.remotePort ?? 0),
      calledAs: String((socket as { servername?: string | false }).servername || ''),
      certificate: String(socket.getPeerCertificate().subject?.CN ?? ''),
      authorization: String(headers.authorization ?? ''),
      impersonation: Object.fromEntries(
        Object.entries(headers).flatMap(([name, value]) => (name.startsWith('impersonate-') ? [[name, String(value)]] : [])),
      ),
    });
  };

  before(async () => {
    for (const name of ['one', 'two'] as const) {
      const note = answering(name);
      servers[name] = await serve(
        (request, response) => {
          note(request, response.socket as TLSSocket);
          sendStatus(response, 404, 'NotFound', 'there is nothing');
        },
        { ...identity, clientAuthority: authority.certificate, letsAnybodyIn: true },
      );
    }
    // Whatever it is asked for, it leads to the first server.
    proxy = createServer().on('connect', (_request, socket) => {
      const onward = connect(Number(new URL(servers.one?.url ?? '').port), '127.0.0.1', () => {
        tunnels.add(onward.localPort ?? 0);
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.pipe(onward).pipe(socket);
      });
      for (const end of [onward, socket]) end.on('error', () => end.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    await writeFiles();
    const { kubectl } = await resolvePrograms();
    around = { home: folder, kubeconfig: '', kubectl };
  });
  after(async () => {
    for (const server of Object.values(servers)) await server?.close();
    proxy?.close();
  });

  const proxyUrl = () => `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;

  async function writeFiles(): Promise<void> {
    await mkdir(join(folder, 'a', 'bin'), { recursive: true });
    await mkdir(join(folder, 'b'));
    const files = { 'a/ca.crt': authority.certificate, 'a/ann.crt': client.certificate, 'a/ann.key': client.key, 'b/token': 'of-b\n' };
    for (const [name, content] of Object.entries({ ...files, 'a/token': 'of-a\n' })) await writeFile(join(folder, name), content);
    await writeFile(join(folder, 'a', 'bin', 'plugin'), PLUGIN);
    await chmod(join(folder, 'a', 'bin', 'plugin'), 0o755);
    const inline = Buffer.from(authority.certificate).toString('base64');
    const exec = (command: string, args: string) =>
      `exec: {apiVersion: client.authentication.k8s.io/v1, command: ${command}, args: [${args}], interactiveMode: Never, env: [{name: FROM_ENV, value: yes1}]}`;
    await writeFile(
      join(folder, 'a', 'config'),
      `apiVersion: v1
kind: Config
current-context: filed
clusters:
- {name: shared, cluster: {server: "${servers.one?.url}", certificate-authority: ca.crt}}
- {name: inner, cluster: {server: "${servers.one?.url}", certificate-authority: ca.crt, tls-server-name: inner.example}}
- {name: proxied, cluster: {server: "https://api.example:6443", certificate-authority-data: ${inline}, proxy-url: "${proxyUrl()}"}}
- {name: named, cluster: {server: "https://api.example:6443", certificate-authority-data: ${inline}}}
- {name: untrusted, cluster: {server: "${servers.two?.url}", insecure-skip-tls-verify: true}}
- {name: bare, cluster: {server: "${servers.two?.url}"}}
contexts:
- {name: filed, context: {cluster: shared, user: filed, namespace: teams}}
- {name: inner, context: {cluster: inner, user: certified}}
- {name: plugged, context: {cluster: shared, user: plugged}}
- {name: onpath, context: {cluster: shared, user: onpath}}
- {name: basic, context: {cluster: shared, user: basic}}
- {name: proxied, context: {cluster: proxied, user: filed}}
- {name: named, context: {cluster: named, user: filed}}
- {name: untrusted, context: {cluster: untrusted, user: filed}}
- {name: bare, context: {cluster: bare, user: filed}}
- {name: acting, context: {cluster: shared, user: acting}}
users:
- {name: filed, user: {tokenFile: token}}
- {name: certified, user: {client-certificate: ann.crt, client-key: ann.key}}
- {name: plugged, user: {${exec('bin/plugin', 'relative')}}}
- {name: onpath, user: {${exec('plugin', 'path')}}}
- {name: basic, user: {username: ann, password: "s e"}}
- {name: acting, user: {token: own, as: joe, as-uid: "7", as-groups: [g1, g2], as-user-extra: {scopes: [a, b], "odd/key": [c]}}}
`,
    );
    await writeFile(
      join(folder, 'b', 'config'),
      `apiVersion: v1
kind: Config
current-context: other
clusters:
- {name: shared, cluster: {server: "${servers.two?.url}", insecure-skip-tls-verify: true}}
- {name: own, cluster: {server: "${servers.two?.url}", certificate-authority-data: ${inline}}}
contexts:
- {name: other, context: {cluster: own, user: late}}
users:
- {name: late, user: {tokenFile: token}}
- {name: filed, user: {token: never}}
`,
    );
  }

  interface Row {
    readonly files?: readonly ('a' | 'b')[];
    readonly flags?: () => readonly string[];
    readonly env?: () => Readonly<Record<string, string>>;
    /** What both must come to, in part: a row that meets nothing proves nothing. */
    readonly is: Partial<Asked>;
  }

  const context = (name: string) => () => ['--context', name];
  const rows: Readonly<Record<string, Row>> = {
    'a token file beside the kubeconfig': { is: { server: 'one', authorization: 'Bearer of-a' } },
    'two files, the first of which says where': { files: ['a', 'b'], is: { server: 'one', authorization: 'Bearer of-a' } },
    'the same the other way round': { files: ['b', 'a'], is: { server: 'two', authorization: 'Bearer of-b' } },
    'a context of the first file, whose names the other one has as well': {
      ...{ files: ['b', 'a'], flags: context('filed') },
      is: { server: 'two', authorization: 'Bearer never' },
    },
    'another context': { flags: context('basic'), is: { authorization: `Basic ${Buffer.from('ann:s e').toString('base64')}` } },
    '--cluster and --user': {
      ...{ files: ['a', 'b'], flags: () => ['--cluster', 'own', '--user', 'late'] },
      is: { server: 'two', authorization: 'Bearer of-b' },
    },
    '--kubeconfig before KUBECONFIG': { files: ['a'], flags: () => ['--kubeconfig', join(folder, 'b', 'config')], is: { server: 'two' } },
    'certificate and key beside the kubeconfig, and a server name': {
      ...{ flags: context('inner') },
      is: { certificate: 'ann', calledAs: 'inner.example', authorization: '' },
    },
    '--client-certificate and --client-key': {
      flags: () => ['--client-certificate', join(folder, 'a', 'ann.crt'), '--client-key', join(folder, 'a', 'ann.key')],
      is: { certificate: 'ann' },
    },
    'a plugin by a relative path, with its arguments and environment': {
      ...{ flags: context('plugged') },
      is: { authorization: 'Bearer plugged-relative-yes1' },
    },
    'a plugin on PATH': {
      flags: context('onpath'),
      env: () => ({ PATH: [join(folder, 'a', 'bin'), surroundingsEnv(around).PATH].join(delimiter) }),
      is: { authorization: 'Bearer plugged-path-yes1' },
    },
    '--token and a file, which kubectl prefers': { flags: () => ['--token', 'flag'], is: { authorization: 'Bearer of-a' } },
    '--token instead of that of the entry': {
      flags: () => ['--context', 'acting', '--token', 'flag'],
      is: { authorization: 'Bearer flag' },
    },
    'a user of the kubeconfig who acts as another': {
      flags: context('acting'),
      is: {
        authorization: 'Bearer own',
        impersonation: {
          'impersonate-user': 'joe',
          'impersonate-uid': '7',
          'impersonate-group': 'g1, g2',
          'impersonate-extra-scopes': 'a, b',
          'impersonate-extra-odd%2fkey': 'c',
        },
      },
    },
    '--as, --as-group and --as-uid': {
      flags: () => ['--as', 'eve', '--as-group', 'g8', '--as-group', 'g9', '--as-uid', '42'],
      is: { impersonation: { 'impersonate-user': 'eve', 'impersonate-uid': '42', 'impersonate-group': 'g8, g9' } },
    },
    '--as over one who acts as another already': {
      flags: () => ['--context', 'acting', '--as', 'eve'],
      is: { authorization: 'Bearer own' },
    },
    '--server with the entry’s authority': {
      flags: () => ['--server', `https://localhost:${new URL(servers.two?.url ?? '').port}`],
      is: { server: 'two', calledAs: 'localhost' },
    },
    '--server and --insecure-skip-tls-verify': {
      files: ['b'],
      flags: () => ['--cluster', 'shared', '--insecure-skip-tls-verify', '--server', servers.one?.url ?? ''],
      is: { server: 'one', authorization: 'Bearer of-b' },
    },
    '--certificate-authority and --tls-server-name': {
      flags: () => ['--context', 'bare', '--tls-server-name', 'inner.example', '--certificate-authority', join(folder, 'a', 'ca.crt')],
      is: { server: 'two', calledAs: 'inner.example' },
    },
    'a server that is not to be verified': { flags: context('untrusted'), is: { server: 'two' } },
    'the proxy of the kubeconfig': { flags: context('proxied'), is: { throughProxy: true, calledAs: 'api.example' } },
    'the proxy of the environment': {
      flags: context('named'),
      env: () => ({ HTTPS_PROXY: proxyUrl() }),
      is: { throughProxy: true, authorization: 'Bearer of-a' },
    },
    'no proxy of the environment for loopback': { env: () => ({ HTTPS_PROXY: proxyUrl() }), is: { throughProxy: false, server: 'one' } },
  };

  for (const [title, { files = ['a'], flags = () => [], env = () => ({}), is }] of Object.entries(rows)) {
    it(`${title}: the server learns the same from both`, async () => {
      const kubeconfig = files.map((name) => join(folder, name, 'config')).join(delimiter);
      const here = { ...around, kubeconfig, env: env() };
      const learned = async (ask: () => Promise<{ readonly stderr: string }>) => {
        asked.length = 0;
        const { stderr } = await ask();
        assert.ok(asked.length > 0, `no request arrived: ${stderr}`);
        const different = new Map(asked.map((one) => [JSON.stringify(one), one]));
        return [...different.values()];
      };
      const kubectl = await learned(() =>
        execa(around.kubectl, ['get', '--raw', '/version', ...flags()], { env: surroundingsEnv(here), extendEnv: false, reject: false }),
      );
      const ours = await learned(() => upgrade(['status', ...flags()], here));
      assert.deepEqual(ours, kubectl);
      assert.deepEqual({ ...ours[0], ...is }, ours[0]);
    });
  }
});
