import assert from 'node:assert/strict';
import { isRunning } from '../../src/adapters/lock/lease.ts';
import { until } from '../control-plane/until.ts';
import { installedCluster, shared } from '../support/installed-cluster.ts';
import { manifestFile, ownReleases } from '../support/releases.ts';
import { assertOneByOne, type SlowTool, slowKubectl } from '../support/slow-kubectl.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';

const RUN = ['run', '--yes', '--skip', 'cli', '--manifest-url', ownReleases] as const;
/** The lease, and some time for the runs that are refused until then. */
const LIMIT_MS = 120_000;

describe('a run that is stopped for longer than its lease, on a real control plane', () => {
  const cluster = shared(() => installedCluster({ manifest: manifestFile('v3.26.4', 'netsvc.yaml', ownReleases), nodes: 2 }));
  let slow: SlowTool;
  before(async () => {
    slow = await slowKubectl(cluster, RUN);
  });

  it('writes nothing more when it wakes up, and the next run waits until its kubectl has ended', async () => {
    const stopped = await slow.startHeld();
    stopped.child.kill('SIGSTOP');
    const holder = () => cluster.read('lease -n kube-system netsvc-upgrade', '{.spec.renewTime} {.spec.leaseDurationSeconds}');
    await until(
      'the lease has run out',
      async () => {
        const [renewed = '', seconds] = (await holder()).split(' ');
        return Date.now() > Date.parse(renewed) + (Number(seconds) + 2) * 1000;
      },
      LIMIT_MS,
    );
    const next = slow.start();
    await next.says(/waiting for kubectl \(process \d+\)/);
    assert.ok(isRunning(stopped.pid), 'only the run was stopped, not its program');
    await slow.letGo();
    assertSucceeded(await next.child);
    assertOneByOne(await slow.takeLog());
    const before = await cluster.versions();
    stopped.child.kill('SIGCONT');
    const first = await stopped.child;
    assert.equal(first.exitCode, 6, first.stderr);
    assert.deepEqual(await cluster.versions(), before);
  });
});
