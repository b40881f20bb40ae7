import type { KubeObject } from '../../kernel/object.ts';
import { LAST_APPLIED } from '../../kube/applied-owners.ts';
import { unattributed } from '../../kube/lean-objects.ts';

/** An object without its second copy and without who wrote which field: both are as large as the rest. For `ListOptions.keep`, which a source may leave out. */
export function supportObject(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, ...rest } = unattributed(object);
  const { annotations, ...others } = metadata;
  const { [LAST_APPLIED]: _, ...kept } = annotations ?? {};
  return { apiVersion, kind, metadata: { ...others, ...(annotations ? { annotations: kept } : {}) }, ...rest };
}

type Fields = Readonly<Record<string, unknown>>;

/** What of a node matters to the service: no addresses, no images. For `ListOptions.keep`, which a source may leave out. */
export function supportNode(node: KubeObject): KubeObject {
  const { unschedulable, taints } = (node.spec ?? {}) as Fields;
  const { conditions, nodeInfo } = (node.status ?? {}) as { readonly conditions?: unknown; readonly nodeInfo?: Fields };
  const { kubeletVersion, kernelVersion, osImage, operatingSystem, architecture, containerRuntimeVersion } = nodeInfo ?? {};
  const { name, creationTimestamp } = node.metadata;
  return {
    apiVersion: node.apiVersion,
    kind: node.kind,
    metadata: { name, ...(creationTimestamp ? { creationTimestamp } : {}) },
    spec: { unschedulable, taints },
    status: { conditions, nodeInfo: { kubeletVersion, kernelVersion, osImage, operatingSystem, architecture, containerRuntimeVersion } },
  };
}
