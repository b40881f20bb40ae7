import type { KubeObject, ObjectMeta } from '../kernel/object.ts';
import { addressAnnotations } from './node-addresses.ts';
import { nodeLabelsKey } from './stored-metadata.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The part of a pod that `podFacts` reads; a whole pod is many times as large. For `ListOptions.keep`. */
export function leanPod(pod: KubeObject): KubeObject {
  const { nodeName, containers = [], initContainers = [] } = (pod.spec ?? {}) as PodSpec;
  const { phase, conditions, containerStatuses, initContainerStatuses } = (pod.status ?? {}) as Fields;
  return {
    ...identity(pod),
    spec: {
      nodeName,
      containers: containers.map(imageOf),
      ...(initContainers.length > 0 ? { initContainers: initContainers.map(imageOf) } : {}),
    },
    status: { phase, conditions, containerStatuses, initContainerStatuses },
  };
}

interface PodSpec {
  readonly nodeName?: string;
  readonly containers?: readonly Fields[];
  readonly initContainers?: readonly Fields[];
}

function imageOf({ name, image }: Fields): Fields {
  return { name, image };
}

/** The part of a node that `nodeFacts` reads: without its images, labels and addresses. For `ListOptions.keep`. */
export function leanNode(node: KubeObject): KubeObject {
  const { unschedulable } = (node.spec ?? {}) as Fields;
  const { conditions = [] } = (node.status ?? {}) as { readonly conditions?: readonly Fields[] };
  return { ...identity(node), spec: { unschedulable }, status: { conditions: conditions.filter(({ type }) => type === 'Ready') } };
}

/** The same plus what a host's endpoint is made of: labels, their writers, labels from the service, addresses. For `ListOptions.keep`. */
export function leanHost(apiGroup: string): (node: KubeObject) => KubeObject {
  const keys = [nodeLabelsKey(apiGroup), ...addressAnnotations(apiGroup)];
  return (node) => {
    const { metadata, status, ...rest } = leanNode(node);
    const { labels, annotations = {}, managedFields = [] } = node.metadata;
    const writers = managedFields.flatMap(({ manager, operation, subresource, fieldsV1 }) => {
      const written = fieldsV1?.['f:metadata']?.['f:labels'];
      if (!written || subresource) return [];
      return [
        { ...(manager ? { manager } : {}), ...(operation ? { operation } : {}), fieldsV1: { 'f:metadata': { 'f:labels': written } } },
      ];
    });
    const own = Object.fromEntries(keys.flatMap((key) => (annotations[key] === undefined ? [] : [[key, annotations[key]]])));
    const { addresses } = (node.status ?? {}) as Fields;
    return {
      ...rest,
      status: { ...(status as Fields), ...(addresses === undefined ? {} : { addresses }) },
      metadata: {
        ...metadata,
        ...(labels ? { labels } : {}),
        ...(Object.keys(own).length > 0 ? { annotations: own } : {}),
        ...(writers.length > 0 ? { managedFields: writers } : {}),
      },
    };
  };
}

/** All of it but who wrote which field, which is as large as the rest and nobody asks of a list. For `ListOptions.keep`. */
export function unattributed(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
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
