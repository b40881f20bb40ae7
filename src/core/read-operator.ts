import { K } from './kinds.ts';
import { apiVersionOf, type KubeObject } from './object.ts';
import type { OperatorEndNames, OperatorTarget, OperatorView } from './operator-view.ts';
import type { ClusterReader } from './ports.ts';

/** What a look needs to know; the expectation of the wait is one. */
export interface Looked {
  readonly names: OperatorEndNames;
  readonly target: OperatorTarget;
}

/** Name of every resource that the operator acts on. */
const DEFAULT = 'default';

/** One look at everything that the end of an upgrade by the operator is told by. Throws ApiFailure. */
export async function readOperatorView(cluster: ClusterReader, { names, target }: Looked, now: number): Promise<OperatorView> {
  const { deployment: operator, installation: kind, workloads: namespace, api } = names;
  const [deployment, installation, statuses, resources, daemonSets, deployments, apiService, oldApiNamespace] = await Promise.all([
    cluster.get(K.Deployment, operator.name, operator.namespace),
    cluster.get(kind, DEFAULT),
    readStatuses(cluster, names),
    readResources(cluster, names),
    cluster.list(K.DaemonSet, { namespace }),
    cluster.list(K.Deployment, { namespace }),
    cluster.get(K.APIService, api.service),
    cluster.get(K.Namespace, api.oldNamespace),
  ]);
  const workloads = [...named('DaemonSet', daemonSets), ...named('Deployment', deployments)];
  return { names, target, deployment, installation, statuses, resources, workloads, apiService, oldApiNamespace, now };
}

async function readStatuses(cluster: ClusterReader, { installation, statusKind }: OperatorEndNames): Promise<readonly KubeObject[]> {
  const kind = await cluster.resolve(apiVersionOf(installation), statusKind);
  return kind ? named(statusKind, await cluster.list(kind)) : [];
}

/** The resources that switch components on; none of a kind that the server does not have yet. */
async function readResources(cluster: ClusterReader, { installation, statuses, api }: OperatorEndNames): Promise<readonly KubeObject[]> {
  const kinds = new Set([api.kind, ...statuses.flatMap((one) => one.kind ?? [])]);
  const found = await Promise.all(
    [...kinds].map(async (name) => {
      const kind = await cluster.resolve(apiVersionOf(installation), name);
      return kind && cluster.get(kind, DEFAULT);
    }),
  );
  return found.filter((one) => one !== undefined);
}

/** Items of a list do not always say their kind. */
function named(kind: string, items: readonly KubeObject[]): readonly KubeObject[] {
  return items.map((one) => ({ ...one, kind }));
}
