import { type Api, find } from './api.ts';
import { type Workload, workload } from './workloads.ts';

/** What the operator renders, and where. */
export const NAMESPACE = 'calico-system';
const COMPONENTS = ['deployments/calico-typha', 'daemonsets/calico-node', 'deployments/calico-kube-controllers'];
const FLOW_LOGS = ['deployments/goldmane', 'deployments/whisker'];

interface Strategy {
  readonly type?: string;
  readonly rollingUpdate?: { readonly maxUnavailable?: number | string };
}

export interface Wanted {
  /** Of the images: the release, and for FIPS mode what is added to it. */
  readonly tag: string;
  /** Where the images come from, with its slash. */
  readonly registry: string;
  /** The aggregator is wanted: it gets its Deployments, and the agents a variable, which rolls them. */
  readonly flowLogs: boolean;
  /** How the agents are replaced, as the Installation says it. */
  readonly strategy: Strategy | undefined;
  /** Whose all of it is. */
  readonly owner: { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string };
}

/** Writes every component as it is wanted, all in the same second and in no order of readiness; what is right already is left. */
export async function renderComponents(api: Api, wanted: Wanted): Promise<void> {
  if (!(await find(api, `/api/v1/namespaces/${NAMESPACE}`)))
    await api.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  for (const one of [...COMPONENTS, ...(wanted.flowLogs ? FLOW_LOGS : [])]) await render(api, one, wanted);
}

async function render(api: Api, component: string, { tag, registry, flowLogs, owner, strategy }: Wanted): Promise<void> {
  const name = component.slice(component.indexOf('/') + 1);
  const tellsFlows = name === 'calico-node' && flowLogs;
  const env = tellsFlows ? [{ name: 'FELIX_FLOWLOGSGOLDMANESERVER', value: 'goldmane.calico-system.svc:7443' }] : [];
  const container = { name, image: `${registry}calico/${name.replace('calico-', '')}:${tag}`, env };
  const live = await workload(api, NAMESPACE, component);
  if (!live) {
    const ownerReferences = [{ ...owner, controller: true, blockOwnerDeletion: true }];
    return createWorkload(api, NAMESPACE, component, container, { ownerReferences });
  }
  // Every operator leaves such an object alone.
  if (live.metadata.annotations?.['unsupported.operator.tigera.io/ignore'] === 'true') return;
  const [is] = live.spec.template.spec.containers;
  const { replicas, updateStrategy } = live.spec as { readonly replicas?: number; readonly updateStrategy?: Strategy };
  const isStopped = name === 'calico-kube-controllers' && replicas === 0;
  const rollingUpdate = { maxUnavailable: strategy?.rollingUpdate?.maxUnavailable ?? 1 };
  const { type, rollingUpdate: former } = updateStrategy ?? {};
  const isOther = name === 'calico-node' && (type === 'OnDelete' || former?.maxUnavailable !== rollingUpdate.maxUnavailable);
  if (!isStopped && !isOther && is?.image === container.image && (is.env ?? []).length === env.length) return;
  const path = `/apis/apps/v1/namespaces/${NAMESPACE}/${component}`;
  // Its own strategy and number of pods come with the template.
  const own = { ...(isStopped ? { replicas: 1 } : {}), ...(isOther ? { updateStrategy: { type: 'RollingUpdate', rollingUpdate } } : {}) };
  await api.send('PATCH', path, { spec: { ...own, template: { spec: { containers: [container] } } } });
}

interface More {
  readonly annotations?: object;
  readonly ownerReferences?: readonly object[];
}

/** `component`: its plural and its name, which is also its container's. */
export async function createWorkload(
  api: Api,
  namespace: string,
  component: string,
  container: { readonly name: string; readonly image: string },
  { annotations = {}, ownerReferences = [] }: More,
): Promise<void> {
  const [plural, name] = component.split('/');
  const labels = { 'k8s-app': name };
  const template = { metadata: { labels, annotations }, spec: { containers: [container], tolerations: [{ operator: 'Exists' }] } };
  await api.send('POST', `/apis/apps/v1/namespaces/${namespace}/${plural}`, {
    apiVersion: 'apps/v1',
    kind: plural === 'daemonsets' ? 'DaemonSet' : 'Deployment',
    metadata: { name, labels, ownerReferences },
    spec: { selector: { matchLabels: labels }, template },
  });
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
