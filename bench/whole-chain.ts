import { execa } from 'execa';
import { type InstalledCluster, installedCluster } from '../test/support/installed-cluster.ts';
import { manifestFile, ownReleases } from '../test/support/releases.ts';
import { NETSVC_TARGET } from '../test/support/target.ts';
import { surroundingsEnv } from '../test/support/upgrade-process.ts';
import type { Section } from './measure.ts';

const SOURCE = manifestFile('v3.26.4', 'netsvc.yaml', ownReleases);
const TARGET = manifestFile(NETSVC_TARGET, 'netsvc.yaml', ownReleases);

const RELEASE = ['--skip', 'cli', '--profile', 'netsvc', '--manifest-url', ownReleases];

/** `run` against the documented commands in a shell script, each on a fresh cluster, in turns. */
export async function wholeChain(sizes: readonly number[], rounds: number): Promise<Section> {
  const lines = [
    '| nodes | documented commands, s | the same after a backup and the search of §4.8, s | `run`, s | ratio to the first | to the second | rounds |',
    '|---|---|---|---|---|---|---|',
  ];
  for (const nodes of sizes) {
    const [script, whole, run]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round < rounds; round += 1) {
      script.push(await onFreshCluster(nodes, (cluster) => documented(cluster, APPLY)));
      whole.push(await onFreshCluster(nodes, (cluster) => documented(cluster, [...BEFORE, ...APPLY])));
      run.push(await onFreshCluster(nodes, ours));
    }
    const [a, b, c] = [median(script), median(whole), median(run)];
    const seconds = [a, b, c].map((one) => one.toFixed(1)).join(' | ');
    lines.push(`| ${nodes} | ${seconds} | ${(c / a).toFixed(2)}× | ${(c / b).toFixed(2)}× | ${rounds} |`);
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
const APPLY = [
  'kubectl apply --server-side --force-conflicts -f "$1"',
  'kubectl rollout status -n kube-system daemonset/netsvc-node --timeout=30m',
  'kubectl rollout status -n kube-system deployment/netsvc-kube-controllers --timeout=30m',
  'kubectl get pods -n kube-system',
];

/** What is there, and whether an object has an owner in the service's v3 group: the procedure asks for that before any path (§4.8). */
const BEFORE = [
  'kubectl get -f "$1" --ignore-not-found -o yaml > "$HOME/before.yaml"',
  'for kind in $(kubectl api-resources --verbs=list -o name); do kubectl get "$kind" -A -o json > "$HOME/kind.json"; grep -c "netsvc.io/v3" "$HOME/kind.json" || true; done',
];

async function documented({ around }: InstalledCluster, commands: readonly string[]): Promise<void> {
  const script = ['set -e', ...commands].join('\n');
  await execa('bash', ['-c', script, 'documented', TARGET], { env: surroundingsEnv(around), extendEnv: false });
}

async function ours(cluster: InstalledCluster): Promise<void> {
  const result = await cluster.upgrade('run', '--yes', ...RELEASE);
  if (result.exitCode !== 0) throw new Error(`run ended with ${result.exitCode}\n${result.stdout}\n${result.stderr}`);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
