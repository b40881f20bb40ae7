import { jsonAt } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';

/** What a rollout needs to know of a pod: small, unlike a thousand whole pods. */
export interface PodFacts {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly node: string;
  /** Image by container name, from the spec, init containers included: a native sidecar is one. */
  readonly images: Readonly<Record<string, string>>;
  readonly readyContainers: number;
  readonly containers: number;
  readonly phase: string;
  readonly terminating: boolean;
  readonly createdAt: number;
  /** First container (init included) that waits or failed, if any. */
  readonly trouble?: Trouble;
  /** First container that runs and is not ready, where nothing of it waits or failed. */
  readonly unready?: Unready;
  /** The scheduler's words, if the pod has no node. */
  readonly unschedulable?: string;
  readonly readyCondition: boolean;
  /** Since when it is ready, milliseconds since the epoch. */
  readonly readyAt?: number;
  /** Of all its containers together; absent for none. */
  readonly restarts?: number;
  /** Absent where no DaemonSet made it. */
  readonly revision?: Revision;
  /** `DaemonSet/name` of what made it, or adopted it; a ReplicaSet for pods of a Deployment. */
  readonly controller?: string;
}

/** From which template of its DaemonSet a pod was made. */
export interface Revision {
  readonly generation: string;
  readonly hash: string;
}

export interface Trouble {
  readonly container: string;
  readonly reason: string;
  readonly message: string;
  readonly restarts: number;
  readonly lastExit?: number;
}

/** How it ended the last time, if it ever did. */
export type Unready = Pick<Trouble, 'container' | 'restarts' | 'lastExit'>;

export interface NodeFacts {
  readonly name: string;
  readonly ready: boolean;
  readonly unschedulable: boolean;
  readonly reason: string;
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready?: boolean;
  readonly imageID?: string;
  readonly restartCount?: number;
  readonly state?: State;
  readonly lastState?: State;
}
interface State {
  readonly running?: { readonly startedAt?: string };
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly terminated?: { readonly exitCode?: number; readonly reason?: string; readonly message?: string };
}
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly observedGeneration?: number;
}
export interface PodContainer {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
}

/** What we read of a pod's document. */
export interface PodShape {
  readonly spec?: {
    readonly nodeName?: string;
    readonly affinity?: {
      readonly nodeAffinity?: {
        readonly requiredDuringSchedulingIgnoredDuringExecution?: {
          readonly nodeSelectorTerms?: readonly {
            readonly matchFields?: readonly { readonly key: string; readonly values?: readonly string[] }[];
          }[];
        };
      };
    };
    readonly hostNetwork?: boolean;
    readonly containers?: readonly PodContainer[];
    readonly initContainers?: readonly PodContainer[];
    readonly volumes?: readonly { readonly flexVolume?: { readonly driver?: string } }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly podIP?: string;
    readonly podIPs?: readonly { readonly ip?: string }[];
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly Condition[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
  };
}

/** What is read of an event. */
export interface EventFields {
  readonly metadata?: { readonly creationTimestamp?: string };
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string };
  readonly source?: { readonly host?: string };
  readonly involvedObject?: { readonly kind?: string; readonly namespace?: string; readonly name?: string; readonly uid?: string };
}

export function podShape(pod: KubeObject): PodShape {
  return pod as PodShape;
}

/** Written one by one and in no fixed order; null where the server has evaluated nothing yet. */
export function conditionsOf(object: KubeObject | undefined): readonly Condition[] {
  const all = jsonAt(object?.status, 'conditions');
  return Array.isArray(all) ? (all as readonly Condition[]) : [];
}

export function conditionOf(object: KubeObject | undefined, type: string): Condition | undefined {
  return conditionsOf(object).find((one) => one.type === type);
}

/** Init containers first, as they start. */
export function podContainers(pod: KubeObject): readonly PodContainer[] {
  const { spec } = podShape(pod);
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
}

/** Its own, not those of its node; none of a pod that is ending or has ended, which gives them back. */
export function podAddresses(pod: KubeObject): readonly string[] {
  const { spec, status } = podShape(pod);
  if (spec?.hostNetwork || pod.metadata.deletionTimestamp !== undefined || hasEnded(pod)) return [];
  const all = status?.podIPs?.flatMap(({ ip }) => ip ?? []) ?? [];
  return all.length > 0 ? all : [status?.podIP ?? ''].filter(Boolean);
}

/** Its containers ended and will not start again. */
export function hasEnded(pod: KubeObject): boolean {
  return isEnd(podShape(pod).status?.phase);
}

/** Containers that the kernel ended for lack of memory the last time they ended. */
export function endedForMemory(pod: KubeObject): readonly string[] {
  const statuses = podShape(pod).status?.containerStatuses ?? [];
  return statuses
    .filter(({ state, lastState }) => [state, lastState].some((one) => one?.terminated?.reason === 'OOMKilled'))
    .map(({ name }) => name);
}

