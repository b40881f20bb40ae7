import assert from 'node:assert/strict';
import { NETWORK_PROBES } from '../../src/features/network-probe/jobs.ts';
import { chartCluster, flagsOf } from '../support/chart-cluster.ts';
import { describeNetworkProbe } from '../support/describe-network-probe.ts';
import { type InstalledCluster, installedCluster } from '../support/installed-cluster.ts';
import { needsHelm } from '../support/needs-helm.ts';
import { TYPHA } from '../support/operated-bench.ts';
import { operatedCluster } from '../support/operated-cluster.ts';
import { manifestFile, ownReleases, releases } from '../support/releases.ts';

describe('wait --probe-network on a real control plane where its pods are not let in', function () {
  this.timeout(120_000);
  let cluster: InstalledCluster;
  before(async () => {
    cluster = await installedCluster({ manifest: manifestFile('v3.32.2', 'netsvc.yaml', ownReleases), nodes: 2 });
    await cluster.plane.kubectl(['create', 'namespace', 'probe']);
  });
  after(() => cluster?.stop());

  const probe = () =>
    cluster.upgrade(
      ...['wait', '--yes', '--probe-network', '--probe-image', 'busybox:1.37', '--probe-namespace', 'probe'],
      ...['--profile', 'netsvc', '--manifest-url', ownReleases],
    );

  it('says which quota it is, nothing of the network, and leaves nothing', async () => {
    await cluster.plane.kubectl(['create', 'quota', 'none', '-n', 'probe', '--hard=pods=0']);
    const { exitCode, stdout, stderr } = await probe();
    await cluster.plane.kubectl(['delete', 'quota', 'none', '-n', 'probe']);
    assert.equal(exitCode, 0, stdout + stderr);
    assert.match(stderr, /the pod network was not probed: the pod on node-\d+: FailedCreate: .*exceeded quota: none/);
    assert.equal((await cluster.plane.kubectl(['get', 'jobs', '-n', 'probe', '-l', NETWORK_PROBES, '-o', 'name'])).stdout, '');
  });

  it('says which node cannot pull the image', async () => {
    await cluster.plane.fault('node-02', 'image-pull');
    const { exitCode, stdout, stderr } = await probe();
    assert.equal(exitCode, 0, stdout + stderr);
    assert.match(stderr, /the pod network was not probed: the pod on node-02: (?:ErrImagePull|ImagePullBackOff)/);
  });
});

describeNetworkProbe({
  title: 'where an operator replaces the agents',
  start: () => operatedCluster({ mode: 'well', pace: 0.1 }),
  flags: () => ['--profile', 'calico', '--release', 'v3.32.1', '--manifest-url', releases, '--accept', TYPHA],
});

describeNetworkProbe({
  title: 'where the operator of a chart replaces the agents',
  start: async (suite) => chartCluster(await needsHelm(suite, 3), { operator: { mode: 'well', pace: 0.1 } }),
  flags: (cluster) => [...flagsOf(cluster), '--accept', TYPHA],
});
