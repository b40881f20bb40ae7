import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { everyPodRuns } from '../test/control-plane/install.ts';
import { type InstalledCluster, installedCluster } from '../test/support/installed-cluster.ts';
import { manifestFile, ownReleases } from '../test/support/releases.ts';
import { program, surroundingsEnv } from '../test/support/upgrade-process.ts';
import { kubeconfigOf } from './host-endpoints.ts';
import { sample } from './measure.ts';
import type { Section } from './report.ts';
import { requestsOf, requestsText } from './requests.ts';
import { watchReady } from './watch-ready.ts';

const WAIT = ['wait', '--profile', 'netsvc', '--manifest-url', ownReleases, '--timeout', '90m'];
/** One agent at a time, as the manifest says, would measure the DaemonSet controller for ten minutes. */
const AT_ONCE = { spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 50 } } } };

/** `wait` on many simulated nodes: how late its verdict is, how much memory, CPU and how many requests it takes. */
export async function waitThousand(nodes: number): Promise<Section> {
  const say = stopwatch();
  const cluster = await installedCluster({
    manifest: manifestFile('v3.26.4', 'netsvc.yaml', ownReleases),
    nodes,
    // A thousand nodes take a minute to come up, and their pods two to be replaced.
    maxMinutes: 30 + nodes / 100,
    audit: 'requests',
    // Else the controllers' own limit, not the API server, decides how long a thousand pods take.
    requestsPerSecond: 400,
  });
  say(`${nodes} nodes with agents`);
  try {
    const { seconds, figures, late } = await measure(cluster);
    say(`rolled and waited for, ${seconds.toFixed(0)} s`);
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

/** Nothing but heartbeats of nodes for so long, after the wait has settled. */
const QUIET_SECONDS = 60;
const SETTLE_MS = 5_000;
const PODS_PER_SECOND = 100;

/**
 * The same beside a server that answers from memory: CPU time and memory are the program's alone. First nothing happens for a minute, then the
 * pods roll.
 */
export async function waitServed(nodes: number): Promise<Section> {
  const folder = await mkdtemp(join(tmpdir(), 'wait-served-'));
  const args = [nodes, SETTLE_MS / 1000 + QUIET_SECONDS, PODS_PER_SECOND].map(String);
  const server = execa(process.execPath, [join(import.meta.dirname, 'rollout-server-program.ts'), ...args]);
  try {
    const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
    const next = async () => String((await lines.next()).value);
    const url = await next();
    const kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, kubeconfigOf(url));
    const waiting = execa(program, [...WAIT, '--release', 'v3.32.2'], {
      env: { HOME: folder, KUBECONFIG: kubeconfig },
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'ignore',
    });
    const follow = followed(waiting.pid ?? 0);
    const ended = waiting.then(() => Date.now());
    await next();
    await sleep(SETTLE_MS);
    const quiet = follow.seen().cpuMs;
    await next();
    const idle = (follow.seen().cpuMs - quiet) / (QUIET_SECONDS * 1000);
    const lastReady = Number((await next()).replace('ready ', ''));
    const late = ((await ended) - lastReady) / 1000;
    const { cpuMs, peakMiB } = follow.seen();
    const asked = (await (await fetch(`${url}/bench/requests`)).json()) as readonly [string, number][];
    return {
      title: `wait on ${nodes} nodes beside a server that answers from memory`,
      aim: 'verdict within 1 s of the last pod, 150 MB, one watch for each kind, 2 % of a core while nothing happens',
      lines: [
        '| nodes | verdict after the last Ready, s | idle, % of a core | CPU, s | peak MiB | lists of nodes and pods, pages | watches | runs |',
        '|---|---|---|---|---|---|---|---|',
        `| ${nodes} | ${late.toFixed(2)} | ${(idle * 100).toFixed(2)} | ${(cpuMs / 1000).toFixed(1)} | ${peakMiB.toFixed(0)} | ${count(asked, /^GET .*\/(?:nodes|pods) /)} | ${count(asked, /^watch /)} | 1 |`,
      ],
    };
  } finally {
    server.kill();
    await server.catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  }
}

const count = (asked: readonly [string, number][], name: RegExp) =>
  asked.filter(([one]) => name.test(one)).reduce((sum, [, times]) => sum + times, 0);

/** CPU time and peak memory of a process that runs, as the kernel tells them five times a second. */
function followed(pid: number): { seen(): { readonly cpuMs: number; readonly peakMiB: number } } {
  let seen = { cpuMs: 0, peakMiB: 0 };
  const timer = setInterval(() => {
    try {
      const [user = 0, system = 0] = (readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1] ?? '').split(' ').slice(11, 13).map(Number);
      const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
      // Ticks of a hundredth of a second.
      if (peak) seen = { cpuMs: (user + system) * 10, peakMiB: Number(peak) / 1024 };
    } catch {
      clearInterval(timer);
    }
  }, 200);
  return { seen: () => seen };
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
      manifestFile('v3.32.2', 'netsvc.yaml', ownReleases),
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

/** Says on stderr how long each part took. */
function stopwatch(): (part: string) => void {
  let last = Date.now();
  return (part) => {
    process.stderr.write(`  ${part}: ${((Date.now() - last) / 1000).toFixed(0)} s\n`);
    last = Date.now();
  };
}