/** The last phases of a pod's life. */
export function isEnd(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** A Deployment's pods without replaced ones (evicted, node shut down), unless too few others exist to show the reason. */
export function withoutReplaced<Pod>(pods: readonly Pod[], wanted: number, ended: (pod: Pod) => boolean): readonly Pod[] {
  const others = pods.filter((pod) => !ended(pod));
  return others.length >= wanted ? others : pods;
}

/** More different values than this are not kept: those of one release are a handful. */
const SHARED = 500;
const known = new Map<string, unknown>();

/** The same value for all that are equal: thousands of pods of one template have the same containers. */
export function shared<T extends object>(value: T): T {
  const key = JSON.stringify(value);
  const one = known.get(key);
  if (one !== undefined) return one as T;
  if (known.size >= SHARED) known.clear();
  known.set(key, value);
  return value;
}

/** Where an object that was cut down as it was read carries what it told. */
export const FACTS = Symbol('facts');

export function podFacts(pod: KubeObject & { readonly [FACTS]?: PodFacts }): PodFacts {
  if (pod[FACTS]) return pod[FACTS];
  const { spec, status } = podShape(pod);
  const containers = spec?.containers ?? [];
  const statuses = status?.containerStatuses ?? [];
  const ready = conditionOf(pod, 'Ready');
  const isReady = ready?.status === 'True';
  const readyAt = Date.parse((isReady && ready.lastTransitionTime) || '');
  const scheduled = conditionOf(pod, 'PodScheduled');
  const { 'pod-template-generation': generation, 'controller-revision-hash': hash = '' } = pod.metadata.labels ?? {};
  const restarts = statuses.reduce((sum, { restartCount = 0 }) => sum + restartCount, 0);
  const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller);
  return {
    uid: pod.metadata.uid ?? '',
    name: pod.metadata.name,
    namespace: pod.metadata.namespace ?? '',
    node: spec?.nodeName || nodeMeant(spec),
    images: shared(Object.fromEntries(podContainers(pod).map((container) => [container.name, container.image]))),
    readyContainers: statuses.filter((container) => container.ready).length,
    containers: containers.length,
    phase: status?.phase ?? 'Unknown',
    terminating: pod.metadata.deletionTimestamp !== undefined,
    createdAt: Date.parse(pod.metadata.creationTimestamp ?? '') || 0,
    readyCondition: isReady,
    ...(readyAt > 0 ? { readyAt } : {}),
    ...(restarts > 0 ? { restarts } : {}),
    ...(generation === undefined ? {} : { revision: shared({ generation, hash }) }),
    ...(owner ? { controller: `${owner.kind}/${owner.name}` } : {}),
    ...troubleOf([...(status?.initContainerStatuses ?? []), ...statuses]),
    ...(scheduled?.status === 'False' ? { unschedulable: scheduled.message ?? scheduled.reason ?? 'unschedulable' } : {}),
  };
}

/** Those of a DaemonSet or StatefulSet: another one may select the same labels. All of a Deployment, which has ReplicaSets in between. */
export function podsMadeBy(
  { kind, name }: { readonly kind: string; readonly name: string },
  pods: readonly PodFacts[],
): readonly PodFacts[] {
  if (kind === 'Deployment') return pods;
  const own = `${kind}/${name}`;
  return pods.filter(({ controller = own }) => controller === own);
}

/** Reasons of a container that waits for what is on its way. */
export const NOT_YET = new Set(['ContainerCreating', 'PodInitializing', '']);

function troubleOf(statuses: readonly ContainerStatus[]): Pick<PodFacts, 'trouble' | 'unready'> {
  const lastOf = ({ name, restartCount = 0 }: ContainerStatus, lastExit: number | undefined): Unready => {
    return { container: name, restarts: restartCount, ...(lastExit === undefined ? {} : { lastExit }) };
  };
  const broken = statuses.find(({ state }) => !NOT_YET.has(state?.waiting?.reason ?? '') || (state?.terminated?.exitCode ?? 0) !== 0);
  if (broken) {
    const { state: { waiting, terminated } = {}, lastState } = broken;
    const last = lastOf(broken, lastState?.terminated?.exitCode ?? terminated?.exitCode);
    return { trouble: { ...last, reason: waiting?.reason ?? terminated?.reason ?? 'Error', message: waiting?.message ?? '' } };
  }
  const unready = statuses.find(({ ready, state }) => ready === false && state?.running);
  return unready ? { unready: lastOf(unready, unready.lastState?.terminated?.exitCode) } : {};
}

/** A pod of a DaemonSet says which node it is made for, also where it is not scheduled yet. */
function nodeMeant(spec: PodShape['spec']): string {
  const [term, ...others] = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const [field] = term?.matchFields ?? [];
  return (others.length === 0 && field?.key === 'metadata.name' && field.values?.[0]) || '';
}

export function nodeFacts(node: KubeObject & { readonly [FACTS]?: NodeFacts }): NodeFacts {
  if (node[FACTS]) return node[FACTS];
  const { spec } = node as { spec?: { unschedulable?: boolean } };
  const ready = conditionOf(node, 'Ready');
  return {
    name: node.metadata.name,
    ready: ready?.status === 'True',
    unschedulable: spec?.unschedulable ?? false,
    reason: ready?.reason ?? 'no Ready condition',
  };
}
