import { K } from '../../kernel/kinds.ts';
import { apiVersionOf, type KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import { leanNode, leanPod } from '../../kube/lean-objects.ts';
import { attempt, listServed, liveOf } from '../survey/index.ts';
import type { OperatorEndNames, OperatorView } from './operator-causes.ts';
import { operatorLags } from './operator-verdict.ts';

/** Name of every resource that the operator acts on. */
const DEFAULT = 'default';

/** One look at everything that the end of an upgrade by the operator is identified by; `timeMs` is the time of day where `now` is not. Throws ApiFailure. */
export async function readOperatorView(
  cluster: ClusterReader,
  { names, target }: Pick<OperatorView, 'names' | 'target'>,
  now: number,
  timeMs = now,
): Promise<OperatorView> {
  const { deployment: operator, installation: kind, workloads: namespace, api } = names;
  const [deployment, installation, statuses, resources, daemonSets, deployments, apiService, oldApiNamespace] = await Promise.all([
    cluster.get(K.Deployment, operator.name, operator.namespace),
    cluster.get(kind, DEFAULT),
    listServed(cluster, apiVersionOf(kind), names.statusKind),
    readResources(cluster, names),
    cluster.list(K.DaemonSet, { namespace }),
    cluster.list(K.Deployment, { namespace }),
    cluster.get(K.APIService, api.service),
    cluster.get(K.Namespace, api.oldNamespace),
  ]);
  const workloads = [...daemonSets, ...deployments];
  const view = { names, target, deployment, installation, statuses, resources, workloads, apiService, oldApiNamespace, now };
  const isLate = operatorLags(view).some(({ point }) => point === 1 || point === 4);
  return isLate ? { ...view, ...(await readPods(cluster, names)), timeMs } : view;
}

/** Pods show why a workload lags. An account that may not list them still learns what lags. */
async function readPods(
  cluster: ClusterReader,
  { deployment, workloads }: OperatorEndNames,
): Promise<Pick<OperatorView, 'pods' | 'nodes'>> {
  const namespaces = [...new Set([deployment.namespace, workloads])];
  const read = await attempt(() =>
    Promise.all([
      cluster.list(K.Node, { keep: leanNode }),
      ...namespaces.map((namespace) => cluster.list(K.Pod, { namespace, keep: labelledPod })),
    ]),
  );
  if ('unread' in read) return {};
  const [nodes, ...pods] = read.value;
  return { nodes, pods: pods.flat() };
}

/** The resources that switch components on; none of a kind that the server does not have yet. */
async function readResources(cluster: ClusterReader, { installation, statuses, api }: OperatorEndNames): Promise<readonly KubeObject[]> {
  const kinds = [...new Set([api.kind, ...statuses.flatMap((one) => one.kind ?? [])])];
  const apiVersion = apiVersionOf(installation);
  const found = await Promise.all(kinds.map((kind) => liveOf(cluster, { apiVersion, kind, metadata: { name: DEFAULT } })));
  return found.filter((one) => one !== undefined);
}

/** What is read of a pod, and the labels by which it belongs to a workload. */
export function labelledPod(pod: KubeObject): KubeObject {
  const { metadata, ...rest } = leanPod(pod);
  return { ...rest, metadata: { ...metadata, ...(pod.metadata.labels ? { labels: pod.metadata.labels } : {}) } };
}
