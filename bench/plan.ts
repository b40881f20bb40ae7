import { join } from 'node:path';
import { installedCluster } from '../test/support/installed-cluster.ts';
import { manifestFile, releases } from '../test/support/releases.ts';
import { program, surroundingsEnv } from '../test/support/upgrade-process.ts';
import { interleave } from './measure.ts';
import { ratioTable, type Section } from './report.ts';

const FROM = 'v3.27.5';
const TARGET = 'v3.32.1';
const FILE = 'calico-typha.yaml';

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
    return {
      title: 'Plan beside kubectl diff',
      aim: 'at most 2× the time of `kubectl diff --server-side` of the same file in the same run',
      lines: ratioTable(await interleave([diff, stage, plan('`plan` of the whole chain', 'plan')], 5)),
    };
  } finally {
    await cluster.stop();
  }
}
