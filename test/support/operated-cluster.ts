import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isOlder } from '../../src/kernel/release.ts';
import { find } from '../control-plane/api.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import type { OperatorManner } from '../control-plane/operator.ts';
import { until } from '../control-plane/until.ts';
import { clusterAround, folderFor, opened } from './installed-cluster.ts';
import { playService } from './played-service.ts';
import { manifestFile } from './releases.ts';

/** A real control plane on which an operator, played, has brought a release. */
export type OperatedCluster = Awaited<ReturnType<typeof operatedCluster>>;

const WATCHED = 'deployments.apps,daemonsets.apps,clusterroles,clusterrolebindings,crds,installations.operator.tigera.io';

interface OperatedOptions {
  readonly release?: string;
  /** Spec of the Installation. */
  readonly spec?: object;
  /** Time that pods take to be ready. */
  readonly readyAfterMs?: number;
  /** The v3 API is served, by a played API server that the operator moves. */
  readonly apiServer?: boolean;
}

/** The manifest of the old release with `kubectl create`, and an Installation, as the service's own document says. */
export function operatedCluster(manner: OperatorManner, options: OperatedOptions = {}) {
  return opened(async (endBy) => {
    const { release = 'v3.27.5', readyAfterMs, spec = {}, apiServer = false } = options;
    const home = await folderFor(endBy);
    const plane = await startControlPlane(readyAfterMs === undefined ? {} : { readyAfterMs });
    endBy(plane.stop);
    const service = playService(plane, manner);
    endBy(service.stop);
    await plane.addNodes(3);
    await install(plane, release, { namespace: manner.namespace, home, spec });
    return {
      ...clusterAround(plane, WATCHED, { home }),
      manner,
      /** When the operator last changed anything; milliseconds. */
      changedAt: service.changedAt,
      /** The played v3 API server, where one was asked for. */
      apiServer: await service.brought({ apiServer }),
    };
  });
}

interface Place {
  /** The operator's, if not the release's. */
  readonly namespace: string | undefined;
  /** Where files may be written. */
  readonly home: string;
  readonly spec: object;
}

async function install(plane: ControlPlane, release: string, { namespace, home, spec }: Place): Promise<void> {
  // From v3.30 on the CRDs have a file of their own.
  const files = isOlder(release, 'v3.30.0') ? [] : ['operator-crds.yaml'];
  const operator = manifestFile(release, 'tigera-operator.yaml');
  const placed = namespace === undefined ? operator : await inNamespace(operator, namespace, home);
  for (const file of [...files.map((one) => manifestFile(release, one)), placed]) await create(plane, file);
  const path = '/apis/operator.tigera.io/v1/installations';
  await until('the Installation is served', async () => (await find(plane.api, path)) !== undefined);
  await plane.api.send('POST', path, {
    ...{ apiVersion: 'operator.tigera.io/v1', kind: 'Installation' },
    metadata: { name: 'default' },
    spec,
  });
}

/** The release's file as a person puts another namespace into it. */
async function inNamespace(file: string, namespace: string, home: string): Promise<string> {
  const text = (await readFile(file, 'utf8'))
    .replaceAll('namespace: tigera-operator', `namespace: ${namespace}`)
    .replace(/(kind: Namespace\nmetadata:\n {2}name:) tigera-operator/, `$1 ${namespace}`);
  const path = join(home, 'operator.yaml');
  await writeFile(path, text);
  return path;
}

/** What this server no longer has is left out. */
async function create(plane: ControlPlane, file: string): Promise<void> {
  const { exitCode, stderr } = await plane.kubectl(['create', '-f', file]);
  const refused = stderr.split('\n').filter((line) => !/^$|PodSecurityPolicy|ensure CRDs are installed first/.test(line));
  if (exitCode !== 0 && refused.length > 0) throw new Error(stderr);
}
