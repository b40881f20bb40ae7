import type { KubeObject, ObjectMeta } from './object.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The part of a pod that `podFacts` reads; a whole pod is many times as large. For `ListOptions.keep`. */
export function leanPod(pod: KubeObject): KubeObject {
  const spec = (pod.spec ?? {}) as { readonly nodeName?: string; readonly containers?: readonly Fields[] };
  const { phase, conditions, containerStatuses, initContainerStatuses } = (pod.status ?? {}) as Fields;
  return {
    ...identity(pod),
    spec: { nodeName: spec.nodeName, containers: (spec.containers ?? []).map(({ name, image }) => ({ name, image })) },
    status: { phase, conditions, containerStatuses, initContainerStatuses },
  };
}

/** The part of a node that `nodeFacts` reads: without its images, labels and addresses. For `ListOptions.keep`. */
export function leanNode(node: KubeObject): KubeObject {
  const { unschedulable } = (node.spec ?? {}) as Fields;
  const { conditions = [] } = (node.status ?? {}) as { readonly conditions?: readonly Fields[] };
  return { ...identity(node), spec: { unschedulable }, status: { conditions: conditions.filter(({ type }) => type === 'Ready') } };
}

function identity({ apiVersion, kind, metadata }: KubeObject): Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'> {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp } = metadata;
  const kept: ObjectMeta = {
    name,
    ...(namespace ? { namespace } : {}),
    ...(uid ? { uid } : {}),
    ...(resourceVersion ? { resourceVersion } : {}),
    ...(creationTimestamp ? { creationTimestamp } : {}),
    ...(deletionTimestamp ? { deletionTimestamp } : {}),
  };
  return { apiVersion, kind, metadata: kept };
}
