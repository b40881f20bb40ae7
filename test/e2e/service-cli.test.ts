import { join } from 'node:path';
import { execa } from 'execa';
import { type CliUnderTest, describeServiceCli } from '../spec/service-cli-spec.ts';
import { type InstalledCluster, installedCluster } from '../support/installed-cluster.ts';
import { describeWhere } from '../support/needs.ts';
import { manifestFile } from '../support/releases.ts';
import { clientRelease, installClusterCli, realCli, WITHOUT_REAL_CLI } from '../support/service-cli.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';

const GROUP = 'projectcalico.org';
const RELEASE = 'v3.32.1';
const settings = { apiVersion: `crd.${GROUP}/v1`, kind: 'KubeControllersConfiguration', metadata: { name: 'default' } };

async function kubectl(cluster: InstalledCluster, args: readonly string[], stdin?: string): Promise<void> {
  assertSucceeded(await cluster.plane.kubectl(args, stdin));
}

/** On a control plane with the service's own CRDs, which says that it is of the CLI's release. */
async function open(cli: string | undefined): Promise<CliUnderTest> {
  const cluster = await installedCluster({ manifest: manifestFile(RELEASE, 'calico.yaml'), nodes: 1 });
  try {
    const client = cli === undefined ? RELEASE : await clientRelease(cli);
    const version = JSON.stringify({ spec: { calicoVersion: client } });
    const spec = { controllers: { node: { syncLabels: 'Enabled' } } };
    await kubectl(cluster, ['patch', `clusterinformations.crd.${GROUP}`, 'default', '--type=merge', '-p', version]);
    await kubectl(cluster, ['create', '-f', '-'], JSON.stringify({ ...settings, spec }));
    const file = cli ?? join(cluster.around.home, 'cli', 'calicoctl');
    if (cli === undefined) await installClusterCli(cluster, file, { group: GROUP, client });
    const env = { DATASTORE_TYPE: 'kubernetes', KUBECONFIG: cluster.around.kubeconfig };
    return {
      async run(args, stdin = '') {
        const { stdout, stderr, exitCode } = await execa(file, [...args], { input: stdin, env, reject: false, timeout: 30_000 });
        return { stdout, stderr, exitCode };
      },
      stored: (resource, jsonPath) => cluster.read(`${resource}.crd.${GROUP}`, jsonPath),
      stop: cluster.stop,
    };
  } catch (thrown) {
    await cluster.stop();
    throw thrown;
  }
}

for (const [title, cli, isReal] of [
  ['the stand-in of the tests', undefined, false],
  ['the real one', realCli, true],
] as const) {
  const problem = isReal && cli === undefined ? WITHOUT_REAL_CLI : undefined;
  describeWhere(problem, `the service's CLI: ${title}`, () => describeServiceCli(title, () => open(cli), { isReal }));
}
