import { join } from 'node:path';
import { execa } from 'execa';
import { type InstalledCluster, installedCluster } from '../test/support/installed-cluster.ts';
import { manifestFile, ownReleases } from '../test/support/releases.ts';
import type { Section } from './report.ts';

const SOURCE = manifestFile('v3.26.4', 'netsvc.yaml', ownReleases);
const TARGET = manifestFile('v3.32.2', 'netsvc.yaml', ownReleases);

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
  return { title: 'Whole chain', aim: 'at most 1.15× the documented commands', lines };
}

async function onFreshCluster(nodes: number, upgrade: (cluster: InstalledCluster) => Promise<void>): Promise<number> {
  const cluster = await installedCluster({ manifest: SOURCE, nodes });
  try {
    const started = performance.now();
    await upgrade(cluster);
    return (performance.now() - started) / 1000;
  } finally {
    await cluster.stop();
  }
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
  const env = { KUBECONFIG: around.kubeconfig, PATH: `${join(around.kubectl, '..')}:${process.env.PATH ?? ''}` };
  await execa('bash', ['-c', script, 'documented', TARGET], { env });
}

async function ours(cluster: InstalledCluster): Promise<void> {
  const result = await cluster.upgrade('run', '--yes', '--skip', 'cli', '--profile', 'netsvc', '--manifest-url', ownReleases);
  if (result.exitCode !== 0) throw new Error(`run ended with ${result.exitCode}\n${result.stdout}\n${result.stderr}`);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
