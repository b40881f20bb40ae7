import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from '../control-plane/control-plane.ts';
import { installManifest } from '../control-plane/install.ts';
import { CALICO, NETSVC, type ServiceNames, simulateService } from '../control-plane/service-simulator.ts';
import { atRest } from './at-rest.ts';
import { ownReleases } from './releases.ts';
import { type Surroundings, type UpgradeProcess, upgrade } from './upgrade-process.ts';

/** A real control plane on which a release runs, as some operator left it. */
export interface InstalledCluster {
  readonly plane: ControlPlane;
  readonly around: Surroundings;
  upgrade(...args: readonly string[]): Promise<UpgradeProcess>;
  /**
   * resourceVersion of everything that an upgrade may touch, once the cluster's own controllers have counted what they did: equal before
   * and after = nothing was written.
   */
  versions(): Promise<Readonly<Record<string, string>>>;
  /** One field of one object, by kubectl's JSONPath. */
  read(resource: string, jsonPath: string): Promise<string>;
  stop(): Promise<void>;
}

export interface InstallRequest extends ControlPlaneOptions {
  readonly manifest: string;
  readonly nodes?: number;
  readonly names?: ServiceNames;
}

/** Published manifests are unpacked into a folder whose name is this program's. */
const isOwn = (manifest: string) => manifest.startsWith(ownReleases) || basename(manifest).startsWith('netsvc');

const WATCHED = 'daemonsets.apps,deployments.apps,configmaps,serviceaccounts,poddisruptionbudgets,clusterroles,clusterrolebindings,crds';

export async function installedCluster(request: InstallRequest): Promise<InstalledCluster> {
  const plane = await startControlPlane(request);
  const home = await mkdtemp(join(tmpdir(), 'netsvc-upgrade-home-'));
  const around: Surroundings = { home, kubeconfig: plane.kubeconfigPath, kubectl: plane.programs.kubectl };
  const simulator = simulateService(plane.api, request.names ?? (isOwn(request.manifest) ? NETSVC : CALICO));
  const stop = async () => {
    await simulator.stop();
    await plane.stop();
    await rm(home, { recursive: true, force: true });
  };
  try {
    await plane.addNodes(request.nodes ?? 3);
    await installManifest(plane, request.manifest, Math.max(180_000, (request.nodes ?? 0) * 500));
    await simulator.settled();
  } catch (thrown) {
    await stop();
    throw thrown;
  }
  return {
    plane,
    around,
    stop,
    upgrade: (...args) => upgrade(args, around),
    async versions() {
      const format = '{range .items[*]}{.kind}/{.metadata.namespace}/{.metadata.name} {.metadata.resourceVersion}{"\\n"}{end}';
      const stdout = await atRest(async () => (await plane.kubectl(['get', WATCHED, '-A', '-o', `jsonpath=${format}`])).stdout);
      return Object.fromEntries(
        stdout
          .trim()
          .split('\n')
          .map((line) => line.split(' ') as [string, string]),
      );
    },
    async read(resource, jsonPath) {
      const { stdout } = await plane.kubectl(['get', ...resource.split(' '), '-o', `jsonpath=${jsonPath}`]);
      return stdout;
    },
  };
}
