import { join } from 'node:path';
import { execa } from 'execa';
import { installedCluster } from '../test/support/installed-cluster.ts';
import { manifestFile, releases } from '../test/support/releases.ts';
import { program, surroundingsEnv } from '../test/support/upgrade-process.ts';
import { type Command, interleave, ratioTable, type Section } from './measure.ts';

const FROM = 'v3.27.5';
const TARGET = 'v3.32.1';
const FILE = 'calico-typha.yaml';

/** How long a command waits for nothing but itself: no request is under way. Of medians by themselves. */
export async function besideRequests(command: Command, rounds: number): Promise<string> {
  const runs: { readonly seconds: number; readonly beside: number; readonly requests: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const begun = performance.now();
    const spans: (readonly [number, number])[] = [];
    const child = execa(command.program, [...command.args, '-v', '6'], { env: { ...command.env }, stdin: 'ignore', reject: false });
    for await (const line of child.iterable({ from: 'stderr' })) {
      const took = / in (\d+) milliseconds/.exec(line)?.[1];
      const now = performance.now() - begun;
      if (took !== undefined) spans.push([now - Number(took), now]);
    }
    await child;
    const whole = performance.now() - begun;
    runs.push({ seconds: whole / 1000, beside: (whole - covered(spans)) / 1000, requests: spans.length });
  }
  const median = (pick: (run: (typeof runs)[number]) => number) => runs.map(pick).toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0;
  const [seconds, beside, requests] = [median((run) => run.seconds), median((run) => run.beside), median((run) => run.requests)];
  return `${command.name}: ${beside.toFixed(2)} s of ${seconds.toFixed(2)} s beside its ${requests} requests, medians of ${rounds}`;
}

/** Milliseconds that lie in at least one of the spans. */
function covered(spans: readonly (readonly [number, number])[]): number {
  let [sum, until] = [0, Number.NEGATIVE_INFINITY];
  for (const [start, end] of spans.toSorted(([a], [b]) => a - b)) {
    sum += Math.max(0, end - Math.max(start, until));
    until = Math.max(until, end);
  }
  return sum;
}

/** The plan of the apply stage on a live cluster beside `kubectl diff --server-side` of the same file. */
export async function planAndDiff(): Promise<Section> {
  const cluster = await installedCluster({ manifest: manifestFile(FROM, FILE), nodes: 4 });
  try {
    const env = surroundingsEnv(cluster.around);
    const target = join(releases, TARGET, 'manifests', FILE);
    const diff = {
      name: '`kubectl diff --server-side`',
      program: cluster.around.kubectl,
      args: ['diff', '--server-side', '--force-conflicts', '-f', target],
      env,
      expect: [1],
    };
    const flags = ['--release', TARGET, '--manifest-url', releases];
    const plan = (name: string, ...args: readonly string[]) => ({ name, program, args: [...args, ...flags], env, expect: [0, 3, 8] });
    const stage = plan('`plan --from apply --through apply`', 'plan', '--from', 'apply', '--through', 'apply');
    const chain = plan('`plan` of the whole chain', 'plan', '--skip', 'cli');
    return {
      title: 'Plan beside kubectl diff',
      aim: 'at most 2× the time of `kubectl diff --server-side` of the same file in the same run; at most 1.0 s beside its requests',
      lines: [...ratioTable(await interleave([diff, stage, chain], 5)), '', await besideRequests(chain, 5)],
    };
  } finally {
    await cluster.stop();
  }
}
