import { canonicalAddress } from '../kernel/ip-text.ts';
import { jsonAt, mapAt, textAt } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';
import {
  type Condition,
  type ContainerStatus,
  conditionsOf,
  FACTS,
  nodeFacts,
  type PodContainer,
  type PodShape,
  podFacts,
  podShape,
  shared,
} from './pod-facts.ts';
import { nodeLabelsKey } from './stored-metadata.ts';

/** The name of a pod and its facts: a whole one is fifty times as large. For `ListOptions.keep`. */
export function leanPod(pod: KubeObject): KubeObject {
  return { ...named(pod), [FACTS]: podFacts(pod) };
}

const containerIn = ({ name, image }: PodContainer) => ({ name, image });

/**
 * Of a pod what is read of lists of all namespaces: its containers by name and image, its states, labels. Tenants decide how large the rest
 * is. For `ListOptions.keep`: stages that use this one function share a list.
 */
export function slimPod(pod: KubeObject): KubeObject {
  const { spec: { nodeName, hostNetwork, containers, initContainers, volumes } = {}, status } = podShape(pod);
  const flexVolumes = volumes?.flatMap(({ flexVolume }) => (flexVolume ? [{ flexVolume: { driver: flexVolume.driver } }] : []));
  return {
    ...named(pod, 'uid', 'labels', 'creationTimestamp', 'deletionTimestamp'),
    spec: {
      ...{ nodeName, hostNetwork },
      ...shared({ volumes: flexVolumes, containers: containers?.map(containerIn), initContainers: initContainers?.map(containerIn) }),
    },
    status: status && slimStatus(status),
  };
}

/** Without what kubelets repeat of the spec: mounts, resources and users of each container are more than the rest. */
function slimStatus({ phase, podIP, podIPs, reason, message, ...parts }: NonNullable<PodShape['status']>): object {
  const { conditions, containerStatuses, initContainerStatuses } = parts;
  return {
    ...{ phase, podIP, podIPs, reason, message, conditions: conditions?.map(slimCondition) },
    ...{ containerStatuses: containerStatuses?.map(slimContainer), initContainerStatuses: initContainerStatuses?.map(slimContainer) },
  };
}

const slimCondition = ({ type, status, reason, message, lastTransitionTime }: Condition) => ({
  ...{ type, status, reason, message, lastTransitionTime },
});

const slimContainer = ({ name, ready, imageID, restartCount, state, lastState }: ContainerStatus) => ({
  ...{ name, ready, imageID, restartCount, state, lastState },
});

/** The name of a node and its facts. For `ListOptions.keep`. */
export function leanNode(node: KubeObject): KubeObject {
  return { ...named(node), [FACTS]: nodeFacts(node) };
}

/**
 * Of a node what checks and choices read: labels, annotations, taints, state, machine, addresses. The images that its kubelet lists are more
 * than the rest. For `ListOptions.keep`: stages that use this one function share a list.
 */
export function slimNode(node: KubeObject): KubeObject {
  const { unschedulable, taints = [] } = mapAt(node.spec);
  const { machineID: _, systemUUID: _u, bootID: _b, ...nodeInfo } = mapAt(node.status, 'nodeInfo');
  return {
    ...named(node, 'labels', 'annotations', 'creationTimestamp'),
    spec: shared({ unschedulable, taints }),
    status: {
      addresses: mapAt(node.status).addresses,
      conditions: shared(conditionsOf(node).map(({ type, status, reason }) => ({ type, status, reason }))),
      nodeInfo: shared(nodeInfo),
    },
  };
}

/** Kind, name, namespace and these fields of the metadata, where they are set. For `ListOptions.keep`. */
export function named({ apiVersion, kind, metadata }: KubeObject, ...fields: readonly string[]): KubeObject {
  const kept: Record<string, unknown> & { name: string } = { name: metadata.name };
  for (const field of ['namespace', ...fields]) if (metadata[field]) kept[field] = metadata[field];
  return { apiVersion, kind, metadata: kept };
}

/** What `nodeFacts` reads of a node, and of what a host's endpoint is made: labels, writers, labels from the service, addresses. For `ListOptions.keep`. */
export function leanHost(apiGroup: string): (node: KubeObject) => KubeObject {
  const keys = [nodeLabelsKey(apiGroup), ...addressAnnotations(apiGroup)];
  return (node) => {
    const { addresses } = mapAt(node.status);
    const { metadata, ...rest } = named(node, 'uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp');
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
      spec: { unschedulable: mapAt(node.spec).unschedulable },
      status: { conditions: conditionsOf(node).filter(({ type }) => type === 'Ready'), ...(addresses === undefined ? {} : { addresses }) },
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

/** Annotations of a Kubernetes node in which agents note addresses of its host, in the order of `expectedIPs`. */
const NOTED = [
  'IPv4Address',
  'IPv6Address',
  'IPv4IPIPTunnelAddr',
  'IPv4VXLANTunnelAddr',
  'IPv6VXLANTunnelAddr',
  'IPv4WireguardInterfaceAddr',
  'IPv6WireguardInterfaceAddr',
];

const addressAnnotations = (apiGroup: string): readonly string[] => NOTED.map((name) => `${apiGroup}/${name}`);

/**
 * Addresses of a node's automatic endpoint with the API datastore: those its agent noted and its internal ones (`getExpectedIPs` of the
 * service). The tunnel address of host-local IPAM is missing, as nobody notes it.
 */
export function nodeAddresses({ metadata, status }: KubeObject, apiGroup: string): readonly string[] {
  const noted = addressAnnotations(apiGroup).map((key) => metadata.annotations?.[key]);
  return distinct([...noted, ...internal(status)]);
}

/** The same of a node of the service in a key-value store. */
export function ownNodeAddresses({ spec }: KubeObject): readonly string[] {
  return distinct([
    ...['ipv4Address', 'ipv6Address', 'ipv4IPIPTunnelAddr'].map((field) => textAt(spec, 'bgp', field)),
    ...['ipv4VXLANTunnelAddr', 'ipv6VXLANTunnelAddr'].map((field) => textAt(spec, field)),
    ...['interfaceIPv4Address', 'interfaceIPv6Address'].map((field) => textAt(spec, 'wireguard', field)),
    ...internal(spec),
  ]);
}

/** Addresses by which Kubernetes knows the node inside the cluster, as it writes them. */
export function internalAddresses({ status }: KubeObject): readonly string[] {
  return internal(status);
}

function internal(part: unknown): readonly string[] {
  const addresses = jsonAt(part, 'addresses');
  if (!Array.isArray(addresses)) return [];
  return addresses.filter((one) => textAt(one, 'type') === 'InternalIP').flatMap((one) => textAt(one, 'address') ?? []);
}

/** Without masks; what is no address gives none. */
function distinct(texts: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(texts.flatMap((text) => canonicalAddress(text?.split('/')[0] ?? '') ?? []))];
}
