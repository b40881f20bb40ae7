import type { Context } from '../../kernel/context.ts';
import type { Datastore } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { nodeAddresses, ownNodeAddresses } from '../../kube/lean-objects.ts';
import { ownNodeLabels, syncedNodeLabels } from '../../kube/stored-metadata.ts';
import type { ServiceObjects } from '../policies/index.ts';
import type { NodeFacts } from '../policy-rules/index.ts';

/**
 * The cluster's nodes as the service has them: automatic endpoints get the labels of the service's own node. With the API datastore that
 * is the Kubernetes node with more labels in an annotation; a key-value store has objects of its own, which may have other names.
 */
export async function readHosts(
  nodes: readonly KubeObject[],
  objects: ServiceObjects,
  datastore: Datastore,
  { profile: { apiGroup } }: Context,
): Promise<readonly NodeFacts[]> {
  if (datastore === 'api') {
    return nodes.map((node) => ({ ...hostOf(node), ownLabels: ownNodeLabels(node, apiGroup), addresses: nodeAddresses(node, apiGroup) }));
  }
  const byNode = new Map((await objects('nodes')).map((own) => [kubernetesName(own), own]));
  return nodes.map((node) => {
    const own = byNode.get(node.metadata.name);
    if (!own) return hostOf(node);
    return { ...hostOf(node, own.metadata.name), ownLabels: ownOf(own, apiGroup), addresses: ownNodeAddresses(own) };
  });
}

/** By the Kubernetes node alone. */
export function hostOf({ metadata: { name: node, labels = {} } }: KubeObject, name = node): NodeFacts {
  return { name, node, labels };
}

/** Agents write into their node of which Kubernetes node it is; one that says nothing of the kind has the same name. */
function kubernetesName({ metadata, spec }: KubeObject): string {
  const { orchRefs } = (spec ?? {}) as {
    readonly orchRefs?: readonly { readonly nodeName?: string; readonly orchestrator?: string }[] | null;
  };
  return orchRefs?.find(({ orchestrator }) => orchestrator === 'k8s')?.nodeName ?? metadata.name;
}

/** What the controllers copied from Kubernetes they take away again with it. */
function ownOf(own: KubeObject, apiGroup: string): NodeFacts['labels'] {
  const synced = syncedNodeLabels(own, apiGroup);
  return Object.fromEntries(Object.entries(own.metadata.labels ?? {}).filter(([key]) => !Object.hasOwn(synced, key)));
}
