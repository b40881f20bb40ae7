import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type KeyValueStore, startKeyValueStore } from '../control-plane/kvstore.ts';
import { CALICO, simulateService } from '../control-plane/service-simulator.ts';
import { type InstalledCluster, installedCluster, opened } from './installed-cluster.ts';
import { withStoreAccess } from './kvstore-edits.ts';
import { manifestFile, releases } from './releases.ts';
import { installStandIn } from './stand-in-cli.ts';
import { startUpgrade, upgrade } from './upgrade-process.ts';

/** A cluster whose service keeps its data in a real key-value store with client certificates. */
export interface KvstoreCluster extends InstalledCluster {
  readonly store: KeyValueStore;
  start(...args: readonly string[]): ReturnType<typeof startUpgrade>;
  /** The values of the Secret with the certificates, as the cluster has them. */
  secret(): Promise<string>;
}

export const INFORMATION = '/calico/resources/v3/projectcalico.org/clusterinformations/default';

/** The release's manifest as the document has people edit it: endpoints, certificates, MTU. */
async function editedManifest(folder: string, release: string, file: string, store: KeyValueStore): Promise<string> {
  const original = await readFile(manifestFile(release, file), 'utf8');
  const { endpoint, ca, client } = store;
  const text = withStoreAccess(original, { endpoint, ca, ...client });
  const path = join(folder, file);
  await writeFile(path, text);
  return path;
}

export function kvstoreCluster(release: string, file: string, nodes = 3): Promise<KvstoreCluster> {
  return opened(async (endBy) => {
    const folder = await mkdtemp(join(tmpdir(), 'kvstore-manifest-'));
    endBy(() => rm(folder, { recursive: true, force: true }));
    const store = await startKeyValueStore();
    endBy(store.stop);
    const manifest = await editedManifest(folder, release, file, store);
    await store.put('/calico/ipam/v2/handle/kept', 'yes');
    const cluster = await installedCluster({ manifest, nodes });
    endBy(cluster.stop);
    const { env, profile } = await standInOf(folder, cluster, store);
    const clusterGUID = randomUUID().replaceAll('-', '');
    const agents = simulateService(cluster.plane.api, CALICO, async (version) => {
      const spec = { calicoVersion: version, clusterType: 'k8s,bgp', clusterGUID };
      await store.put(INFORMATION, JSON.stringify({ kind: 'ClusterInformation', metadata: { name: 'default' }, spec }));
    });
    endBy(agents.stop);
    await agents.settled();
    const around = { ...cluster.around, env };
    const withProfile = (args: readonly string[]) => [...args, '--profile', profile, '--release', 'v3.32.1', '--manifest-url', releases];
    return {
      ...cluster,
      ...{ around, store },
      upgrade: (...args) => upgrade(withProfile(args), around),
      start: (...args) => startUpgrade(withProfile(args), around),
      secret: () => cluster.read('secret -n kube-system calico-etcd-secrets', '{.data}'),
    };
  });
}

/** The service's CLI on PATH, configured as a person does: it works on the very store. */
async function standInOf(folder: string, cluster: InstalledCluster, store: KeyValueStore) {
  const bin = join(folder, 'bin');
  await mkdir(bin, { recursive: true });
  const config = join(folder, 'calicoctl.cfg');
  installStandIn(join(bin, 'calicoctl'), {}, { etcd: true });
  await writeFile(config, await cliConfiguration(folder, store));
  const profile = join(folder, 'profile.yaml');
  await writeFile(profile, `extends: calico\nname: calico\ncli:\n  configFile: ${config}\n`);
  const path = [bin, join(cluster.around.kubectl, '..'), '/usr/bin', '/bin'].join(delimiter);
  return { env: { PATH: path }, profile };
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
