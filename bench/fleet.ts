import { once } from 'node:events';
import { join } from 'node:path';
import { execa } from 'execa';
import { releases } from '../test/support/releases.ts';
import { program } from '../test/support/upgrade-process.ts';
import { type Section, sample } from './measure.ts';

const ASKED = ['--skip', 'cli', '--accept', 'NS-301', '--manifest-url', releases];

/**
 * The memory of whole processes on large fleets: `plan`, and `run --canary 1` until it stops for the user. The cluster is in the memory of
 * another process, as no machine of ours starts a control plane with so many nodes.
 */
export async function fleetOf(sizes: readonly number[]): Promise<Section> {
  const rows: string[] = [];
  for (const nodes of sizes) {
    const fleet = execa(process.execPath, [join(import.meta.dirname, 'fleet-program.ts'), String(nodes)], { stderr: 'inherit' });
    try {
      const [told] = (await once(fleet.stdout, 'data')) as [Buffer];
      const env = JSON.parse(String(told)) as Readonly<Record<string, string>>;
      const plan = await sample({ name: 'plan', program, args: ['plan', ...ASKED], env });
      const run = await sample({ name: 'run', program, args: ['run', '--yes', '--canary', '1', ...ASKED], env, expect: [5] });
      rows.push(`| ${nodes} | ${plan.peakMiB.toFixed(0)} | ${cpu(plan.cpuMs)} | ${run.peakMiB.toFixed(0)} | ${cpu(run.cpuMs)} |`);
    } finally {
      fleet.kill();
      await fleet.catch(() => undefined);
    }
  }
  return {
    title: 'memory on large fleets',
    aim: 'a whole run with a canary on 5,000 nodes within 150 MB, that is 143 MiB.',
    lines: ['| nodes | `plan`, peak MiB | CPU, s | `run --canary 1`, peak MiB | CPU, s |', '|---|---|---|---|---|', ...rows],
  };
}

const cpu = (ms: number): string => (ms / 1000).toFixed(1);
