import type { KubeObject, ObjectMeta } from '../kernel/object.ts';
import { addressAnnotations } from './node-addresses.ts';
import { FACTS, nodeFacts, podFacts } from './pod-facts.ts';
import { nodeLabelsKey } from './stored-metadata.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The name of a pod and its facts: a whole one is fifty times as large. For `ListOptions.keep`. */
export function leanPod(pod: KubeObject): KubeObject {
  return { ...named(pod), [FACTS]: podFacts(pod) };
}

/** The name of a node and its facts. For `ListOptions.keep`. */
export function leanNode(node: KubeObject): KubeObject {
  return { ...named(node), [FACTS]: nodeFacts(node) };
}

function named({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata: { name, ...(namespace ? { namespace } : {}) } };
}

/** What `nodeFacts` reads of a node, and of what a host's endpoint is made: labels, writers, labels from the service, addresses. For `ListOptions.keep`. */
export function leanHost(apiGroup: string): (node: KubeObject) => KubeObject {
  const keys = [nodeLabelsKey(apiGroup), ...addressAnnotations(apiGroup)];
  return (node) => {
    const { unschedulable } = (node.spec ?? {}) as Fields;
    const { addresses, conditions = [] } = (node.status ?? {}) as HostStatus;
    const { metadata, ...rest } = identity(node);
    const { labels, annotations = {}, managedFields = [] } = node.metadata;
    const writers = managedFields.flatMap(({ manager, operation, subresource, fieldsV1 }) => {
      const written = fieldsV1?.['f:metadata']?.['f:labels'];
      if (!written || subresource) return [];
      return [
        { ...(manager ? { manager } : {}), ...(operation ? { operation } : {}), fieldsV1: { 'f:metadata': { 'f:labels': written } } },
      ];
    });
    const own = Object.fromEntries(keys.flatMap((key) => (annotations[key] === undefined ? [] : [[key, annotations[key]]])));
    return {
      ...rest,
      spec: { unschedulable },
      status: { conditions: conditions.filter(({ type }) => type === 'Ready'), ...(addresses === undefined ? {} : { addresses }) },
      metadata: {
        ...metadata,
        ...(labels ? { labels } : {}),
        ...(Object.keys(own).length > 0 ? { annotations: own } : {}),
        ...(writers.length > 0 ? { managedFields: writers } : {}),
      },
    };
  };
}

interface HostStatus {
  readonly addresses?: unknown;
  readonly conditions?: readonly Fields[];
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
