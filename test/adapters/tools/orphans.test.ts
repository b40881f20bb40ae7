import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { isRunning } from '../../../src/adapters/lock/lease.ts';
import { kubeconfigName, orphansOf, ownerOfKubeconfig, type ProcessLine } from '../../../src/adapters/tools/orphans.ts';
import { itWhere, NO_ROOT, NOT_POSIX } from '../../support/needs.ts';

const WORK = '/home/me/.local/state/netsvc-upgrade/cluster-1';
const DEAD = 41;
const of = (folder: string, owner: number) => `--kubeconfig=${folder}/kubeconfig-${owner}`;
const found = (...args: readonly string[]) =>
  orphansOf(
    WORK,
    (pid) => pid !== DEAD,
    async (): Promise<readonly ProcessLine[]> => [{ pid: 7, args }],
  );

describe('programs of a run that was killed', () => {
  it('are known by the private kubeconfig of a process that is gone', async () => {
    assert.deepEqual(await found('/usr/bin/kubectl', of(WORK, DEAD), 'apply'), [{ pid: 7, program: 'kubectl' }]);
  });

  it('are known by the kubeconfig of their environment, as the service’s own CLI is', async () => {
    const kubeconfig = `${WORK}/kubeconfig-${DEAD}`;
    const processes = async () => [{ pid: 8, args: ['/usr/local/bin/calicoctl', 'delete', 'hostendpoint', 'a'], kubeconfig }];
    const dead = await orphansOf(WORK, (pid) => pid !== DEAD, processes);
    assert.deepEqual(dead, [{ pid: 8, program: 'calicoctl' }]);
  });

  it('are known by the configuration that the service’s own CLI was given', async () => {
    const args = ['/usr/local/bin/calicoctl', 'delete', 'hostendpoint', 'a', `--config=${WORK}/kubeconfig-${DEAD}.cli`];
    assert.deepEqual(await found(...args), [{ pid: 7, program: 'calicoctl' }]);
  });

  it('are known wherever the run had its work folder', async () => {
    assert.equal((await found('kubectl', of('/mnt/a=b c/netsvc-upgrade/cluster-1', DEAD))).length, 1);
  });

  it('are named by the script where one wraps the program', async () => {
    assert.equal((await found('/bin/sh', '/opt/kubectl', of(WORK, DEAD)))[0]?.program, 'kubectl');
  });

  const others: Readonly<Record<string, readonly string[]>> = {
    'a program of a run that is alive': ['kubectl', of(WORK, 42)],
    'a program of a run on another cluster': ['kubectl', of('/home/me/.local/state/netsvc-upgrade/cluster-2', DEAD)],
    'a program with a kubeconfig of its own': ['kubectl', '--kubeconfig=/home/me/.kube/config'],
    'a program that only names the file': ['cat', `${WORK}/kubeconfig-${DEAD}`],
    'a program without arguments': ['kubectl'],
  };
  for (const [title, args] of Object.entries(others)) {
    it(`do not include ${title}`, async () => assert.deepEqual(await found(...args), []));
  }

  itWhere(NOT_POSIX, 'do not include those that another user starts with such arguments, which would stop every run', async () => {
    const args = ['kubectl', of(WORK, DEAD)];
    const [me = 0, other = 65_534] = [process.getuid?.(), 65_534];
    const started = async () => [me, 0, other].map((uid, index) => ({ pid: index + 1, args, uid }));
    const ours = await orphansOf(WORK, (pid) => pid !== DEAD, started);
    assert.deepEqual(
      ours.map(({ pid }) => pid),
      [1, 2],
    );
  });

  itWhere(NO_ROOT, 'of another user are told by the kernel', async () => {
    const { pid: dead } = spawnSync(process.execPath, ['-e', '0']);
    const folder = `/nowhere/netsvc-upgrade/other-${process.pid}`;
    const program = ['-c', 'echo 1; read -r _', 'kubectl', of(folder, dead)];
    const child = spawn('/bin/sh', program, { stdio: 'pipe', uid: 65_534, gid: 65_534, cwd: '/' });
    await once(child.stdout, 'data');
    const ours = await orphansOf(folder, isRunning);
    child.stdin.end();
    await once(child, 'exit');
    assert.deepEqual(ours, []);
  });

  it('have one name for the file and the process that it is of', () => {
    assert.equal(ownerOfKubeconfig(kubeconfigName(123)), 123);
    assert.equal(ownerOfKubeconfig('kubeconfig-123.tmp'), undefined);
  });

  itWhere(NOT_POSIX, 'are found among the processes of this machine, until they end', async () => {
    const { pid: dead } = spawnSync(process.execPath, ['-e', '0']);
    const folder = `/nowhere/netsvc-upgrade/test-${process.pid}`;
    // It ends with its input, so that nothing is left behind whatever becomes of this test.
    const child = spawn(process.execPath, ['-e', 'process.stdin.resume(); console.log(1)', '--', of(folder, dead)], { stdio: 'pipe' });
    await once(child.stdout, 'data');
    assert.deepEqual(
      (await orphansOf(folder, isRunning)).map(({ pid }) => pid),
      [child.pid],
    );
    child.stdin.end();
    await once(child, 'exit');
    assert.deepEqual(await orphansOf(folder, isRunning), []);
  });
});
