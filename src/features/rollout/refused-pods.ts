import type { KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import { type EventFields, podShape } from '../../kube/pod-facts.ts';
import { itemsIn, pagesOf } from './list-pages.ts';
import { newestOfEach } from './meanings.ts';

/** Events in one answer: tenants can write any number of them. */
const EVENTS = 500;
/** Pods that are named of one node. */
const PODS = 3;
/** Pods that are looked at, of all namespaces. */
const LOOKS = 50;

/** A new pod to which its node gives no network. */
export interface RefusedPod {
  readonly node: string;
  readonly pod: string;
  readonly namespace: string;
  /** In full: what it means may stand anywhere in it. */
  readonly says: string;
}

interface Asked {
  /** Whether this event counts. */
  isDue(event: EventFields): boolean;
  /** When the new agent of this node was made; undefined where it has none. */
  agentMadeAt(node: string): Promise<number | undefined>;
  /** More nodes than these need not be found. */
  readonly maxFailed: number;
}

/** Pods that are younger than the new agent of their node, and were refused a network until now. Throws ApiFailure. */
export async function refusedPods(cluster: Pick<ClusterReader, 'raw'>, asked: Asked): Promise<readonly RefusedPod[]> {
  const most = PODS + asked.maxFailed;
  const found: RefusedPod[] = [];
  for (const event of (await refusals(cluster, asked, most)).slice(0, LOOKS)) {
    const { involvedObject: { namespace = '', name = '' } = {}, source: { host: node = '' } = {}, message = '' } = event;
    if (found.filter((one) => one.node === node).length >= PODS) continue;
    if (await isWaiting(cluster, event, asked)) found.push({ node, namespace, pod: name, says: message });
    if (found.length >= most && nodesOf(found).length > asked.maxFailed) break;
  }
  return found;
}

/** The nodes of these pods. */
export function nodesOf(refused: readonly RefusedPod[]): readonly string[] {
  return [...new Set(refused.map(({ node }) => node))];
}

/** Kubelets have one reason for all that a sandbox lacks: these lack no network, but a runtime or the image of the sandbox. */
const NOT_NETWORK = /no runtime for |runtime handler|failed to get sandbox image/;
const lacksNetwork = ({ message: kubelets = '' }: EventFields): boolean => !NOT_NETWORK.test(kubelets);

/** Of each page only what counts is kept. */
async function refusals(cluster: Pick<ClusterReader, 'raw'>, asked: Asked, most: number): Promise<readonly EventFields[]> {
  const path = `/api/v1/events?fieldSelector=${encodeURIComponent('reason=FailedCreatePodSandBox')}&limit=${EVENTS}`;
  let kept: readonly EventFields[] = [];
  for await (const page of pagesOf(cluster, path))
    kept = newestOfEach([...kept, ...page.filter((one) => asked.isDue(one) && lacksNetwork(one))], most);
  return kept;
}

/** On the node that the event names, made after the new agent there, and without a network until now. */
async function isWaiting(
  cluster: Pick<ClusterReader, 'raw'>,
  { involvedObject, source: { host = '' } = {} }: EventFields,
  asked: Asked,
): Promise<boolean> {
  const { namespace = '', name = '', uid } = involvedObject ?? {};
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
  const selector = encodeURIComponent(`metadata.name=${name}`);
  const [pod] = itemsIn(await cluster.raw(`${path}?fieldSelector=${selector}`)) as readonly KubeObject[];
  if (!pod || pod.metadata.deletionTimestamp || (uid !== undefined && pod.metadata.uid !== uid)) return false;
  const { spec, status: { phase, podIP } = {} } = podShape(pod);
  // With the network of its node it asks for none.
  if (spec?.hostNetwork || spec?.nodeName !== host || phase !== 'Pending' || podIP) return false;
  const madeAt = await asked.agentMadeAt(host);
  return madeAt !== undefined && Date.parse(pod.metadata.creationTimestamp ?? '') > madeAt;
}
