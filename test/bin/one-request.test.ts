import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { testFolder } from '../support/folders.ts';
import { putKubectl } from '../support/stand-in-kubectl.ts';
import { openKubeconfig, type TracedRun, traced } from '../support/traced-process.ts';

/** Ends of paths that exist; everything else is 404. */
const OBJECTS: Readonly<Record<string, unknown>> = {
  '/api/v1/namespaces/kube-system': { kind: 'Namespace', metadata: { name: 'kube-system', uid: 'u-1' } },
};

interface Ran extends TracedRun {
  readonly requests: readonly string[];
}

/** What the shortest commands ask: exact, so that what makes them slow cannot come back unseen. */
describe('a command that asks the cluster little', function () {
  this.timeout(30_000);
  const folder = testFolder('netsvc-one-request-');
  let server: Server;
  const asked: string[] = [];
  let connections = 0;
  let kubectl: ReturnType<typeof putKubectl>;
  /** Changes of the environment, for one test. */
  let more: Readonly<Record<string, string>> = {};

  before(async () => {
    server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      const found = OBJECTS[request.url ?? ''];
      response.writeHead(found ? 200 : 404, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(found ?? { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 }));
    });
    server.on('connection', () => {
      connections += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    writeFileSync(join(folder, 'config'), openKubeconfig(url));
    kubectl = putKubectl(folder);
  });
  after(async () => {
    await new Promise((resolve) => server.close(resolve));
  });

  /** Without another program than kubectl on PATH, so that none can be started. */
  async function run(...args: readonly string[]): Promise<Ran> {
    asked.length = 0;
    connections = 0;
    const env = { PATH: folder, HOME: folder, XDG_STATE_HOME: folder, KUBECONFIG: join(folder, 'config'), ...more };
    const ran = await traced('dist/cli/main.js', args, env);
    return { ...ran, requests: [...asked] };
  }

  it('does without a work folder where that cannot be written, says so, and leaves nothing behind', async () => {
    const temporary = join(folder, 'temporary');
    mkdirSync(temporary);
    // A file in the way refuses the superuser as well.
    more = { XDG_STATE_HOME: join(folder, 'config'), TMPDIR: temporary };
    const ran = await run('status', '-o', 'json').finally(() => {
      more = {};
    });
    assert.equal(ran.exit, 0, ran.stderr);
    assert.equal(JSON.parse(ran.stdout).kind, 'Status');
    assert.match(ran.stderr, /^Warning: the work folder \S+ cannot be written: .*does without it/);
    assert.deepEqual(
      readdirSync(temporary).filter((name) => name.startsWith('netsvc-upgrade')),
      [],
    );
  });

  const REQUESTS = [
    'GET /api/v1/namespaces/kube-system',
    'GET /api/v1/namespaces/kube-system/secrets/netsvc-upgrade-run',
    'GET /apis/apps/v1/namespaces/calico-system/daemonsets?limit=500',
    'GET /apis/apps/v1/namespaces/calico-system/deployments/calico-kube-controllers',
    'GET /apis/apps/v1/namespaces/calico-system/deployments/calico-typha',
    // Without a record: what a lost one may have held for a canary.
    'GET /apis/apps/v1/namespaces/kube-system/daemonsets?limit=500',
    'GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/netsvc-upgrade',
    'GET /apis/operator.tigera.io/v1/installations?limit=500',
  ];

  for (const [command, requests] of [
    ['status', REQUESTS],
    ['unlock', REQUESTS.filter((request) => !/\/apps\/|installations/.test(request))],
  ] as const)
    it(`${command} sends ${requests.length} requests on one connection, and starts kubectl for the kubeconfig alone`, async () => {
      const before = kubectl.started().length;
      const ran = await run(command, ...(command === 'status' ? ['--profile', 'netsvc'] : []));
      assert.deepEqual([ran.exit, ran.stderr], [0, '']);
      assert.deepEqual([...ran.requests].sort(), requests);
      assert.equal(connections, 1);
      assert.deepEqual(kubectl.started().slice(before), ['config view --raw -o json']);
      assert.deepEqual(readdirSync(join(folder, 'netsvc-upgrade', 'u-1')), [], 'credentials were written for no program');
    });
});
