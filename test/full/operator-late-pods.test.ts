import assert from 'node:assert/strict';
import { until } from '../control-plane/until.ts';
import { TYPHA } from '../support/operated-bench.ts';
import { type OperatedCluster, operatedCluster } from '../support/operated-cluster.ts';
import { releases } from '../support/releases.ts';

const CALICO = ['--profile', 'calico', '--release', 'v3.32.1', '--manifest-url', releases] as const;
const RUN = ['run', '--yes', '--skip', 'cli', ...CALICO, '--accept', TYPHA] as const;
const text = (result: { exitCode?: number | undefined; stdout: string; stderr: string }) =>
  `exit ${result.exitCode}\n${result.stdout}\n${result.stderr}`;

/** One story: a node that cannot pull images holds the agents up; the wait names it and a command that works, and the same run ends once it is mended. */
describe('a wait for an operator whose agents cannot start on one node, on a real control plane', function () {
  this.timeout(600_000);
  let cluster: OperatedCluster;
  before(async () => {
    cluster = await operatedCluster({ mode: 'well', pace: 0.1 });
  });
  after(() => cluster?.stop());

  it('names node, pod, reason and a command that shows them, before any status, and the log of the operator', async () => {
    await cluster.plane.fault('node-02', 'image-pull');
    const stuck = await cluster.upgrade(...RUN, '--timeout', '60s');
    assert.equal(stuck.exitCode, 124, text(stuck));
    assert.match(
      stuck.stderr,
      /the operator is not done after 60 s: DaemonSet\/calico-system\/calico-node: .* ready · node-02: calico-node-\S+ Pending \d+s: \w*Image\w* /,
    );
    assert.match(stuck.stderr, /kubectl -n tigera-operator logs deployment\/tigera-operator --tail=50/);
    const command = /kubectl (-n calico-system describe pod calico-node-\S+)/.exec(stuck.stderr)?.[1] ?? assert.fail(text(stuck));
    const shown = await cluster.plane.kubectl(command.split(' '));
    assert.equal(shown.exitCode, 0, shown.stderr);
    assert.match(shown.stdout, /node-02/);
  });

  it('ends well with the same command once the node is mended', async () => {
    await cluster.plane.fault('node-02', 'none');
    const pods = 'pods -n calico-system -l k8s-app=calico-node';
    await until('the agents run', async () => !(await cluster.read(pods, '{.items[*].status.phase}')).includes('Pending'));
    const done = await cluster.upgrade(...RUN);
    assert.equal(done.exitCode, 0, text(done));
    assert.equal(await cluster.read('installations default', '{.status.calicoVersion}'), 'v3.32.1');
  });
});
