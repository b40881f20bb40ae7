import type { ControlPlaneOptions } from '../control-plane/control-plane.ts';
import { installedCluster } from './installed-cluster.ts';
import { manifestFile, releases } from './releases.ts';
import { CALICO_TARGET } from './target.ts';

export const NODES = 5;
export const AGENTS = 'daemonset -n kube-system calico-node';
export const RUN = ['run', '--yes', '--skip', 'cli', '--accept', 'NS-301', '--manifest-url', releases] as const;
export const COMMIT = ['commit', ...RUN.slice(1)] as const;
export const OWN = '{"rollingUpdate":{"maxSurge":0,"maxUnavailable":1},"type":"RollingUpdate"}';
export const HELD = '{"type":"OnDelete"}';

export type Cluster = Awaited<ReturnType<typeof installedCluster>>;

export const opened = (more: Pick<ControlPlaneOptions, 'readyAfterMs'> = {}) =>
  installedCluster({ manifest: manifestFile('v3.27.5', 'calico.yaml', releases), nodes: NODES, ...more });
export const strategy = ({ read }: Cluster) => read(AGENTS, '{.spec.updateStrategy}');

/** Nodes whose agent has the new release, ready or not. */
export async function newOn({ read }: Cluster): Promise<readonly string[]> {
  const text = await read(
    'pods -n kube-system -l k8s-app=calico-node',
    '{range .items[*]}{.spec.nodeName} {.spec.containers[0].image}{"\\n"}{end}',
  );
  const lines = text.split('\n').filter((line) => line.endsWith(`:${CALICO_TARGET}`));
  return lines.map((line) => line.split(' ')[0] ?? '').toSorted();
}
