import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { installedCluster } from '../test/support/installed-cluster.ts';
import { manifestFile, ownReleases } from '../test/support/shared.ts';
import { program } from '../test/support/upgrade-process.ts';
import { interleave } from './measure.ts';
import { ratioTable, type Section } from './report.ts';

/** The shortest command that asks the cluster something, against kubectl asking for one object. */
export async function oneRequest(): Promise<Section> {
  const cluster = await installedCluster({ manifest: manifestFile('v3.26.4', 'netsvc.yaml', ownReleases), nodes: 1 });
  try {
    const { kubeconfig: json, kubectl, home } = cluster.around;
    // As people have it: the YAML that kubectl writes.
    const kubeconfig = join(home, 'config');
    const { stdout } = await execa(kubectl, ['config', 'view', '--raw', '-o', 'yaml', `--kubeconfig=${json}`]);
    await writeFile(kubeconfig, stdout, { mode: 0o600 });
    const env = { KUBECONFIG: kubeconfig, HOME: home, PATH: `${join(kubectl, '..')}:${process.env.PATH ?? ''}` };
    const figures = await interleave(
      [
        { name: '`kubectl get --raw`', program: kubectl, args: ['get', '--raw', '/api/v1/namespaces/kube-system'], env },
        { name: '`netsvc-upgrade unlock`', program, args: ['unlock'], env },
        { name: '`netsvc-upgrade status`', program, args: ['status', '--profile', 'netsvc'], env },
      ],
      15,
    );
    return { title: 'One request', aim: 'at most 2× kubectl and 90 MB', lines: ratioTable(figures) };
  } finally {
    await cluster.stop();
  }
}
