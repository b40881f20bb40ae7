import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { find } from '../control-plane/operated-components.ts';
import { type OperatorManner, playOperator } from '../control-plane/operator.ts';
import { CALICO, simulateService } from '../control-plane/service-simulator.ts';
import { until } from '../control-plane/until.ts';
import { manifestFile } from './shared.ts';
import { type Surroundings, type UpgradeProcess, upgrade } from './upgrade-process.ts';

/** A real control plane on which an operator, played, has brought a release. */
export interface OperatedCluster {
  readonly plane: ControlPlane;
  readonly around: Surroundings;
  readonly manner: OperatorManner;
  upgrade(...args: readonly string[]): Promise<UpgradeProcess>;
  read(resource: string, jsonPath: string): Promise<string>;
  /** resourceVersion of everything that this program may write. */
  versions(): Promise<string>;
  stop(): Promise<void>;
}

const WATCHED = 'deployments.apps,daemonsets.apps,clusterroles,clusterrolebindings,crds,installations.operator.tigera.io';

/** The manifest of v3.27.5 with `kubectl create`, and an Installation, as the service's own document says. */
export async function operatedCluster(manner: OperatorManner, nodes = 3): Promise<OperatedCluster> {
  const plane = await startControlPlane({});
  const home = await mkdtemp(join(tmpdir(), 'netsvc-upgrade-home-'));
  const around: Surroundings = { home, kubeconfig: plane.kubeconfigPath, kubectl: plane.programs.kubectl };
  const operator = playOperator(plane.api, manner);
  const agents = simulateService(plane.api, CALICO);
  const stop = async () => {
    await Promise.all([operator.stop(), agents.stop()]);
    await plane.stop();
    await rm(home, { recursive: true, force: true });
  };
  const read = async (resource: string, jsonPath: string) =>
    (await plane.kubectl(['get', ...resource.split(' '), '-o', `jsonpath=${jsonPath}`])).stdout;
  try {
    await plane.addNodes(nodes);
    await install(plane);
  } catch (thrown) {
    await stop();
    throw thrown;
  }
  const format = '{range .items[*]}{.kind}/{.metadata.name} {.metadata.resourceVersion}{"\\n"}{end}';
  return {
    plane,
    around,
    manner,
    stop,
    read,
    upgrade: (...args) => upgrade(args, around),
    versions: async () => (await plane.kubectl(['get', WATCHED, '-A', '-o', `jsonpath=${format}`])).stdout,
  };
}

async function install(plane: ControlPlane): Promise<void> {
  const created = await plane.kubectl(['create', '-f', manifestFile('v3.27.5', 'tigera-operator.yaml')]);
  if (created.exitCode !== 0) throw new Error(created.stderr);
  const path = '/apis/operator.tigera.io/v1/installations';
  await until('the Installation is served', async () => (await find(plane.api, path)) !== undefined);
  await plane.api.send('POST', path, {
    apiVersion: 'operator.tigera.io/v1',
    kind: 'Installation',
    metadata: { name: 'default' },
    spec: {},
  });
  await until('the old release runs', async () => {
    const live = await find<{ readonly status?: { readonly calicoVersion?: string } }>(plane.api, `${path}/default`);
    return live?.status?.calicoVersion === 'v3.27.5';
  });
}
