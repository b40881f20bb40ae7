import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { until } from '../control-plane/until.ts';
import { flagsOf, RELEASE_NAMESPACE, sharedChartCluster } from '../support/chart-cluster.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded, startUpgrade, told } from '../support/upgrade-process.ts';

const NODES = ['node-01', 'node-02'];

/** As when the machine restarts in the middle of `helm upgrade`: run and helm are gone, and the revision stays pending. */
describe('a chart upgrade whose run and whose helm are killed together, on a real control plane', function () {
  this.timeout(400_000);
  const cluster = sharedChartCluster(3);

  const pending = () => cluster.read(`secret -n ${RELEASE_NAMESPACE} -l status=pending-upgrade`, '{.items[*].metadata.name}');
  const command = () => ['apply', '--yes', ...flagsOf(cluster)];

  /** The real helm, which waits for pods that never start and notes its process: so that it can be killed at work. */
  async function waitingHelm(): Promise<{ readonly folder: string; readonly pid: string }> {
    const folder = join(cluster.around.home, 'waiting-helm');
    const pid = join(folder, 'pid');
    await mkdir(folder);
    const lines = [
      '#!/bin/sh',
      'case " $* " in',
      `*" --dry-run"*) exec "${cluster.tool}" "$@";;`,
      `*" upgrade "*) echo $$ > "${pid}"; exec "${cluster.tool}" "$@" --wait;;`,
      'esac',
      `exec "${cluster.tool}" "$@"`,
    ];
    const script = `${lines.join('\n')}\n`;
    await writeFile(join(folder, 'helm'), script);
    await chmod(join(folder, 'helm'), 0o755);
    return { folder, pid };
  }

  it('leaves the revision pending', async () => {
    for (const node of NODES) await cluster.plane.fault(node, 'image-pull');
    const { folder, pid } = await waitingHelm();
    const path = [folder, cluster.around.env?.PATH].join(delimiter);
    const child = startUpgrade(command(), { ...cluster.around, env: { ...cluster.around.env, PATH: path } });
    await until('helm is at work', async () => (await pending()) !== '', 120_000);
    child.kill('SIGKILL');
    process.kill(Number(await readFile(pid, 'utf8')), 'SIGKILL');
    await child;
    assert.equal(await pending(), 'sh.helm.release.v1.calico.v2');
    for (const node of NODES) await cluster.plane.fault(node, 'none');
  });

  it('is not taken over while helm might still be at work', async () => {
    const result = await cluster.upgrade(...command());
    assert.equal(result.exitCode, 3, told(result));
    assert.match(result.stdout + result.stderr, /NS-232[\s\S]*may still be at work/);
  });

  it('is taken over by the same command half a minute later, which ends at the target', async () => {
    await new Promise((resolve) => setTimeout(resolve, 30_000));
    assertSucceeded(await cluster.upgrade(...command()));
    const listed = JSON.parse(await cluster.helm('list', '-A', '-o', 'json')) as readonly Record<string, string>[];
    assert.deepEqual(
      listed.map(({ chart, status }) => [chart, status]),
      [[`tigera-operator-${CALICO_TARGET}`, 'deployed']],
    );
    assert.equal(await pending(), '');
    assert.match(await cluster.helm('get', 'values', 'calico', '-n', RELEASE_NAMESPACE), /mirror\.example\.org/);
  });
});
