import { type Api, ApiError, type ApiObject } from './api.ts';

/** What the operator renders, and where. */
export const NAMESPACE = 'calico-system';

interface Rendered {
  readonly kind: 'daemonsets' | 'deployments';
  readonly name: string;
  readonly image: string;
}

const COMPONENTS: readonly Rendered[] = [
  { kind: 'deployments', name: 'calico-typha', image: 'typha' },
  { kind: 'daemonsets', name: 'calico-node', image: 'node' },
  { kind: 'deployments', name: 'calico-kube-controllers', image: 'kube-controllers' },
];
const FLOW_LOGS: readonly Rendered[] = [
  { kind: 'deployments', name: 'goldmane', image: 'goldmane' },
  { kind: 'deployments', name: 'whisker', image: 'whisker' },
];

export interface Wanted {
  /** Of the images: the release, and for FIPS mode what is added to it. */
  readonly tag: string;
  /** Where the images come from, with its slash. */
  readonly registry: string;
  /** The aggregator is wanted: it gets its Deployments, and the agents a variable, which rolls them. */
  readonly flowLogs: boolean;
  /** Whose all of it is. */
  readonly owner: { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string };
}

/** Undefined if there is none. */
export async function find<T = ApiObject>(api: Api, path: string): Promise<T | undefined> {
  try {
    return await api.get<T>(path);
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.status === 404) return undefined;
    throw thrown;
  }
}

/** Writes every component as it is wanted, all in the same second and in no order of readiness; what is right already is left. */
export async function renderComponents(api: Api, wanted: Wanted): Promise<void> {
  if (!(await find(api, `/api/v1/namespaces/${NAMESPACE}`)))
    await api.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  for (const one of [...COMPONENTS, ...(wanted.flowLogs ? FLOW_LOGS : [])]) await render(api, one, wanted);
}

async function render(api: Api, { kind, name, image }: Rendered, { tag, registry, flowLogs, owner }: Wanted): Promise<void> {
  const path = `/apis/apps/v1/namespaces/${NAMESPACE}/${kind}`;
  const env =
    name === 'calico-node' && flowLogs ? [{ name: 'FELIX_FLOWLOGSGOLDMANESERVER', value: 'goldmane.calico-system.svc:7443' }] : [];
  const containers = [{ name, image: `${registry}calico/${image}:${tag}`, env }];
  const live = await find<Workload>(api, `${path}/${name}`);
  const labels = { 'k8s-app': name };
  const template = { metadata: { labels }, spec: { containers, tolerations: [{ operator: 'Exists' }] } };
  if (!live) {
    const ownerReferences = [{ ...owner, controller: true, blockOwnerDeletion: true }];
    const metadata = { name, labels, ownerReferences };
    const body = { apiVersion: 'apps/v1', kind: kind === 'daemonsets' ? 'DaemonSet' : 'Deployment', metadata };
    await api.send('POST', path, { ...body, spec: { selector: { matchLabels: labels }, template } });
    return;
  }
  const [is] = live.spec.template.spec.containers;
  const same = is?.image === containers[0]?.image && (is?.env ?? []).length === env.length;
  if (!same) await api.send('PATCH', `${path}/${name}`, { spec: { template: { spec: { containers } } } });
}

interface Workload {
  readonly metadata: { readonly name: string; readonly generation: number };
  readonly spec: {
    readonly replicas?: number;
    readonly template: { readonly spec: { readonly containers: readonly { readonly image: string; readonly env?: readonly unknown[] }[] } };
  };
  readonly status?: Readonly<Partial<Record<string, number>>>;
}

/** What the operator says of components that are not all there, the API server left out, which has a status of its own; empty: they are. */
export async function missingComponents(api: Api): Promise<string> {
  const list = (kind: string) => api.get<{ readonly items: readonly Workload[] }>(`/apis/apps/v1/namespaces/${NAMESPACE}/${kind}`);
  const [agents, deployments] = await Promise.all([list('daemonsets'), list('deployments')]);
  const open = [
    ...agents.items.filter(({ metadata, status = {} }) => {
      const wanted = status.desiredNumberScheduled ?? 0;
      const seen = (status.observedGeneration ?? 0) === metadata.generation;
      return !seen || (status.updatedNumberScheduled ?? 0) < wanted || (status.numberAvailable ?? 0) < wanted;
    }),
    // As the real one: it does not look whether the pods of a Deployment are updated.
    ...deployments.items.filter(
      ({ metadata, spec, status = {} }) => metadata.name !== 'calico-apiserver' && (status.availableReplicas ?? 0) < (spec.replicas ?? 1),
    ),
  ];
  return open.map(({ metadata }) => `"${NAMESPACE}/${metadata.name}" is not available`).join('\n');
}
