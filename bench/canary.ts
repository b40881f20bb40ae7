import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunReport } from '../src/cli/documents.ts';
import { installedCluster } from '../test/support/installed-cluster.ts';
import { manifestFile, releases } from '../test/support/releases.ts';
import { program, surroundingsEnv } from '../test/support/upgrade-process.ts';
import { type Section, sample } from './measure.ts';

const SOAK_S = 20;

/**
 * A run with a canary on half of some simulated nodes: what the canary costs beside the rollout of as many nodes by the DaemonSet controller
 * in the same run, what the soak costs beside its own time, and the memory. Of many nodes only a hundredth is the canary.
 */
export async function canaryOn(nodes: number): Promise<Section> {
  const isFew = nodes >= 500;
  const cluster = await installedCluster({
    manifest: manifestFile('v3.27.5', 'calico.yaml', releases),
    nodes,
    maxMinutes: 30 + nodes / 50,
    requestsPerSecond: 400,
  });
  const folder = await mkdtemp(join(tmpdir(), 'bench-canary-'));
  try {
    const report = join(folder, 'report.json');
    const pace = isFew ? ['--max-unavailable', '50'] : [];
    const args = ['run', '--yes', '--skip', 'cli', '--accept', 'NS-301', '--manifest-url', releases, '--report-file', report];
    const canary = ['--canary', isFew ? '1%' : '50%', '--soak', `${SOAK_S}s`, ...pace, '--timeout', '60m'];
    const figures = await sample({ name: 'run', program, args: [...args, ...canary], env: surroundingsEnv(cluster.around) });
    const { history } = JSON.parse(await readFile(report, 'utf8')) as RunReport;
    const seconds = (id: string) => (history?.actions.find((one) => one.id === id)?.durationMs ?? Number.NaN) / 1000;
    // The looks at new pods and agents are part of it.
    const soak = seconds('soak') + seconds('look-canary') + seconds('judge');
    const [own, rest] = [seconds('canary'), seconds('wait-agents')];
    return {
      title: `canary on ${nodes} nodes`,
      aim: 'at most a rollout of as many nodes plus 2 s; the soak at most its time plus 1 s; at most 150 MiB.',
      lines: [
        '| nodes | of them canary | canary, s | the others by the DaemonSet controller, s | soak beside its time, s | peak MiB |',
        '|---|---|---|---|---|---|',
        `| ${nodes} | ${isFew ? '1%' : '50%'} | ${own.toFixed(1)} | ${rest.toFixed(1)} | ${(soak - SOAK_S).toFixed(1)} | ${figures.peakMiB.toFixed(0)} |`,
      ],
    };
  } finally {
    await cluster.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
