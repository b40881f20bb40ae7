import assert from 'node:assert/strict';
import { isRunning } from '../../src/adapters/lock/lease.ts';
import { installedCluster, shared } from '../support/installed-cluster.ts';
import { manifestFile, ownReleases } from '../support/releases.ts';
import { assertOneByOne, type SlowTool, slowKubectl } from '../support/slow-kubectl.ts';
import { assertSucceeded, told } from '../support/upgrade-process.ts';

const RUN = ['run', '--yes', '--skip', 'cli', '--manifest-url', ownReleases] as const;

describe('a run whose kubectl takes its time, on a real control plane', () => {
  const cluster = shared(() => installedCluster({ manifest: manifestFile('v3.26.4', 'netsvc.yaml', ownReleases), nodes: 2 }));
  let slow: SlowTool;
  before(async () => {
    slow = await slowKubectl(cluster, RUN);
  });

  it('ends at once at the second Ctrl-C, and leaves no kubectl behind', async () => {
    const { child, says, pid: kubectl } = await slow.startHeld();
    child.kill('SIGINT');
    await says(/Stopping after the current action/);
    assert.ok(isRunning(kubectl), 'the first Ctrl-C does not cut a write in the middle');
    child.kill('SIGINT');
    const result = await child;
    assert.equal(result.exitCode, 130, told(result));
    assert.ok(!isRunning(kubectl), 'kubectl ended with the run');
    assert.deepEqual(await slow.takeLog(), [`begin ${kubectl}`]);
  });

  it('is waited for after a kill -9, though its lock is free', async () => {
    const { child, pid: kubectl } = await slow.startHeld();
    child.kill('SIGKILL');
    await child;
    assert.ok(isRunning(kubectl), 'it survives its run');
    const state = async () => [await cluster.versions(), await cluster.read('lease -n kube-system netsvc-upgrade', '{.spec}')];
    const before = await state();
    const next = slow.start();
    await next.says(/waiting for kubectl \(process \d+\)/);
    assert.deepEqual(await state(), before, 'nothing is written next to it, not even the lock');
    await slow.letGo();
    assertSucceeded(await next.child);
    const log = await slow.takeLog();
    assert.equal(log[0], `begin ${kubectl}`);
    assertOneByOne(log);
  });
});
