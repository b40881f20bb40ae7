import assert from 'node:assert/strict';
import { join } from 'node:path';
import { assertWritesNothing, installedCluster, shared } from '../support/installed-cluster.ts';
import { manifestFile, releases } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';

const CALICO = ['--skip', 'cli', '--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases] as const;
const AGENT = ['-n', 'kube-system', 'ds/calico-node'] as const;

describe('plan --for-git on a real control plane', function () {
  this.timeout(280_000);
  const cluster = shared(() => installedCluster({ manifest: manifestFile('v3.27.5', 'calico.yaml'), nodes: 2 }), 600_000);
  let folder: string;
  before(async () => {
    folder = join(cluster.around.home, 'git');
    const { kubectl } = cluster.plane;
    await kubectl(['set', 'env', ...AGENT, '-c', 'calico-node', 'FELIX_LOGSEVERITYSCREEN=debug']);
    await kubectl(['rollout', 'status', ...AGENT, '--timeout=60s']);
  });

  /** What kubectl would change by an apply of the folder, as a sync does it. */
  const diff = async (...flags: readonly string[]) => {
    const { exitCode, stdout, stderr } = await cluster.plane.kubectl(['diff', '-R', '-f', folder, ...flags]);
    return { exitCode, text: stdout + stderr };
  };
  const NOTHING = { exitCode: 0, text: '' };

  it('writes before the upgrade what neither kind of apply changes after it', async () => {
    await assertWritesNothing(cluster, () => cluster.upgrade('plan', '--for-git', folder, ...CALICO));
    assert.equal((await diff('--server-side', '--force-conflicts')).exitCode, 1, 'something is still to change');
    assertSucceeded(await cluster.upgrade('run', '--yes', ...CALICO));
    assert.deepEqual(await diff('--server-side', '--force-conflicts'), NOTHING);
    assert.deepEqual(await diff(), NOTHING);
  });
});
