import { randomUUID } from 'node:crypto';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { type KeyValueStore, startKeyValueStore } from '../control-plane/kvstore.ts';
import { CALICO, simulateService } from '../control-plane/service-simulator.ts';
import { folderFor, type InstalledCluster, installedCluster, opened } from './installed-cluster.ts';
import { withStoreAccess } from './kvstore-sandbox.ts';
import { manifestFile, releases } from './releases.ts';
import { installStandIn } from './stand-in-cli.ts';
import { CALICO_TARGET } from './target.ts';
import { startUpgrade, upgrade } from './upgrade-process.ts';

export const INFORMATION = '/calico/resources/v3/projectcalico.org/clusterinformations/default';

export type KvstoreCluster = Awaited<ReturnType<typeof kvstoreCluster>>;

interface KvstoreOptions {
  readonly nodes?: number;
  /** The release's manifest, where tests have no file of it. */
  readonly text?: string;
  /** The real CLI of the target, in place of a stand-in. */
  readonly cli?: string;
}

/** A cluster whose service keeps its data in a real key-value store with client certificates. */
export function kvstoreCluster(release: string, file: string, { nodes = 3, text, cli }: KvstoreOptions = {}) {
  return opened(async (endBy) => {
    const folder = await folderFor(endBy);
    const store = await startKeyValueStore();
    endBy(store.stop);
    const manifest = join(folder, file);
    await writeFile(
      manifest,
      withStoreAccess(text ?? (await readFile(manifestFile(release, file), 'utf8')), { ...store, ...store.client }),
    );
    await store.put('/calico/ipam/v2/handle/kept', 'yes');
    const cluster = await installedCluster({ manifest, nodes });
    endBy(cluster.stop);
    const { env, config, bin } = await cliIn(folder, cluster, store, cli);
    const clusterGUID = randomUUID().replaceAll('-', '');
    const agents = simulateService(cluster.plane.api, CALICO, async (version) => {
      const spec = { calicoVersion: version, clusterType: 'k8s,bgp', clusterGUID, datastoreReady: true };
      await store.put(
        INFORMATION,
        JSON.stringify({ kind: 'ClusterInformation', apiVersion: 'projectcalico.org/v3', metadata: { name: 'default' }, spec }),
      );
    });
    endBy(agents.stop);
    await agents.settled();
    const around = { ...cluster.around, env };
    const withTarget = (args: readonly string[]) => {
      const ownConfig = args.includes('--cli-config') ? [] : ['--cli-config', config];
      return [...args, ...ownConfig, '--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases];
    };
    return {
      ...cluster,
      ...{ around, store, bin, config },
      upgrade: (...args: readonly string[]) => upgrade(withTarget(args), around),
      start: (...args: readonly string[]) => startUpgrade(withTarget(args), around),
      /** The record says where it goes. */
      rollback: () => upgrade(['rollback', '--yes', '--cli-config', config, '--manifest-url', releases], around),
      /** The values of the Secret with the certificates, as the cluster has them. */
      secret: () => cluster.read('secret -n kube-system calico-etcd-secrets', '{.data}'),
    };
  });
}

/** The service's CLI on PATH, configured as a person does: it works on the very store. */
async function cliIn(folder: string, cluster: InstalledCluster, store: KeyValueStore, real: string | undefined) {
  const bin = join(folder, 'bin');
  await mkdir(bin, { recursive: true });
  const config = join(folder, 'calicoctl.cfg');
  if (real === undefined) installStandIn(join(bin, 'calicoctl'), {}, { etcd: true });
  else await symlink(real, join(bin, 'calicoctl'));
  await writeFile(config, await cliConfiguration(folder, store));
  const path = [bin, join(cluster.around.kubectl, '..'), '/usr/bin', '/bin'].join(delimiter);
  return { env: { PATH: path }, config, bin };
}

/** With the certificates as files of their own, as the CLI takes them. */
export async function cliConfiguration(folder: string, { endpoint, ca, client }: KeyValueStore): Promise<string> {
  const texts = { etcdCACertFile: ca, etcdCertFile: client.certificate, etcdKeyFile: client.key };
  const fields = Object.entries(texts).map(async ([field, text]) => {
    await writeFile(join(folder, field), text, { mode: 0o600 });
    return `  ${field}: ${join(folder, field)}\n`;
  });
  const spec = `  datastoreType: etcdv3\n  etcdEndpoints: ${endpoint}\n${(await Promise.all(fields)).join('')}`;
  return `apiVersion: projectcalico.org/v3\nkind: CalicoAPIConfig\nmetadata:\nspec:\n${spec}`;
}
