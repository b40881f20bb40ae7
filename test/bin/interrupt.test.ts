import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Loopback, sendJson, serve } from '../support/loopback-server.ts';
import { patient } from '../support/patience.ts';
import { putKubectl } from '../support/stand-in-kubectl.ts';
import { openKubeconfig } from '../support/traced-process.ts';

const main = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'main.js');
const UID = { '/api/v1/namespaces/kube-system': { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'kube-system', uid: 'u-1' } } };
/** A run on another machine holds the lock. */
const LEASE = {
  '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/netsvc-upgrade': {
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    metadata: { name: 'netsvc-upgrade', namespace: 'kube-system', uid: 'u-2', resourceVersion: '1' },
    spec: {
      holderIdentity: 'somebody@elsewhere/1/00000000',
      leaseDurationSeconds: 3600,
      acquireTime: new Date().toISOString(),
      renewTime: new Date().toISOString(),
    },
  },
};

/** Against servers that take a request and never answer it. Silence alone would be 75 s. */
describe('Ctrl-C while the server is silent', function () {
  this.timeout(30_000);
  let [folder, server]: [string, Loopback | undefined] = ['', undefined];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'netsvc-interrupt-'));
  });
  afterEach(async () => {
    await server?.close();
    rmSync(folder, { recursive: true });
  });

  /** Presses as often once the server has been asked something that it does not answer. */
  async function interrupted(answers: Readonly<Record<string, unknown>>, presses: number, ...args: readonly string[]) {
    let hung = () => {};
    const asked = new Promise<void>((resolve) => (hung = resolve));
    server = await serve(({ url, method }, response) => {
      if (method === 'GET' && Object.hasOwn(answers, url)) sendJson(response, answers[url]);
      else hung();
    });
    writeFileSync(join(folder, 'config'), openKubeconfig(server.url));
    putKubectl(folder);
    const env = { PATH: folder, HOME: folder, XDG_STATE_HOME: folder, KUBECONFIG: join(folder, 'config') };
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, ...args], { env });
    let said = '';
    child.stderr.on('data', (text) => (said += text));
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    await asked;
    for (let press = 0; press < presses; press += 1) {
      child.kill('SIGINT');
      // Two signals at once are one.
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const exit = await Promise.race([
      ended,
      new Promise<'still alive'>((resolve) => setTimeout(() => resolve('still alive'), patient(8_000)).unref()),
    ]);
    if (exit === 'still alive') child.kill('SIGKILL');
    await ended;
    return { exit, said };
  }

  for (const command of ['run --yes', 'preflight', 'plan', 'status'])
    it(`once ends ${command} before the first answer, with a next step`, async () => {
      const { exit, said } = await interrupted({}, 1, ...command.split(' '));
      assert.equal(exit, 130, said);
      assert.match(said, /^Stopping\. /m);
      // It never answers for the user.
      const next = `Next: kubectl netsvc-upgrade ${command.replace(' --yes', '')}`;
      assert.ok(said.endsWith(`error: stopped: nothing was changed by this command\n${next}\n`), said);
    });

  it('once ends a survey: what is not answered is not taken for an answer', async () => {
    const { exit, said } = await interrupted(UID, 1, 'run', '--yes', '--profile', 'calico');
    assert.equal(exit, 130, said);
    assert.match(said, /^error: stopped: nothing was changed by this command$/m);
    assert.deepEqual(
      readdirSync(folder, { recursive: true }).filter((name) => /kubeconfig/.test(String(name))),
      [],
    );
  });

  it('twice ends a write as well, which once lets come to its end', async () => {
    const { exit, said } = await interrupted({ ...UID, ...LEASE }, 2, 'unlock', '--yes');
    assert.equal(exit, 130, said);
    assert.match(said, /^Stopping after the current action\..*\nStopping the current action\..*\nerror: stopped at once/m);
    assert.match(said, /^Next: kubectl netsvc-upgrade unlock\n$/m);
  });
});
