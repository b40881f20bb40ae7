import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { resolvePrograms } from '../control-plane/binaries.ts';
import { testFolder } from '../support/folders.ts';
import { patient } from '../support/patience.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';

const MAIN = fileURLToPath(new URL('../control-plane/main.ts', import.meta.url));

describe('npm run control-plane', function () {
  this.timeout(180_000);
  const folder = testFolder('control-plane-command-');
  let kubectl: string;

  before(async () => {
    kubectl = (await resolvePrograms()).kubectl;
  });
  after(async () => {
    await call('down', '--name', 'mine');
  });

  const call = (...args: readonly string[]) =>
    execa(process.execPath, [MAIN, ...args], { reject: false, env: { XDG_STATE_HOME: folder }, timeout: patient(170_000) });
  const ask = async (kubeconfig: string, ...args: readonly string[]) =>
    (await execa(kubectl, ['--kubeconfig', kubeconfig, '--request-timeout=10s', ...args], { reject: false })).stdout;
  const states = () => call('status').then(({ stdout }) => stdout);

  let kubeconfig: string;

  it('says before it starts anything that a release is not there', async () => {
    const { exitCode, stderr } = await call('up', '--name', 'mine', '--install', 'v1.0.0', '--profile', 'netsvc');
    assert.equal(exitCode, 1);
    assert.match(stderr, /no manifest netsvc\.yaml of v1\.0\.0; looked for\n/);
    assert.equal(await states(), '');
  });

  it('starts one with a release installed, and prints nothing but the path of its kubeconfig', async () => {
    const up = await call('up', '--name', 'mine', '--nodes', '2', '--install', 'v3.26.4', '--profile', 'netsvc', '--max-minutes', '10');
    assertSucceeded(up);
    kubeconfig = up.stdout.trim();
    assert.ok(existsSync(kubeconfig), up.stdout);
    assert.match(up.stderr, /^Ready; ends by itself at /m);
    assert.match(up.stderr, /^End it: {3}npm run control-plane -- down --name mine$/m);
    const agents = await ask(kubeconfig, 'get', 'ds', '-n', 'kube-system', 'netsvc-node', '-o', 'jsonpath={.status.numberReady}');
    assert.equal(agents, '2');
  });

  it('shows it, and starts no second one of that name', async () => {
    assert.match(await states(), /^mine\trunning\thttps:\/\/127\.0\.0\.1:\d+\t/);
    const again = await call('up', '--name', 'mine');
    assert.equal(again.exitCode, 1);
    assert.match(again.stderr, /"mine" runs already/);
  });

  it('ends it with all of its processes and files but the log', async () => {
    assertSucceeded(await call('down', '--name', 'mine'));
    assert.equal(await states(), '');
    assert.equal(await ask(kubeconfig, 'get', 'nodes'), '');
    assert.deepEqual(await readdir(join(folder, 'netsvc-upgrade-control-plane')), ['mine.log']);
    const { stdout } = await execa('ps', ['-ww', '-eo', 'args='], { reject: false });
    assert.deepEqual(
      stdout.split('\n').filter((line) => line.includes(folder)),
      [],
    );
  });

  it('says that there is nothing to end, and how it is called', async () => {
    assert.match((await call('down', '--name', 'mine')).stderr, /^no control plane "mine" runs$/m);
    const wrong = await call('upp');
    assert.equal(wrong.exitCode, 64);
    assert.match(wrong.stderr, /^unknown command "upp"\n\nUsage: npm run control-plane -- COMMAND\n/);
  });
});
