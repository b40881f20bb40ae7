import assert from 'node:assert/strict';
import type { RunReport } from '../../src/cli/documents.ts';
import { until } from '../control-plane/until.ts';
import { installedCluster, within } from '../support/installed-cluster.ts';
import { startLogKubelet } from '../support/log-kubelet.ts';
import { manifestFile, ownReleases } from '../support/releases.ts';
import { told } from '../support/upgrade-process.ts';

const NAMESPACE = 'probe';
const PROBE = ['--probe-network', '--probe-image', 'busybox:1.37', '--probe-namespace', NAMESPACE];
const FROM = ['--profile', 'netsvc', '--manifest-url', ownReleases];

describe('--probe-network on a real control plane whose pods have logs', function () {
  this.timeout(120_000);

  it('counts connections by what the logs of its pods say, and stops at the first that breaks', () =>
    within(installedCluster({ manifest: manifestFile('v3.26.4', 'netsvc.yaml', ownReleases), nodes: 5 }), async (other) => {
      const kubelet = await startLogKubelet(other.plane.api);
      try {
        await other.plane.kubectl(['create', 'namespace', NAMESPACE]);
        const running = other.upgrade('run', '--yes', '--skip', 'cli', ...PROBE, ...FROM, '--probe-strict');
        const agents = async () => (await other.read('pods -n kube-system -l k8s-app=netsvc-node', '{..image}')).split(' ');
        await until('a second agent is new', async () => (await agents()).filter((image) => image.includes(':v3.32')).length >= 4, 60_000);
        kubelet.cut('node-05');
        const stopped = await running;
        assert.equal(stopped.exitCode, 5, told(stopped));
        assert.match(stopped.stderr, /^error: a connection from .*node-05.* broke at \d\d:\d\d:\d\dZ$/m);
        const spec = await other.read('daemonset -n kube-system netsvc-node', '{.spec.updateStrategy}');
        assert.equal(spec, '{"type":"OnDelete"}');
        const { history } = JSON.parse((await other.upgrade('report', '-o', 'json')).stdout) as RunReport;
        const { connections = [] } = history?.network ?? {};
        const broken = connections.filter((one) => one.broken > 0);
        assert.ok(connections.length >= 5, JSON.stringify(connections));
        assert.ok(broken.length >= 3 && broken.every(({ from, to }) => [from, to].includes('node-05')), JSON.stringify(broken));
      } finally {
        kubelet.stop();
      }
    }));
});
