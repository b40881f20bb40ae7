import { isAnswer } from '../../kernel/interruption.ts';
import { mapAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, refText } from '../../kernel/object.ts';
import { ApiFailure, type ClusterReader } from '../../kernel/ports.ts';
import { named, unattributed } from '../../kube/lean-objects.ts';
import { LAST_APPLIED } from '../../kube/managed-fields.ts';
import { podFacts } from '../../kube/pod-facts.ts';
import { selectorOf, selectorText } from '../../kube/selector.ts';

/** Pods that are kept whole; those that are not ready come first. */
const MOST = 200;

/** The pods of the service, by the selectors of its workloads. */
export async function podsOf({ cluster }: Asking, workloads: readonly KubeObject[]) {
  const found = await Promise.all(workloads.map((one) => selected(cluster, one)));
  const pods = [...new Map(found.flatMap(({ pods }) => pods).map((pod) => [nameOf(pod), pod])).values()];
  const failing = pods.filter((pod) => !isReady(pod));
  const kept = [...failing, ...pods.filter(isReady)].slice(0, MOST);
  const left = pods.length - kept.length;
  const parts: readonly SupportPart[] = [
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
  return isReady(pod) ? 'ready' : `not ready: ${trouble ? `${trouble.container} ${trouble.reason}` : phase}`;
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

/** An object without its last-applied copy and managed fields, each as large as the rest. For `ListOptions.keep`. */
export function supportObject(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, ...rest } = unattributed(object);
  const { annotations, ...others } = metadata;
  const { [LAST_APPLIED]: _, ...kept } = annotations ?? {};
  return { apiVersion, kind, metadata: { ...others, ...(annotations ? { annotations: kept } : {}) }, ...rest };
}

/** What of a node matters to the service: no addresses, no images. For `ListOptions.keep`, which a source may ignore. */
export function supportNode(node: KubeObject): KubeObject {
  const { unschedulable, taints } = mapAt(node.spec);
  const { conditions } = mapAt(node.status);
  const { kubeletVersion, kernelVersion, osImage, operatingSystem, architecture, containerRuntimeVersion } = mapAt(node.status, 'nodeInfo');
  return {
    ...named(node, 'creationTimestamp'),
    spec: { unschedulable, taints },
    status: { conditions, nodeInfo: { kubeletVersion, kernelVersion, osImage, operatingSystem, architecture, containerRuntimeVersion } },
  };
}

/** One file of a bundle for support, or why it is not there. */
export interface SupportPart {
  /** Inside the bundle. Of a document the suffix says the form. */
  readonly path: string;
  /** In a few words, for the index. */
  readonly what: string;
  /** A text, or a document that is written as YAML or JSON. */
  readonly content?: string | object;
  /** Why it could not be read. */
  readonly unread?: string;
}

export interface Asking {
  readonly cluster: Pick<ClusterReader, 'list' | 'raw'>;
}

/** What cannot be read is listed and keeps nothing else out; Ctrl-C ends everything. */
export async function partOf(path: string, what: string, read: () => Promise<string | object>): Promise<SupportPart> {
  try {
    return { path, what, content: await read() };
  } catch (thrown) {
    return { path, what, unread: reasonOf(thrown) };
  }
}

/** Throws on what says nothing about the cluster: an interruption, a defect. */
export function reasonOf(thrown: unknown): string {
  if (thrown instanceof ApiFailure) {
    if (thrown.status === 403) return `this account may not read it: ${thrown.message}`;
    return thrown.status === 0 ? `no answer: ${thrown.message}` : `${thrown.message} (${thrown.status})`;
  }
  if (isAnswer(thrown)) return thrown.message;
  throw thrown;
}

/** A name as a part of a path: names come from the server, and the path of a file must not lead elsewhere. */
export function pathPart(name: string): string {
  return name
    .replace(/[^A-Za-z0-9._-]/g, '_')
    .replace(/\.{2,}/g, '_')
    .slice(0, 80);
}
