import assert from 'node:assert/strict';
import { until } from '../control-plane/until.ts';
import { shared } from '../support/installed-cluster.ts';
import { operatedCluster } from '../support/operated-cluster.ts';
import { releases } from '../support/releases.ts';
import { CALICO_OPERATOR, CALICO_TARGET, pattern } from '../support/target.ts';
import { assertSucceeded, told } from '../support/upgrade-process.ts';

const CALICO = ['--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases] as const;
const RUN = ['run', '--yes', '--skip', 'cli', ...CALICO] as const;
const NODES = ['node-01', 'node-02', 'node-03'];

/** One story: a node that cannot pull images holds the agents up; the wait names it and a command that works, and the same run ends once it is fixed. */
describe('a wait for an operator whose agents cannot start on one node, on a real control plane', function () {
  this.timeout(600_000);
  const cluster = shared(() => operatedCluster({ mode: 'well', pace: 0.5 }));

  it('names pod, namespace, image and a command where the operator itself cannot be pulled', async () => {
    for (const node of NODES) await cluster.plane.fault(node, 'image-pull');
    const stopped = await cluster.upgrade(...RUN);
    assert.equal(stopped.exitCode, 5, told(stopped));
    assert.match(
      stopped.stderr,
      pattern`: tigera-operator/tigera-operator-\S+: cannot pull quay\.io/tigera/operator:${CALICO_OPERATOR} \(`,
    );
    await shows(stopped, /^ {2}look {4}kubectl (-n tigera-operator describe pod \S+)$/m, /node-0\d/);
  });

  it('names node, pod, reason and a command that shows them, before any status, and the log of the operator', async () => {
    for (const node of NODES) await cluster.plane.fault(node, 'none');
    const operator = () =>
      cluster.read('deploy -n tigera-operator tigera-operator', '{.status.updatedReplicas}/{.status.availableReplicas}');
    await until('the operator runs', async () => (await operator()) === '1/1');
    // It waits for the lease of the old one before it rolls anything.
    await cluster.plane.fault('node-02', 'image-pull');
    const stuck = await cluster.upgrade(...RUN, '--timeout', '60s');
    assert.equal(stuck.exitCode, 124, told(stuck));
    assert.match(
      stuck.stderr,
      /the operator is not done after 60 s: DaemonSet\/calico-system\/calico-node: .* ready · node-02: calico-node-\S+ Pending \S+: \w*Image\w*/,
    );
    assert.match(stuck.stdout, /kubectl -n tigera-operator logs deployment\/tigera-operator --tail=50$/m);
    await shows(stuck, /^ {2}look {4}kubectl (-n calico-system describe pod \S+)$/m, /node-02/);
  });

  /** The command that a failure names works, and shows what it is about. */
  async function shows({ stdout }: { readonly stdout: string }, named: RegExp, words: RegExp): Promise<void> {
    const command = named.exec(stdout)?.[1] ?? assert.fail(stdout);
    const shown = await cluster.plane.kubectl(command.split(' '));
    assertSucceeded(shown);
    assert.match(shown.stdout, words);
  }

  it('ends well with the same command once the node is fixed', async () => {
    await cluster.plane.fault('node-02', 'none');
    const pods = 'pods -n calico-system -l k8s-app=calico-node';
    await until('the agents run', async () => !(await cluster.read(pods, '{.items[*].status.phase}')).includes('Pending'));
    assertSucceeded(await cluster.upgrade(...RUN));
    assert.equal(await cluster.read('installations default', '{.status.calicoVersion}'), CALICO_TARGET);
  });
});
