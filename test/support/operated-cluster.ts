import { readFile } from 'node:fs/promises';
import { isOlder } from '../../src/kernel/release.ts';
import { find } from '../control-plane/api.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import type { OperatorManner } from '../control-plane/operator.ts';
import { until } from '../control-plane/until.ts';
import { clusterAround, folderFor, opened, PATHS } from './installed-cluster.ts';
import { playService } from './played-service.ts';
import { manifestFile } from './releases.ts';

/** A real control plane on which an operator, played, has brought a release. */
export type OperatedCluster = Awaited<ReturnType<typeof operatedCluster>>;

const { deployments, agents, roles, bindings, definitions, installations } = PATHS;
const WATCHED = [deployments, agents, roles, bindings, definitions, installations];

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
    await install(plane, release, spec, manner.namespace);
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

async function install(plane: ControlPlane, release: string, spec: object, namespace = 'tigera-operator'): Promise<void> {
  // From v3.30 on the CRDs have a file of their own.
  for (const file of [...(isOlder(release, 'v3.30.0') ? [] : ['operator-crds.yaml']), 'tigera-operator.yaml'])
    await create(plane, inNamespace(await readFile(manifestFile(release, file), 'utf8'), namespace));
  await until('the Installation is served', async () => (await find(plane.api, installations)) !== undefined);
  await plane.api.send('POST', installations, {
    ...{ apiVersion: 'operator.tigera.io/v1', kind: 'Installation' },
    metadata: { name: 'default' },
    spec,
  });
}

/** The release's file as a person puts another namespace into it. */
function inNamespace(text: string, namespace: string): string {
  return text
    .replaceAll('namespace: tigera-operator', `namespace: ${namespace}`)
    .replace(/(kind: Namespace\nmetadata:\n {2}name:) tigera-operator/, `$1 ${namespace}`);
}

/** What this server no longer has is left out. */
async function create(plane: ControlPlane, manifest: string): Promise<void> {
  const { exitCode, stderr } = await plane.kubectl(['create', '-f', '-'], manifest);
  const refused = stderr.split('\n').filter((line) => !/^$|PodSecurityPolicy|ensure CRDs are installed first/.test(line));
  if (exitCode !== 0 && refused.length > 0) throw new Error(stderr);
}
