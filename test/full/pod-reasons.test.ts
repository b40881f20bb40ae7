import assert from 'node:assert/strict';
import { installedCluster, shared } from '../support/installed-cluster.ts';
import { manifestFile, ownReleases } from '../support/releases.ts';

const RUN = ['run', '--yes', '--skip', 'cli', '--timeout', '40s', '--manifest-url', ownReleases] as const;
const MESSAGE = 'Readiness probe failed: felix is not ready: readiness probe reporting 503';

describe('a wait that ends without success, on a real control plane', function () {
  this.timeout(200_000);
  const cluster = shared(() => installedCluster({ manifest: manifestFile('v3.26.4', 'netsvc.yaml', ownReleases), nodes: 2 }));

  it('says what the newest telling event of each pod says, and what it means', async () => {
    await cluster.plane.fault('node-02', 'not-ready');
    const first = await cluster.upgrade(...RUN);
    assert.equal(first.exitCode, 124, first.stderr);
    // As the simulated kubelet writes it.
    const [, pod = ''] =
      /^ {2}says {4}(netsvc-node-\S+) says: Unhealthy.*: Readiness probe failed$/m.exec(first.stdout) ?? assert.fail(first.stdout);
    assert.doesNotMatch(first.stdout, /^ {2}means/m);
    await eventOf(pod, MESSAGE);
    await eventOf('another-pod', 'of another');
    const second = await cluster.upgrade(...RUN);
    assert.equal(second.exitCode, 124, second.stderr);
    assert.ok(second.stdout.includes(`${pod} says: Unhealthy (7 times): ${MESSAGE}`), second.stdout);
    assert.match(second.stderr, /not ready, \d+ s: Unhealthy \(7 times\): Readiness probe failed: felix is not ready/, 'while it waits');
    assert.match(second.stdout, /^ {2}means {3}the agent has not set up its rules yet/m);
    assert.doesNotMatch(second.stderr, /of another/);
  });

  async function eventOf(pod: string, message: string): Promise<void> {
    await cluster.plane.api.send('POST', '/api/v1/namespaces/kube-system/events', {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `${pod}.1`, namespace: 'kube-system' },
      involvedObject: { kind: 'Pod', namespace: 'kube-system', name: pod },
      ...{ type: 'Warning', reason: 'Unhealthy', message, count: 7, lastTimestamp: new Date(Date.now() + 60_000).toISOString() },
    });
  }
});
