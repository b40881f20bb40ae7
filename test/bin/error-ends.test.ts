import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority } from '../control-plane/certificates.ts';
import { testFolder } from '../support/folders.ts';
import { type Loopback, sendJson, sendStatus, serve } from '../support/loopback-server.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';
import { serveSandbox } from '../support/served-sandbox.ts';
import { putKubectl } from '../support/stand-in-kubectl.ts';
import { NETSVC_TARGET, pattern } from '../support/target.ts';
import { traced } from '../support/traced-process.ts';

const KUBE_SYSTEM = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'kube-system', uid: 'u-1' } };
const P = 'kubectl netsvc-upgrade';

/** Servers by their context. */
type Context = 'closed' | 'stranger' | 'forbids' | 'empty' | 'untrusted' | 'netsvc';

interface Case {
  readonly context: Context;
  readonly typed: string;
  readonly exit: number;
  readonly says: RegExp;
  readonly next: string;
}

/** FOLDER is that of the test, URL that of the context's server. */
const CASES: Readonly<Record<string, Case>> = {
  'a server that cannot be reached': {
    ...{ context: 'closed', typed: 'run --yes', exit: 1, says: /^error: the server \S+ cannot be reached: / },
    next: 'kubectl --context=closed cluster-info',
  },
  'credentials that the server does not accept': {
    ...{ context: 'stranger', typed: 'status', exit: 1, says: /^error: the server \S+ does not accept the credentials of user / },
    next: 'kubectl --context=stranger auth whoami',
  },
  'an account without rights': {
    ...{ context: 'forbids', typed: 'preflight', exit: 1, says: /^error: user "forbids" may not do this: / },
    next: `${P} permissions --context=forbids --for run`,
  },
  'a certificate of an unknown authority': {
    ...{ context: 'untrusted', typed: 'plan', exit: 1, says: /^error: the certificate of \S+ is signed by an unknown authority/ },
    next: 'kubectl --context=untrusted config view --minify',
  },
  'a cluster without Calico': {
    ...{ context: 'empty', typed: 'preflight', exit: 64, says: /^error: no Calico found on context "empty"/ },
    next: 'kubectl config get-contexts',
  },
  'an unknown profile': {
    ...{ context: 'empty', typed: 'preflight --profile=clico', exit: 64, says: /^error: there is no profile clico$/ },
    next: `${P} preflight --context=empty --profile=calico`,
  },
  'a wrong value, before a server is asked': {
    ...{ context: 'closed', typed: 'run --timeout=soon', exit: 64, says: /^error: --timeout=soon is not a time limit$/ },
    next: `${P} run --help`,
  },
  'a check that does not exist, before a server is asked': {
    ...{ context: 'closed', typed: 'plan --accept=NS-0011', exit: 64, says: /^error: --accept: there is no check NS-0011$/ },
    next: `${P} explain`,
  },
  'a release that the folder does not have': {
    ...{ context: 'netsvc', typed: 'apply --dry-run=client --manifest-url=FOLDER/mirror --release=v3.9.9', exit: 1 },
    says: /^error: FOLDER\/mirror\/v3\.9\.9\/manifests\/netsvc\.yaml does not exist$/,
    next: `${P} preflight --context=netsvc --manifest-url=FOLDER/mirror --release=v3.31.0`,
  },
  'a folder that has nothing of the release': {
    ...{ context: 'netsvc', typed: 'apply --dry-run=client --manifest-url=FOLDER/mirror --release=v3.31.0', exit: 1 },
    says: /^error: FOLDER\/mirror\/v3\.31\.0\/manifests\/netsvc\.yaml does not exist$/,
    next: 'ls -l FOLDER/mirror',
  },
  'a source that answers with an error': {
    ...{ context: 'netsvc', typed: 'apply --dry-run=client --manifest-url=URL/none', exit: 1 },
    says: pattern`^error: URL/none/${NETSVC_TARGET}/manifests/netsvc\.yaml does not exist$`,
    next: `curl -fsSIL URL/none/${NETSVC_TARGET}/manifests/netsvc.yaml`,
  },
  'a report that is not there': {
    ...{ context: 'netsvc', typed: 'report', exit: 64, says: /^error: no run of this program is recorded on this cluster$/ },
    next: `${P} preflight --context=netsvc`,
  },
  'a lock that is not released without a word': {
    ...{ context: 'netsvc', typed: 'unlock', exit: 64, says: /^error: the lock was not released: there is no terminal to ask on/ },
    next: `${P} status --context=netsvc`,
  },
};

