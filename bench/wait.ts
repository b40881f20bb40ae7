import { everyPodRuns } from '../test/control-plane/install.ts';
import { type InstalledCluster, installedCluster } from '../test/support/installed-cluster.ts';
import { manifestFile, ownReleases } from '../test/support/releases.ts';
import { NETSVC_TARGET } from '../test/support/target.ts';
import { program, surroundingsEnv } from '../test/support/upgrade-process.ts';
import { type Section, sample } from './measure.ts';
import { requestsOf, requestsText } from './requests.ts';
import { watchReady } from './watch-ready.ts';

const WAIT = ['wait', '--profile', 'netsvc', '--manifest-url', ownReleases, '--timeout', '90m'];
/** One agent at a time, as the manifest says, would measure the DaemonSet controller for ten minutes. */
const AT_ONCE = { spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 50 } } } };

/** `wait` on many simulated nodes: how late its verdict is, how much memory, CPU and how many requests it takes. */
export async function waitOn(nodes: number): Promise<Section> {
  const cluster = await installedCluster({
    manifest: manifestFile('v3.26.4', 'netsvc.yaml', ownReleases),
    nodes,
    // A thousand nodes take a minute to come up, and their pods two to be replaced.
    maxMinutes: 30 + nodes / 100,
    audit: 'requests',
    // Else the controllers' own limit, not the API server, decides how long a thousand pods take.
    requestsPerSecond: 400,
  });
  try {
    const { seconds, figures, late } = await measure(cluster);
    const requests = await requestsOf(cluster.plane.auditLog);
    return {
      title: `wait on ${nodes} nodes`,
      aim: 'verdict (end of the process) within 1 s of the last pod, at most 150 MiB.',
      lines: [
        '| nodes | rollout, s | counted by the controller after the last Ready, s | verdict after the last Ready, s | CPU, s | peak MiB | requests | runs |',
        '|---|---|---|---|---|---|---|---|',
        `| ${nodes} | ${seconds.toFixed(0)} | ${late.counted.toFixed(1)} | ${late.verdict.toFixed(1)} | ${(figures.cpuMs / 1000).toFixed(1)} | ${figures.peakMiB.toFixed(0)} | ${requestsText(requests)} | 1 |`,
      ],
    };
  } finally {
    await cluster.stop();
  }
}

async function measure({ plane, around }: InstalledCluster) {
  const ready = watchReady(plane.api, 'kube-system', 'netsvc-node');
  try {
    const started = Date.now();
    const applied = await plane.kubectl([
      'apply',
      '--server-side',
      '--force-conflicts',
      '-f',
      manifestFile(NETSVC_TARGET, 'netsvc.yaml', ownReleases),
    ]);
    if (applied.exitCode !== 0) throw new Error(applied.stderr);
    await plane.api.send('PATCH', '/apis/apps/v1/namespaces/kube-system/daemonsets/netsvc-node', AT_ONCE);
    const figures = await sample({ name: 'wait', program, args: WAIT, env: surroundingsEnv(around) });
    const ended = Date.now();
    if (!(await everyPodRuns(plane.api))) throw new Error('wait ended before every pod ran');
    const { lastReady, lastCounted } = ready.seen();
    const late = { counted: (lastCounted - lastReady) / 1000, verdict: (ended - lastReady) / 1000 };
    return { seconds: (lastReady - started) / 1000, figures, late };
  } finally {
    await ready.stop();
  }
}
