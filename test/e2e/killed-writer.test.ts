import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { isRunning } from '../../src/adapters/run-identity.ts';
import { until } from '../control-plane/until.ts';
import { type InstalledCluster, installedCluster } from '../support/installed-cluster.ts';
import { manifestFile, ownReleases } from '../support/shared.ts';
import { startUpgrade } from '../support/upgrade-process.ts';

const RUN = ['run', '--yes', '--skip', 'cli', '--manifest-url', ownReleases] as const;
const said = (result: { exitCode?: number; stdout: string; stderr: string }) =>
  `exit ${result.exitCode}\n${result.stdout}\n${result.stderr}`;

describe('a run whose kubectl takes its time, on a real control plane', () => {
  let cluster: InstalledCluster;
  let folder = '';
  const file = (name: string) => join(folder, name);

  /** A kubectl that, when told so, holds an apply until it may go on; it notes when applies begin and end. */
  async function slowKubectl(real: string): Promise<void> {
    const script = `#!/bin/sh
case " $* " in *" apply "*) ;; *) exec '${real}' "$@" ;; esac
echo "begin $$" >> '${file('log')}'
if rm '${file('hold')}' 2>/dev/null; then
  echo $$ > '${file('held.part')}' && mv '${file('held.part')}' '${file('held')}'
  while [ ! -e '${file('go')}' ]; do sleep 0.1; done
fi
'${real}' "$@"
code=$?
echo "end $$" >> '${file('log')}'
exit $code
`;
    await writeFile(file('kubectl'), script);
    await chmod(file('kubectl'), 0o755);
  }

  before(async () => {
    cluster = await installedCluster({ manifest: manifestFile('v3.26.4', 'netsvc.yaml', ownReleases), nodes: 2 });
    folder = join(cluster.around.home, 'slow');
    await mkdir(folder, { recursive: true });
    await slowKubectl(cluster.around.kubectl);
  });
  after(() => cluster?.stop());

  function start() {
    const child = startUpgrade(RUN, { ...cluster.around, env: { PATH: [folder, '/usr/bin', '/bin'].join(delimiter) } });
    let text = '';
    child.stderr.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    const says = (words: RegExp) => until(`${words}`, async () => words.test(text));
    return { child, says };
  }

  /** A run in the middle of an apply, and the process of its kubectl. */
  async function startHeld() {
    for (const name of ['go', 'held']) await rm(file(name), { force: true });
    await writeFile(file('hold'), '');
    const run = start();
    await until('an apply is held', async () => existsSync(file('held')));
    return { ...run, kubectl: Number(await readFile(file('held'), 'utf8')) };
  }

  it('ends at once at the second Ctrl-C, and leaves no kubectl behind', async () => {
    const { child, says, kubectl } = await startHeld();
    child.kill('SIGINT');
    await says(/Stopping after the current action/);
    assert.ok(isRunning(kubectl), 'the first Ctrl-C does not cut a write in the middle');
    child.kill('SIGINT');
    const result = await child;
    assert.equal(result.exitCode, 130, said(result));
    assert.ok(!isRunning(kubectl), 'kubectl ended with the run');
    await rm(file('log'), { force: true });
  });

  it('waits for the kubectl of a run that was killed, though its lock is free', async () => {
    const { child, kubectl } = await startHeld();
    child.kill('SIGKILL');
    await child;
    assert.ok(isRunning(kubectl), 'it survives its run');
    const state = async () => [await cluster.versions(), await cluster.read('lease -n kube-system netsvc-upgrade', '{.spec}')];
    const before = await state();
    const next = start();
    await next.says(/waiting for kubectl \(process \d+\)/);
    assert.deepEqual(await state(), before, 'nothing is written next to it, not even the lock');
    await writeFile(file('go'), '');
    const result = await next.child;
    assert.equal(result.exitCode, 0, said(result));
    const log = (await readFile(file('log'), 'utf8')).trim().split('\n');
    for (let index = 0; index < log.length; index += 2) {
      assert.equal(log[index]?.replace('begin', 'end'), log[index + 1], `two applies at the same time:\n${log.join('\n')}`);
    }
    assert.match(log[0] ?? '', new RegExp(`begin ${kubectl}$`));
  });
});
