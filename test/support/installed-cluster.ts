import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from '../control-plane/control-plane.ts';
import { installManifest } from '../control-plane/install.ts';
import { CALICO, NETSVC, simulateService } from '../control-plane/service-simulator.ts';
import { ownReleases } from './releases.ts';
import { assertSucceeded, type Surroundings, type UpgradeProcess, upgrade } from './upgrade-process.ts';

/** A real control plane on which a release runs, as some operator left it, and the program beside it. */
export interface InstalledCluster extends ReturnType<typeof clusterAround> {
  stop(): Promise<void>;
}

export interface InstallRequest extends ControlPlaneOptions {
  readonly manifest: string;
  readonly nodes?: number;
}

/** Published manifests are unpacked into a folder whose name is this program's. */
const isOwn = (manifest: string) => manifest.startsWith(ownReleases) || basename(manifest).startsWith('netsvc');

/** Lists of what an upgrade may touch, by their paths. */
export const PATHS = {
  configMaps: '/api/v1/configmaps',
  secrets: '/api/v1/secrets',
  accounts: '/api/v1/serviceaccounts',
  agents: '/apis/apps/v1/daemonsets',
  deployments: '/apis/apps/v1/deployments',
  budgets: '/apis/policy/v1/poddisruptionbudgets',
  roles: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  bindings: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  definitions: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  leases: '/apis/coordination.k8s.io/v1/leases',
  installations: '/apis/operator.tigera.io/v1/installations',
} as const;

const { agents, deployments, configMaps, accounts, budgets, roles, bindings, definitions } = PATHS;
const WATCHED = [agents, deployments, configMaps, accounts, budgets, roles, bindings, definitions];

/** Applied as a person once did. */
export function installedCluster(request: InstallRequest): Promise<InstalledCluster> {
  return opened(async (endBy) => {
    const { manifest, nodes = 3 } = request;
    const home = await folderFor(endBy);
    const plane = await startControlPlane(request);
    endBy(plane.stop);
    const simulator = simulateService(plane.api, isOwn(manifest) ? NETSVC : CALICO);
    endBy(simulator.stop);
    await plane.addNodes(nodes);
    await installManifest(plane, manifest, Math.max(180_000, nodes * 500));
    await simulator.settled();
    return clusterAround(plane, WATCHED, { home });
  });
}

type End = () => unknown;
type EndBy = (end: End) => void;

/** A folder of its own for what is opened. */
export async function folderFor(endBy: EndBy): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'netsvc-upgrade-home-'));
  endBy(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens something of several parts, each of which says how it ends: all do at `stop`, the last one first, or at once where one does not open. */
export async function opened<T extends object>(open: (endBy: EndBy) => Promise<T>): Promise<T & { stop(): Promise<void> }> {
  const ends: End[] = [];
  const stop = async () => {
    for (const end of ends.toReversed()) await end();
  };
  try {
    return { ...(await open((end) => ends.push(end))), stop };
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

/** What the tests of a suite share: opened before the first of them, ended after the last. */
export function shared<G extends Pick<InstalledCluster, 'stop'>>(open: (context: Mocha.Context) => Promise<G>, limitMs?: number): G {
  let ground: G | undefined;
  before(async function () {
    if (limitMs !== undefined) this.timeout(limitMs);
    ground = await open(this);
  });
  after(() => ground?.stop());
  return new Proxy({} as G, {
    get(_, name) {
      assert.ok(ground, 'it is opened when the first test begins');
      return Reflect.get(ground, name);
    },
  });
}

/** Does something on what is opened for it alone. */
export async function within<G extends Pick<InstalledCluster, 'stop'>, T>(opening: Promise<G>, act: (ground: G) => Promise<T>): Promise<T> {
  const ground = await opening;
  try {
    return await act(ground);
  } finally {
    await ground.stop();
  }
}

/** Ends well, and writes nothing that an upgrade may touch. */
export async function assertWritesNothing(cluster: Pick<InstalledCluster, 'versions'>, run: () => Promise<UpgradeProcess>): Promise<void> {
  const before = await cluster.versions();
  assertSucceeded(await run());
  assert.equal(await cluster.versions(), before);
}

/** All of it but its end; `watched` are paths of lists that an upgrade may touch. */
export function clusterAround(plane: ControlPlane, watched: readonly string[], own: Pick<Surroundings, 'home' | 'env'>) {
  const around: Surroundings = { kubeconfig: plane.kubeconfigPath, kubectl: plane.programs.kubectl, ...own };
  const versionsAt = async (path: string) =>
    (await plane.api.metadata(path)).map(
      ({ metadata: { namespace = '', name, resourceVersion } }) => `${path}/${namespace}/${name} ${resourceVersion}`,
    );
  const versions = async () => (await Promise.all(watched.map(versionsAt))).flat().filter(isOfUpgrade).join('\n');
  return {
    plane,
    around,
    upgrade: (...args: readonly string[]): Promise<UpgradeProcess> => upgrade(args, around),
    /** One field of one object, by kubectl's JSONPath; empty where there is none. */
    read: async (resource: string, jsonPath: string): Promise<string> =>
      (await plane.kubectl(['get', ...resource.split(' '), '-o', `jsonpath=${jsonPath}`])).stdout,
    /**
     * resourceVersion of everything that an upgrade may touch, once the cluster's own controllers have counted what they did: equal before
     * and after = nothing was written.
     */
    versions: () => atRest(versions),
  };
}

/** The components of the control plane itself renew leases all the time. */
const isOfUpgrade = (line: string): boolean =>
  !/\/leases\/(kube-node-lease|kube-system)\/(?!netsvc-upgrade)|\/configmaps\/kube-system\/.*apiserver-/.test(line);

const LOOKS = 12;

/** The answer that stays the same for a second; throws if none of a dozen does. */
async function atRest(ask: () => Promise<string>): Promise<string> {
  let before = await ask();
  for (let looks = 0; looks < LOOKS; looks += 1) {
    await wait(1_000);
    const now = await ask();
    if (now === before) return now;
    before = now;
  }
  throw new Error(`it changes all the time; last it was\n${before}`);
}