/** Names that a kubeconfig does not have: no cluster is known yet, so none is named. */
const UNKNOWN: Readonly<Record<string, string>> = {
  'status --context=nope': 'kubectl config get-contexts',
  'run --plan-file=FOLDER/none.json --context=empty': `${P} plan --context=empty --out FOLDER/none.json`,
  'apply --contxt=a': `${P} apply --help`,
  'aply --context=empty': `${P} apply --help`,
};

describe('an error as the built program ends with it', function () {
  this.timeout(60_000);
  const folder = testFolder('netsvc-error-ends-');
  const servers = new Map<Context, Loopback>();

  before(async () => {
    mkdirSync(join(folder, 'mirror', 'v3.31.0', 'manifests'), { recursive: true });
    const authority = createAuthority('own');
    const { cluster } = await installedSandbox();
    const at = new Date().toISOString();
    cluster.registry.create(
      { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', plural: 'leases', namespaced: true },
      {
        ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'netsvc-upgrade', namespace: 'kube-system' } },
        ...{ spec: { holderIdentity: 'anna@elsewhere/1/0', leaseDurationSeconds: 3600, acquireTime: at, renewTime: at } },
      },
      { manager: 'test' },
    );
    const empty = (plural: string) => ({ kind: `${plural}List`, apiVersion: 'v1', metadata: {}, items: [] });
    servers.set('netsvc', await serveSandbox(cluster));
    servers.set('closed', await serve(() => undefined));
    await servers.get('closed')?.close();
    servers.set('stranger', await serve((_, response) => sendStatus(response, 401, 'Unauthorized', 'Unauthorized')));
    servers.set('forbids', await serve((_, response) => sendStatus(response, 403, 'Forbidden', 'namespaces "kube-system" is forbidden')));
    servers.set(
      'empty',
      await serve(({ url }, response) =>
        sendJson(response, url.endsWith('/kube-system') ? KUBE_SYSTEM : empty(url.split('/').at(-1) ?? '')),
      ),
    );
    servers.set(
      'untrusted',
      await serve((_, response) => sendJson(response, KUBE_SYSTEM), authority.issue({ commonName: 'x', hosts: ['127.0.0.1'] })),
    );
    putKubectl(folder);
    const [names, urls] = [[...servers.keys()], [...servers.values()].map(({ url }) => url)];
    const clusters = names.map((name, index) => ({ name, cluster: { server: urls[index] } }));
    const contexts = names.map((name) => ({ name, context: { cluster: name, user: name } }));
    const users = names.map((name) => ({ name, user: {} }));
    writeFileSync(
      join(folder, 'config'),
      JSON.stringify({ apiVersion: 'v1', kind: 'Config', clusters, contexts, users, 'current-context': 'closed' }),
    );
  });
  after(async () => {
    await Promise.all([...servers].map(([name, server]) => (name === 'closed' ? undefined : server.close())));
  });

  const run = (words: string) => {
    const env = { PATH: folder, HOME: folder, XDG_STATE_HOME: folder, KUBECONFIG: join(folder, 'config') };
    return traced('dist/cli/main.js', words.split(' '), env);
  };
  const named = (text: string, url = '') => text.replaceAll('FOLDER', folder).replaceAll('URL', url);
  const unnamed = (text: string, url = 'URL') => text.replaceAll(folder, 'FOLDER').replaceAll(url, 'URL');

  for (const [what, { context, typed, exit, says, next }] of Object.entries(CASES))
    it(`names the cluster first and the next command last: ${what}`, async () => {
      const { url } = servers.get(context) ?? assert.fail();
      const words = `${named(typed, url)} --context=${context}`;
      const ran = await run(words);
      const lines = unnamed(ran.stderr, url).trimEnd().split('\n');
      assert.deepEqual([ran.exit, ran.stdout], [exit, ''], ran.stderr);
      const from = lines.indexOf(`context "${context}"   URL`);
      assert.ok(from >= 0, ran.stderr);
      assert.match(lines[from + 1]?.replaceAll(/(?<=server |of )URL/g, url) ?? '', says);
      assert.equal(lines.at(-1), `Next: ${next}`);
      assert.equal(lines.filter((line) => line.includes(next)).length, 1, 'said once');
      const json = await run(`${words} -o json`);
      assert.equal(json.exit, exit);
      const told = JSON.parse(json.stderr.trimEnd().split('\n').at(-1) ?? '').error;
      assert.ok(unnamed(told.next.join('\n'), url).includes(next), json.stderr);
    });

  for (const [typed, next] of Object.entries(UNKNOWN))
    it(`says what comes next where no cluster is known: ${typed}`, async () => {
      const { exit, stderr } = await run(named(typed));
      const lines = unnamed(stderr).trimEnd().split('\n');
      assert.deepEqual([exit, lines.at(-1)], [64, `Next: ${next}`], stderr);
      assert.match(lines[0] ?? '', /^error: /);
    });
});
