import { K } from '../../kernel/kinds.ts';
import { type KubeObject, refText } from '../../kernel/object.ts';
import { podFacts } from '../../kube/pod-facts.ts';
import { selectorOf, selectorText } from '../../kube/selector.ts';
import { supportObject } from './objects.ts';
import { type Asking, pathPart, reasonOf, type SupportPart } from './part.ts';

/** Pods that are kept whole; those that are not ready come first. */
const MOST = 200;

export interface FoundPods {
  readonly pods: readonly KubeObject[];
  readonly parts: readonly SupportPart[];
}

/** The pods of the service, by the selectors of its workloads. */
export async function podsOf({ cluster }: Asking, workloads: readonly KubeObject[]): Promise<FoundPods> {
  const found = await Promise.all(workloads.map((one) => selected(cluster, one)));
  const pods = [...new Map(found.flatMap(({ pods }) => pods).map((pod) => [nameOf(pod), pod])).values()];
  const failing = pods.filter((pod) => !isReady(pod));
  const kept = [...failing, ...pods.filter(isReady)].slice(0, MOST);
  const left = pods.length - kept.length;
  const parts = [
    ...kept.map((pod) => ({ path: `pods/${pathOf(pod)}.yaml`, what: `pod ${nameOf(pod)}, ${stateOf(pod)}`, content: pod })),
    ...(left > 0 ? [{ path: 'pods/', what: 'further pods', unread: `${left} more are left out: a bundle holds at most ${MOST}` }] : []),
    ...found.flatMap(({ unread }) => unread ?? []),
  ];
  return { pods: failing, parts };
}

export function nameOf({ metadata: { namespace = '', name } }: KubeObject): string {
  return `${namespace}/${name}`;
}

export function pathOf({ metadata: { namespace = '', name } }: KubeObject): string {
  return `${pathPart(namespace)}/${pathPart(name)}`;
}

function isReady(pod: KubeObject): boolean {
  const { readyCondition, phase } = podFacts(pod);
  return readyCondition || phase === 'Succeeded';
}

function stateOf(pod: KubeObject): string {
  const { trouble, phase } = podFacts(pod);
  if (isReady(pod)) return 'ready';
  return `not ready: ${trouble ? `${trouble.container} ${trouble.reason}` : phase}`;
}

async function selected(cluster: Asking['cluster'], workload: KubeObject): Promise<{ pods: readonly KubeObject[]; unread?: SupportPart }> {
  const { kind, metadata } = workload;
  const labelSelector = selectorText(selectorOf(workload));
  if (labelSelector === '' || metadata.namespace === undefined) return { pods: [] };
  try {
    const pods = await cluster.list(K.Pod, { namespace: metadata.namespace, labelSelector, keep: supportObject });
    return { pods: pods.map(supportObject) };
  } catch (thrown) {
    return { pods: [], unread: { path: 'pods/', what: `pods of ${refText({ ...metadata, kind })}`, unread: reasonOf(thrown) } };
  }
}
