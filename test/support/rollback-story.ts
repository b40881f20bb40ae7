import { installedCluster } from './installed-cluster.ts';
import { manifestFile, releases } from './releases.ts';

export const FROM = 'v3.27.5';
const AGENTS = 'daemonset -n kube-system calico-node';

type Cluster = Awaited<ReturnType<typeof opened>>;

/** Before its upgrade. */
export const opened = (file = 'calico.yaml') => installedCluster({ manifest: manifestFile(FROM, file, releases), nodes: 3 });

/** Every agent is replaced by it: an upgrade does not begin before they are ready. */
export async function edit({ plane }: Cluster, variable: string): Promise<void> {
  await plane.kubectl(['-n', 'kube-system', 'set', 'env', 'daemonset/calico-node', variable]);
  await plane.kubectl(['-n', 'kube-system', 'rollout', 'status', 'daemonset/calico-node', '--timeout', '120s']);
}

export const imageOf = ({ read }: Cluster) => read(AGENTS, '{.spec.template.spec.containers[0].image}');
export const variable = ({ read }: Cluster, name: string) =>
  read(AGENTS, `{.spec.template.spec.containers[0].env[?(@.name=="${name}")].value}`);
