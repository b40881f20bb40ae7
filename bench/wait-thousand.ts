import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installedCluster } from '../test/support/installed-cluster.ts';
import { manifestFile, ownReleases } from '../test/support/shared.ts';
import { startUpgrade } from '../test/support/upgrade-process.ts';
import type { Section } from './report.ts';

const TARGET = manifestFile('v3.32.2', 'netsvc.yaml', ownReleases);

/** `wait` on many simulated nodes: how late its verdict is, how much memory and how many requests it takes. */
export async function waitThousand(nodes: number): Promise<Section> {
  const cluster = await installedCluster({
    manifest: manifestFile('v3.26.4', 'netsvc.yaml', ownReleases),
    nodes,
    maxMinutes: 60,
    audit: true,
  });
  try {
    await cluster.plane.kubectl([
      'patch',
      'ds',
      '-n',
      'kube-system',
      'netsvc-node',
      '-p',
      '{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":50}}}}',
    ]);
    await cluster.plane.kubectl(['apply', '--server-side', '--force-conflicts', '-f', TARGET]);
    const child = startUpgrade(
      ['wait', '--profile', 'netsvc', '--manifest-url', ownReleases, '--timeout', '30m'],
      cluster.around,
      1_800_000,
    );
    let peak = 0;
    const timer = setInterval(async () => {
      peak = Math.max(peak, await residentMiB(child.pid ?? 0));
    }, 200);
    const result = await child;
    const ended = Date.now();
    clearInterval(timer);
    if (result.exitCode !== 0) throw new Error(`wait ended with ${result.exitCode}\n${result.stderr}`);
    const delay = (ended - (await lastReady(cluster.plane.kubectl))) / 1000;
    return {
      title: `wait on ${nodes} nodes`,
      aim: 'verdict within 1 s of the last pod (times of the API are whole seconds), at most 150 MiB',
      lines: [
        '| nodes | verdict after last Ready, s | peak MiB |',
        '|---|---|---|',
        `| ${nodes} | ${delay.toFixed(1)} | ${peak.toFixed(0)} |`,
      ],
    };
  } finally {
    await cluster.stop();
  }
}

/** Resident memory of the process and its children, from /proc; 0 once they are gone. */
async function residentMiB(pid: number): Promise<number> {
  const kib = async (one: string) =>
    Number(/VmHWM:\s+(\d+)/.exec(await readFile(join('/proc', one, 'status'), 'utf8').catch(() => ''))?.[1] ?? 0);
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')).trim().split(' ').filter(Boolean);
  return Math.max(await kib(String(pid)), ...(await Promise.all(children.map(kib)))) / 1024;
}

async function lastReady(kubectl: (args: readonly string[]) => Promise<{ stdout: string }>): Promise<number> {
  const path = '{range .items[*]}{.status.conditions[?(@.type=="Ready")].lastTransitionTime}{"\\n"}{end}';
  const { stdout } = await kubectl(['get', 'pods', '-n', 'kube-system', '-l', 'k8s-app=netsvc-node', '-o', `jsonpath=${path}`]);
  return Math.max(
    ...stdout
      .trim()
      .split('\n')
      .map((line) => Date.parse(line)),
  );
}
