import assert from 'node:assert/strict';
import { until } from '../control-plane/until.ts';
import { type Cluster, COMMIT, HELD, NODES, newOn, OWN, opened, RUN, strategy } from '../support/canary-cluster.ts';
import { within } from '../support/installed-cluster.ts';
import { addressesOf, TUNNEL } from '../support/ipam-objects.ts';
import { killedAt, told } from '../support/upgrade-process.ts';

async function withVariable({ read }: Cluster): Promise<readonly string[]> {
  const fields = '{range .items[*]}{.spec.nodeName} {.spec.containers[0].env[*].name}{"\\n"}{end}';
  const text = await read('pods -n kube-system -l k8s-app=calico-node', fields);
  const lines = text.split('\n').filter((line) => line.includes(' TESTED'));
  return lines.map((line) => line.split(' ')[0] ?? '').toSorted();
}

/** Blocks, affinities and handles as agents write them; the tunnel address of one node is in none. */
async function giveAddresses({ plane }: Cluster, loose: string): Promise<void> {
  const nodes = Array.from({ length: NODES }, (_, index) => `node-0${index + 1}`);
  const items = nodes.flatMap((node, index) => addressesOf(node, index, { isLoose: node === loose }));
  // As agents do: kubectl validates before it asks the server, and takes no null in a list.
  for (const { plural, object } of items) await plane.api.send('POST', `/apis/crd.projectcalico.org/v1/${plural}`, object);
  for (const [index, node] of nodes.entries()) {
    const { exitCode, stderr } = await plane.kubectl(['annotate', 'node', node, `${TUNNEL}=10.244.${index}.0`]);
    assert.equal(exitCode, 0, stderr);
  }
}

/** A canary that goes well. One that fails, and more stories, are in test/full; the sandbox has them all, and kills at every write. */
describe('a canary on a real control plane', function () {
  this.timeout(300_000);

  it('stops after its node, says so, and commit continues, at a pace of its own, which the next run puts back after SIGKILL', () =>
    within(opened(), async (cluster) => {
      await giveAddresses(cluster, 'node-01');
      const before = await cluster.upgrade('preflight', ...RUN.slice(4));
      assert.match(told(before), /NS-511 1 tunnel address without an allocation: node-01 10\.244\.0\.0$/m);
      const stopped = await cluster.upgrade(...RUN, '--canary', 'node-03');
      assert.equal(stopped.exitCode, 5, told(stopped));
      assert.match(stopped.stderr, /the canary runs: 1 of 5 agents has v\S+ and is ready \(node-03\)/);
      assert.match(told(stopped), /continue, with all other agents: kubectl netsvc-upgrade commit/);
      assert.deepEqual([await newOn(cluster), await strategy(cluster)], [['node-03'], HELD]);
      const status = await cluster.upgrade('status');
      assert.match(
        status.stdout,
        /for this run alone: OnDelete: new nodes, and agents that somebody deletes, get the release that the run installs/,
      );
      // Nothing is wrong with agents that are held on purpose: no wait for them, and no cause to be fixed.
      assert.match(status.stdout, /\nNext: kubectl .*-n kube-system get pods -o wide -l \S+$/);
      assert.doesNotMatch(status.stdout, /cause is fixed/);
      const again = await cluster.upgrade(...RUN, '--canary', 'node-03');
      assert.deepEqual([again.exitCode, await newOn(cluster)], [5, ['node-03']], told(again));
      // Another template with the same image: the agent of the canary is of the former one.
      const set = await cluster.plane.kubectl(['-n', 'kube-system', 'set', 'env', 'daemonset/calico-node', 'TESTED=yes']);
      assert.equal(set.exitCode, 0, set.stderr);
      const untried = await cluster.upgrade(...COMMIT);
      assert.deepEqual([untried.exitCode, await newOn(cluster), await strategy(cluster)], [5, ['node-03'], HELD], told(untried));
      assert.match(told(untried), /no agent has the template that DaemonSet kube-system\/calico-node has now/);
      const edited = await cluster.upgrade(...RUN, '--canary', 'node-03');
      assert.deepEqual([edited.exitCode, await newOn(cluster), await withVariable(cluster)], [5, ['node-03'], ['node-03']], told(edited));
      await cluster.plane.addNodes(1);
      await until('the node that joined has an agent', async () => (await newOn(cluster)).length === 2);
      await killedAt([...COMMIT, '--max-unavailable', '3'], cluster.around, /wait for DaemonSet\/calico-node/);
      assert.equal(await strategy(cluster), OWN.replace('"maxUnavailable":1', '"maxUnavailable":3'));
      const paced = await cluster.upgrade('status');
      assert.match(
        paced.stdout,
        /update strategy of DaemonSet\/kube-system\/calico-node, for this run alone: RollingUpdate, maxUnavailable 3\./,
      );
      const went = await cluster.upgrade(...COMMIT);
      assert.equal(went.exitCode, 0, told(went));
      assert.deepEqual([(await newOn(cluster)).length, await strategy(cluster)], [NODES + 1, OWN]);
      // What the run kept of the bookkeeping of addresses is compared by whoever verifies later.
      const VERIFY = ['verify', ...RUN.slice(4)];
      const asBefore = await cluster.upgrade(...VERIFY);
      assert.doesNotMatch(told(asBefore), /× NS-314/);
      const { exitCode, stderr } = await cluster.plane.kubectl(['delete', 'ipamblocks.crd.projectcalico.org', '10-244-1-0-26']);
      assert.equal(exitCode, 0, stderr);
      const since = await cluster.upgrade(...VERIFY);
      assert.equal(since.exitCode, 3, told(since));
      assert.match(told(since), /× NS-314 since the upgrade began: 1 tunnel address without an allocation: node-02 10\.244\.1\.0$/m);
    }));
});
