import assert from 'node:assert/strict';
import { NETWORK_PROBES } from '../../src/features/network-probe/jobs.ts';
import type { ApiList, ApiObject } from '../control-plane/api.ts';
import { until } from '../control-plane/until.ts';
import { chartCluster, flagsOf } from '../support/chart-cluster.ts';
import { type InstalledCluster, installedCluster, shared } from '../support/installed-cluster.ts';
import { needsHelm } from '../support/needs-helm.ts';
import { TYPHA } from '../support/operated-bench.ts';
import { operatedCluster } from '../support/operated-cluster.ts';
import { manifestFile, ownReleases, releases } from '../support/releases.ts';
import { startUpgrade, told, untilSaid } from '../support/upgrade-process.ts';

interface ProbedPath<C extends InstalledCluster> {
  /** `where an operator …`. */
  readonly title: string;
  /** Skips the suite where its programs cannot be had. */
  readonly start: (suite: Mocha.Context) => Promise<C>;
  readonly flags: (cluster: C) => readonly string[];
}

const NAMESPACE = 'probe';
const PROBE = ['--probe-network', '--probe-image', 'busybox:1.37', '--probe-namespace', NAMESPACE];
const AGENTS = 'daemonset -n calico-system calico-node';
const UPGRADED = 'node-02';
/** The rollout is held so. */
const HELD = ['--accept', 'NS-407=DaemonSet/calico-system/calico-node'];

const nodeOf = (object: ApiObject) => /node-\d\d/.exec(JSON.stringify(object.spec))?.[0];

