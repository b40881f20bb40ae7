import assert from 'node:assert/strict';
import { type Cluster, COMMIT, HELD, newOn, RUN, strategy } from '../support/canary-cluster.ts';
import { installedCluster, within } from '../support/installed-cluster.ts';
import { manifestFile, releases } from '../support/releases.ts';
import { told } from '../support/upgrade-process.ts';

const NODES = 1000;
const CANARY = NODES / 100;
const ZONES = ['a', 'b', 'c'];
const LIMIT_MS = 2_400_000;

/** Of the DaemonSet, the most that were unavailable at a time; until the end of the work. */
async function worstDuring({ plane: { api } }: Cluster, work: () => Promise<void>): Promise<number> {
  const end = new AbortController();
  let worst = 0;
  const following = api.follow(
    '/apis/apps/v1/namespaces/kube-system/daemonsets',
    ({ status }) => {
      worst = Math.max(worst, (status as { readonly numberUnavailable?: number } | undefined)?.numberUnavailable ?? 0);
    },
    end.signal,
  );
  await work().finally(() => end.abort());
  await following;
  return worst;
}

/** Simulated nodes, under a real API server, DaemonSet controller and scheduler. */
describe(`a canary of 1 % on ${NODES} nodes of a real control plane`, function () {
  this.timeout(LIMIT_MS);

  it('touches no further node once an agent fails, then ten over all zones, no more at a time than may be away', () =>
    within(installedCluster({ manifest: manifestFile('v3.27.5', 'calico.yaml', releases), nodes: NODES }), async (cluster) => {
      const { plane } = cluster;
      const names = (await cluster.read('nodes', '{range .items[*]}{.metadata.name}{"\\n"}{end}')).trim().split('\n');
      const bad = names[4] ?? '';
      // Before the simulator has a thousand changes of nodes to see.
      await plane.fault(bad, 'crash-loop');
      const zoneOf = (name: string) => ZONES[names.indexOf(name) % ZONES.length];
      const labelled = (name: string) => ({ metadata: { labels: { 'topology.kubernetes.io/zone': zoneOf(name) } } });
      const label = (name: string) => plane.api.send('PATCH', `/api/v1/nodes/${name}`, labelled(name), 'application/merge-patch+json');
      await Promise.all(names.map(label));
      const worst = await worstDuring(cluster, async () => {
        const failed = await cluster.upgrade(...RUN, '--canary', '1%', '--timeout', '10m');
        assert.equal(failed.exitCode, 5, told(failed));
        assert.match(failed.stderr, new RegExp(`the canary failed: 1 pod failed, more than --max-failed=0: ${bad}: `));
        const touched = await newOn(cluster);
        assert.ok(touched.includes(bad) && touched.length < CANARY, touched.join());
        const refused = await cluster.upgrade(...COMMIT, '--timeout', '40s');
        assert.equal(refused.exitCode, 5, told(refused));
        assert.deepEqual([await newOn(cluster), await strategy(cluster)], [touched, HELD]);
        await plane.fault(bad, 'none');
        const agent = ['delete', 'pod', '-l', 'k8s-app=calico-node', '--field-selector', `spec.nodeName=${bad}`];
        await plane.kubectl(['-n', 'kube-system', ...agent]);
        const held = await cluster.upgrade(...RUN, '--canary', '1%', '--timeout', '10m');
        assert.equal(held.exitCode, 5, told(held));
        assert.match(held.stderr, new RegExp(`the canary runs: ${CANARY} of ${NODES} agents`));
      });
      const fresh = await newOn(cluster);
      assert.deepEqual([fresh.length, await strategy(cluster), worst], [CANARY, HELD, 1], fresh.join());
      const zones = Map.groupBy(fresh, zoneOf);
      assert.deepEqual([...zones.values()].map(({ length }) => length).toSorted(), [3, 3, 4]);
    }));
});
