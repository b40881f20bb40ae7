import assert from 'node:assert/strict';
import { NODE_PROBES } from '../../src/features/node-probe/job.ts';
import type { ApiList } from '../control-plane/api.ts';
import { until } from '../control-plane/until.ts';
import { installedCluster, shared } from '../support/installed-cluster.ts';
import { manifestFile, ownReleases } from '../support/releases.ts';
import { startUpgrade, upgrade } from '../support/upgrade-process.ts';

const FROM = 'v3.26.4';

interface Report {
  readonly findings: readonly {
    readonly id: string;
    readonly outcome: string;
    readonly message: string;
    readonly evidence: readonly { readonly text: string }[];
  }[];
}

describe('preflight --probe-nodes on a real control plane', function () {
  this.timeout(280_000);
  const cluster = shared(() => installedCluster({ manifest: manifestFile(FROM, 'netsvc.yaml', ownReleases), nodes: 3 }));

  const args = (...more: readonly string[]) => [
    ...['preflight', '--profile', 'netsvc', '--manifest-url', ownReleases, '--probe-nodes', 'all', '-o', 'json', '--fail-on', 'error'],
    ...more,
  ];
  const findingIn = (stdout: string, of = 'NS-221') => (JSON.parse(stdout) as Report).findings.find(({ id }) => id === of);
  const left = async () => {
    const query = `labelSelector=${encodeURIComponent(NODE_PROBES)}`;
    const { items } = await cluster.plane.api.get<ApiList>(`/apis/batch/v1/jobs?${query}`);
    return items.map(({ metadata }) => metadata.name);
  };

  it('needs --yes off a terminal, and creates nothing without it', async () => {
    const { exitCode } = await upgrade(args(), cluster.around);
    assert.deepEqual([exitCode, await left()], [64, []]);
  });

  it('has every node pull every image, and leaves nothing', async () => {
    const { stdout, stderr } = await upgrade(args('--yes'), cluster.around);
    const finding = findingIn(stdout);
    assert.equal(finding?.outcome, 'ok', stderr);
    assert.match(finding?.message ?? '', /pulled: \d images on 3 nodes/);
    assert.equal(findingIn(stdout, 'NS-431')?.message, '3 nodes tried: mounts, folders, ports and names');
    assert.deepEqual(await left(), []);
  });

  it('names the node that cannot pull', async () => {
    await cluster.plane.fault('node-02', 'image-pull');
    const { stdout, stderr, exitCode } = await upgrade(args('--yes', '--timeout=8s'), cluster.around);
    assert.equal(exitCode, 3, stderr);
    const finding = findingIn(stdout);
    assert.equal(finding?.outcome, 'error');
    assert.ok(
      finding?.evidence.every(({ text }) => text.startsWith('node-02 ')),
      JSON.stringify(finding),
    );
    assert.deepEqual(await left(), []);
  });

  it('is ended and deleted by the cluster after a kill -9', async () => {
    const killed = startUpgrade(args('--yes'), cluster.around);
    await until('the Jobs are there', async () => (await left()).length === 3);
    killed.kill('SIGKILL');
    await killed;
    const jobs = await left();
    assert.ok(jobs.length > 0);
    // The same fields with other numbers: nobody waits here for minutes.
    const sooner = '{"spec":{"activeDeadlineSeconds":1,"ttlSecondsAfterFinished":1}}';
    for (const job of jobs) await cluster.plane.kubectl(['patch', 'job', job, '-n', 'kube-system', '--type=merge', '-p', sooner]);
    await until('nothing is left of the probe', async () => (await left()).length === 0, 20_000);
  });

  it('selects no node: one message, and nothing is created', async () => {
    const wrong = args('--yes').map((one) => (one === 'all' ? 'zone=nowhere' : one));
    const { stderr, exitCode } = await upgrade(wrong, cluster.around);
    assert.equal(exitCode, 64, stderr);
    assert.match(stderr, /--probe-nodes zone=nowhere selects no node that agents of the target run on/);
    assert.deepEqual(await left(), []);
  });

  it('leaves nothing at Ctrl-C', async () => {
    const running = startUpgrade(args('--yes'), cluster.around);
    await until('the probe is there', async () => (await left()).length > 0);
    running.kill('SIGINT');
    assert.equal((await running).exitCode, 130);
    assert.deepEqual(await left(), []);
  });
});