/** One story: the rollout is held at one node, whose new pods lack the network; the wait stops there, and the same command ends well once it is repaired. */
function describeNetworkProbe<C extends InstalledCluster>({ title, start, flags }: ProbedPath<C>): void {
  describe(`run --probe-network ${title}, on a real control plane`, function () {
    this.timeout(600_000);
    let cluster: C;
    const end = new AbortController();
    /** Every Job of the program in any namespace, by its UID. */
    const jobs = new Map<string, ApiObject>();

    before(async function () {
      this.timeout(0); // the very first run builds helm
      cluster = await start(this);
      await kubectl('create', 'namespace', NAMESPACE);
      await kubectl('label', 'namespace', NAMESPACE, 'pod-security.kubernetes.io/enforce=restricted');
      const path = `/apis/batch/v1/jobs?labelSelector=${encodeURIComponent(NETWORK_PROBES)}`;
      void cluster.plane.api.follow(path, (job) => jobs.set(job.metadata.uid, job), end.signal);
    });
    after(async () => {
      end.abort();
      await cluster?.stop();
    });

    const run = (...more: readonly string[]) => ['run', '--yes', '--skip', 'cli', ...HELD, ...flags(cluster), ...more];
    const kubectl = async (...args: readonly string[]) => {
      const { exitCode, stdout, stderr } = await cluster.plane.kubectl(args);
      assert.equal(exitCode, 0, stderr);
      return stdout;
    };
    const replacedBy = (type: 'OnDelete' | 'RollingUpdate') => {
      const updateStrategy = type === 'OnDelete' ? { type, rollingUpdate: null } : { type };
      return kubectl('patch', ...AGENTS.split(' '), '--type=merge', '-p', JSON.stringify({ spec: { updateStrategy } }));
    };
    const agentOn = async (node: string) => {
      const path = '/api/v1/namespaces/calico-system/pods?labelSelector=k8s-app%3Dcalico-node';
      const { items } = await cluster.plane.api.get<ApiList>(path);
      return items.find((pod) => nodeOf(pod) === node) ?? assert.fail(`no agent on ${node}`);
    };
    const nothingLeft = async () => {
      const [left, pods] = await Promise.all(
        ['jobs', 'pods'].map((kind) => kubectl('get', kind, '-A', '-l', NETWORK_PROBES, '-o', 'name')),
      );
      assert.equal(left, '');
      if (pods !== '')
        await until('the pods of the probe are gone', async () => (await kubectl('get', 'pods', '-n', NAMESPACE, '-o', 'name')) === '');
    };

    it('waits for the first upgraded agent, and creates no Job before', async () => {
      await replacedBy('OnDelete');
      const waiting = await cluster.upgrade(...run('--timeout', '20s', ...PROBE));
      assert.equal(waiting.exitCode, 124, told(waiting));
      assert.match(await cluster.read(AGENTS, '{.spec.template.spec.containers[0].image}'), /:v3\.32\.1$/);
      assert.equal(jobs.size, 0);
    });

    it('stops where a pod of the upgraded node does not reach one of an old node, and leaves no Job', async () => {
      const { name, uid } = (await agentOn(UPGRADED)).metadata;
      await kubectl('delete', 'pod', '-n', 'calico-system', name);
      await until('the new agent is ready', async () => {
        const pod = await agentOn(UPGRADED).catch(() => undefined);
        return (
          pod !== undefined &&
          pod.metadata.uid !== uid &&
          /"type":"Ready","status":"True"|"status":"True","type":"Ready"/.test(JSON.stringify(pod.status))
        );
      });
      // From here on a pod that starts there runs, and ends only as it is told here.
      await cluster.plane.fault(UPGRADED, 'not-ready');
      const failing = new AbortController();
      const answered = failClients(failing.signal);
      const stopped = await cluster.upgrade(...run(...PROBE));
      failing.abort();
      await answered;
      assert.equal(stopped.exitCode, 5, told(stopped));
      assert.match(stopped.stderr, /a new pod on node-02 \(upgraded\) does not reach a pod on node-0[13] \(old\)/);
      const agent = (await agentOn(UPGRADED)).metadata.name;
      assert.match(stopped.stdout + stopped.stderr, new RegExp(`kubectl -n calico-system logs ${agent} -c calico-node --tail=50`));
      assert.doesNotMatch(told(stopped), /to hold it/, 'the operator would undo it');
      await nothingLeft();
    });

    it('probed an upgraded and an old node, and then old ones alone, in the namespace that was given', () => {
      const all = [...jobs.values()];
      assert.deepEqual([...new Set(all.map(({ metadata }) => metadata.namespace))], [NAMESPACE]);
      const first = all.slice(0, 4).map(nodeOf);
      assert.deepEqual([first.filter((node) => node === UPGRADED).length, new Set(first).size], [2, 2]);
      assert.ok(all.length > 4 && all.slice(4).every((job) => nodeOf(job) !== UPGRADED));
    });

    it('is done by the same command once the node is repaired: between, and at the end', async () => {
      await cluster.plane.fault(UPGRADED, 'none');
      const child = startUpgrade(run(...PROBE), cluster.around);
      await untilSaid(child, /pods on node-02 \(upgraded\) and node-0[13] \(old\) reach each other/);
      await replacedBy('RollingUpdate');
      const done = await child;
      const said = told({ exitCode: done.exitCode, stdout: done.stdout, stderr: done.stderr });
      assert.equal(done.exitCode, 0, said);
      assert.match(done.stderr, /^wait: {3}pods on node-0\d \(upgraded\) and node-0\d \(old\) reach each other, and resolve/m);
      assert.match(done.stderr, /^wait: {3}pods on node-0\d \(upgraded\) and node-0\d \(upgraded\) reach each other, and resolve/m);
      assert.equal(await cluster.read('installations.operator.tigera.io default', '{.status.calicoVersion}'), 'v3.32.1');
      await nothingLeft();
    });

    /** Every client on the upgraded node ends as one that got no answer. */
    async function failClients(signal: AbortSignal): Promise<void> {
      const path = `/api/v1/namespaces/${NAMESPACE}/pods`;
      const seen = new Set<string>();
      await cluster.plane.api.follow(
        path,
        (pod) => {
          const { name, uid } = pod.metadata;
          const { phase } = pod.status as { readonly phase?: string };
          if (!name.includes('-client-') || nodeOf(pod) !== UPGRADED || phase !== 'Running' || seen.has(uid)) return;
          seen.add(uid);
          const terminated = { exitCode: 20, reason: 'Error', message: 'no answer' };
          const ended = { name: 'probe', image: 'busybox:1.37', imageID: '', ready: false, restartCount: 0, state: { terminated } };
          void cluster.plane.api.send('PATCH', `${path}/${name}/status`, { status: { phase: 'Failed', containerStatuses: [ended] } });
        },
        signal,
      );
    }
  });
}

describe('wait --probe-network on a real control plane where its pods are not let in', function () {
  this.timeout(120_000);
  const cluster = shared(() => installedCluster({ manifest: manifestFile('v3.32.2', 'netsvc.yaml', ownReleases), nodes: 2 }));
  before(async () => {
    await cluster.plane.kubectl(['create', 'namespace', 'probe']);
  });

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
