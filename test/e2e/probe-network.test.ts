import assert from 'node:assert/strict';
import { NETWORK_PROBES } from '../../src/features/network-probe/jobs.ts';
import { KEPT_PROBES } from '../../src/features/network-probe/kept-jobs.ts';
import type { ApiList } from '../control-plane/api.ts';
import { until } from '../control-plane/until.ts';
import { installedCluster, shared } from '../support/installed-cluster.ts';
import { manifestFile, ownReleases } from '../support/releases.ts';
import { assertSucceeded, startUpgrade, told } from '../support/upgrade-process.ts';

const NAMESPACE = 'probe';
const PROBE = ['--probe-network', '--probe-image', 'busybox:1.37', '--probe-namespace', NAMESPACE];
const FROM = ['--profile', 'netsvc', '--manifest-url', ownReleases];
const ACCOUNT = 'system:serviceaccount:probe:prober';

/** The simulated nodes have no network: every client ends as one that has reached the other. What is real are API server, admission and controllers.
 * Connections that break are in test/full: the sandbox has them as strictly. */
describe('--probe-network on a real control plane', function () {
  this.timeout(120_000);
  const cluster = shared(() => installedCluster({ manifest: manifestFile('v3.26.4', 'netsvc.yaml', ownReleases), nodes: 3 }));

  const kubectl = async (args: readonly string[], stdin?: string) => {
    const { exitCode, stdout, stderr } = await cluster.plane.kubectl(args, stdin);
    assert.equal(exitCode, 0, stderr);
    return stdout;
  };
  const left = async (kind: 'jobs' | 'pods') => {
    const path = `${kind === 'jobs' ? '/apis/batch/v1' : '/api/v1'}/namespaces/${NAMESPACE}/${kind}`;
    const lists = [NETWORK_PROBES, KEPT_PROBES].map((mark) =>
      cluster.plane.api.get<ApiList>(`${path}?labelSelector=${encodeURIComponent(mark)}`),
    );
    return (await Promise.all(lists)).flatMap(({ items }) => items.map(({ metadata }) => metadata.name));
  };
  const isClean = () =>
    until('nothing is left of the probe', async () => [...(await left('jobs')), ...(await left('pods'))].length === 0, 20_000);

  before(async () => {
    await kubectl(['create', 'namespace', NAMESPACE]);
    await kubectl(['label', 'namespace', NAMESPACE, 'pod-security.kubernetes.io/enforce=restricted']);
  });

  it('is admitted by the restricted level, tries both pairs of nodes, and leaves nothing', async () => {
    const result = await cluster.upgrade('run', '--yes', '--skip', 'cli', ...PROBE, ...FROM);
    assertSucceeded(result);
    assert.match(result.stderr, /^\S+ apply: {3}pods on node-\d+ \(upgraded\) and node-\d+ \((?:old|upgraded)\) reach each other/m);
    assert.match(result.stderr, /^\S+ wait: {3}pods on node-\d+ \(upgraded\) and node-\d+ \(upgraded\) reach each other/m);
    // Behind the simulated nodes is no kubelet that has logs.
    assert.equal(result.stderr.match(/Warning: no connections are kept: its log cannot be read: /g)?.length, 1, result.stderr);
    await isClean();
  });

  it('needs no more than the roles of wait and probe-network', async () => {
    await kubectl(['create', 'serviceaccount', 'prober', '-n', NAMESPACE]);
    for (const role of ['wait', 'probe-network']) {
      const place = role === 'wait' ? [] : ['--probe-namespace', NAMESPACE];
      const printed = await cluster.upgrade('permissions', '--for', role, ...place);
      await kubectl(['apply', '-f', '-'], printed.stdout);
      const name = `netsvc-upgrade-${role}`;
      const to = ['--serviceaccount=probe:prober'];
      await kubectl(['create', 'clusterrolebinding', name, `--clusterrole=${name}`, ...to]);
      for (const namespace of ['kube-system', ...(role === 'wait' ? [] : [NAMESPACE])])
        await kubectl(['create', 'rolebinding', name, '-n', namespace, `--role=${name}`, ...to]);
    }
    const result = await cluster.upgrade('wait', '--yes', ...PROBE, ...FROM, `--as=${ACCOUNT}`);
    assertSucceeded(result);
    assert.match(result.stderr, /reach each other, and resolve kubernetes\.default\.svc/);
    assert.doesNotMatch(told(result), /forbidden/i);
    await isClean();
  });

  it('is ended and deleted by the cluster after a kill -9, pods included', async () => {
    const child = startUpgrade(['wait', '--yes', ...PROBE, ...FROM], cluster.around);
    await until('the listeners run', async () => (await left('pods')).length >= 2);
    child.kill('SIGKILL');
    await child;
    const jobs = await left('jobs');
    assert.ok(jobs.length >= 2, jobs.join());
    // The same fields with other numbers: nobody waits here for five minutes.
    const sooner = '{"spec":{"activeDeadlineSeconds":1,"ttlSecondsAfterFinished":1}}';
    for (const job of jobs) await kubectl(['patch', 'job', job, '-n', NAMESPACE, '--type=merge', '-p', sooner]);
    await isClean();
  });
});
