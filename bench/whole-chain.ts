import { execa } from 'execa';
import { type InstalledCluster, installedCluster } from '../test/support/installed-cluster.ts';
import { manifestFile, ownReleases } from '../test/support/releases.ts';
import { surroundingsEnv } from '../test/support/upgrade-process.ts';
import type { Section } from './report.ts';

const SOURCE = manifestFile('v3.26.4', 'netsvc.yaml', ownReleases);
const TARGET = manifestFile('v3.32.2', 'netsvc.yaml', ownReleases);

const RELEASE = ['--skip', 'cli', '--profile', 'netsvc', '--manifest-url', ownReleases];

/** `run` against the documented commands in a shell script, each on a fresh cluster, in turns. */
export async function wholeChain(sizes: readonly number[], rounds: number): Promise<Section> {
  const lines = ['| nodes | documented commands, s | `run`, s | ratio | rounds |', '|---|---|---|---|---|'];
  for (const nodes of sizes) {
    const script: number[] = [];
    const run: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      script.push(await onFreshCluster(nodes, documented));
      run.push(await onFreshCluster(nodes, ours));
    }
    const [a, b] = [median(script), median(run)];
    lines.push(`| ${nodes} | ${a.toFixed(1)} | ${b.toFixed(1)} | ${(b / a).toFixed(2)}× | ${rounds} |`);
  }
  return { title: 'Whole chain', aim: 'at most 1.05× the documented commands with 100 nodes, 1.25× with 5', lines };
}

async function onFreshCluster(nodes: number, upgrade: (cluster: InstalledCluster) => Promise<void>): Promise<number> {
  const cluster = await installedCluster({ manifest: SOURCE, nodes });
  try {
    await used(cluster);
    const started = performance.now();
    await upgrade(cluster);
    return (performance.now() - started) / 1000;
  } finally {
    await cluster.stop();
  }
}

/** The machine of somebody who looks before: kubectl knows what the server serves, and this program is compiled. */
async function used({ around, upgrade }: InstalledCluster): Promise<void> {
  await execa(around.kubectl, ['get', 'nodes'], { env: surroundingsEnv(around), extendEnv: false });
  await upgrade('plan', ...RELEASE);
}

/** Apply and watch, as the procedure says (§4.4/2–3), with kubectl's own rollout watch. */
async function documented({ around }: InstalledCluster): Promise<void> {
  const script = [
    'set -e',
    'kubectl apply --server-side --force-conflicts -f "$1"',
    'kubectl rollout status -n kube-system daemonset/netsvc-node --timeout=30m',
    'kubectl rollout status -n kube-system deployment/netsvc-kube-controllers --timeout=30m',
    'kubectl get pods -n kube-system',
  ].join('\n');
  await execa('bash', ['-c', script, 'documented', TARGET], { env: surroundingsEnv(around), extendEnv: false });
}

async function ours(cluster: InstalledCluster): Promise<void> {
  const result = await cluster.upgrade('run', '--yes', ...RELEASE);
  if (result.exitCode !== 0) throw new Error(`run ended with ${result.exitCode}\n${result.stdout}\n${result.stderr}`);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
