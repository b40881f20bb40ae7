import { mapAt, textAt } from '../kernel/json.ts';
import { K } from '../kernel/kinds.ts';
import type { KubeObject } from '../kernel/object.ts';
import { type PodContainer, type PodShape, podShape } from '../kube/pod-facts.ts';
import { sha256Of } from '../kube/sha256.ts';
import { type Store, TEMPLATES } from './store.ts';

interface WorkloadSpec {
  readonly replicas?: number;
  readonly strategy?: { readonly type?: string };
  readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: { readonly maxUnavailable?: number | string } };
  readonly template: {
    readonly metadata?: Pick<KubeObject['metadata'], 'labels' | 'annotations'>;
    readonly spec: NonNullable<PodShape['spec']> & { readonly nodeSelector?: Readonly<Record<string, string>> };
  };
}

const HASH = 'controller-revision-hash';
const NAME_HASH_LENGTH = 5;

export function specOf({ spec }: KubeObject): WorkloadSpec {
  return spec as WorkloadSpec;
}

/** Tells pods of one template from those of another. */
function templateHash(workload: KubeObject): string {
  return sha256Of(JSON.stringify(specOf(workload).template)).slice(0, 10);
}

export function isOfTemplate(pod: KubeObject, workload: KubeObject): boolean {
  return pod.metadata.labels?.[HASH] === templateHash(workload);
}

export function podsOf(store: Store, workload: KubeObject): readonly KubeObject[] {
  return store.list(K.Pod).filter((pod) => pod.metadata.ownerReferences?.some(({ uid }) => uid === workload.metadata.uid));
}

/** A pod of the workload's template on a node; the real Deployment has a ReplicaSet in between. */
export function makePod(store: Store, workload: KubeObject, node: string): void {
  const { metadata = {}, spec } = specOf(workload).template;
  const { name, namespace = 'default', uid = '' } = workload.metadata;
  const hash = templateHash(workload);
  const owner = { apiVersion: workload.apiVersion, kind: workload.kind, name, uid, controller: true, blockOwnerDeletion: true };
  const suffix = sha256Of(`${node}/${hash}/${store.list(K.Pod).length}/${uniqueIn(store, name)}`);
  const templates = workload.metadata.annotations?.[TEMPLATES];
  const annotations = metadata.annotations ? { annotations: metadata.annotations } : {};
  store.insert(K.Pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${name}-${suffix.slice(0, NAME_HASH_LENGTH)}`,
      namespace,
      ...annotations,
      labels: { ...metadata.labels, [HASH]: hash, ...(templates === undefined ? {} : { 'pod-template-generation': templates }) },
      ownerReferences: [owner],
    },
    spec: { ...spec, nodeName: node },
    status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'True' }] },
  });
}

/** Names of pods must not come again: the newest one of the workload makes the difference. */
function uniqueIn(store: Store, name: string): string {
  return store
    .list(K.Pod)
    .filter((pod) => pod.metadata.name.startsWith(`${name}-`))
    .map(({ metadata }) => metadata.uid)
    .join();
}

export function nodeOf(pod: KubeObject): string {
  return podShape(pod).spec?.nodeName ?? '';
}

export function isStopping(pod: KubeObject): boolean {
  return pod.metadata.deletionTimestamp !== undefined;
}

/** Where a pod is on its way, as the kubelet reports it. */
export type PodState = 'pulling' | 'image-pull' | 'starting' | 'ready' | 'crash-loop' | 'not-ready';

const CRASHES = 3;

/** The status of a pod in a state; the first container is the one that a fault hits. */
export function podStatus(pod: KubeObject, state: PodState, startedAt: string) {
  const { containers = [], initContainers = [] } = podShape(pod).spec ?? {};
  const begun = !['pulling', 'image-pull'].includes(state);
  const status = (container: PodContainer, index: number) => ({
    ...identity(container),
    ready: state === 'ready' || (index > 0 && (state === 'not-ready' || state === 'crash-loop')),
    started: begun,
    restartCount: state === 'crash-loop' && index === 0 ? CRASHES : 0,
    ...containerState(state, index, initContainers.length > 0, startedAt),
  });
  const initStatus = (container: PodContainer, index: number) => ({
    ...identity(container),
    ready: begun,
    restartCount: 0,
    state: begun ? { terminated: { exitCode: 0, reason: 'Completed' } } : { waiting: waiting(state, index === 0) },
  });
  const isReady = state === 'ready';
  return {
    phase: begun ? 'Running' : 'Pending',
    startTime: startedAt,
    conditions: conditions(begun, isReady),
    ...(initContainers.length > 0 ? { initContainerStatuses: initContainers.map(initStatus) } : {}),
    containerStatuses: containers.map(status),
  };
}

function identity({ name, image }: PodContainer) {
  return { name, image, imageID: '' };
}

function containerState(state: PodState, index: number, hasInit: boolean, startedAt: string) {
  if (state === 'pulling' || state === 'image-pull') return { state: { waiting: hasInit ? INITIALIZING : waiting(state, index === 0) } };
  if (state !== 'crash-loop' || index > 0) return { state: { running: { startedAt } } };
  const terminated = { exitCode: 1, reason: 'Error' };
  const message = 'back-off 40s restarting failed container';
  return { state: { waiting: { reason: 'CrashLoopBackOff', message } }, lastState: { terminated } };
}

/** As an agent logs it that does not reach the API server; nothing of a pod that does not crash. */
export function crashLog({ status }: KubeObject): string {
  const { containerStatuses = [] } = mapAt(status);
  if (!(containerStatuses as readonly unknown[]).some((one) => textAt(one, 'state', 'waiting', 'reason') === 'CrashLoopBackOff')) return '';
  return `[INFO] startup: Early log level set to info
[ERROR] startup: failed to query the API server: Get "https://10.96.0.1:443/version": dial tcp 10.96.0.1:443: connect: no route to host
[WARNING] startup: Terminating
Calico node failed to start
`;
}

const INITIALIZING = { reason: 'PodInitializing' };

/** As kubelets say it since v1.32: the registry's answer is repeated. */
const NOT_FOUND = 'Back-off pulling image "x": ErrImagePull: failed to resolve reference: not found';

function waiting(state: PodState, first: boolean) {
  if (!first) return INITIALIZING;
  return state === 'image-pull' ? { reason: 'ImagePullBackOff', message: NOT_FOUND } : { reason: 'ContainerCreating' };
}

function conditions(initialized: boolean, ready: boolean) {
  const of = (type: string, isTrue: boolean) => ({ type, status: isTrue ? 'True' : 'False' });
  return [of('PodScheduled', true), of('Initialized', initialized), of('ContainersReady', ready), of('Ready', ready)];
}

/** Ready as workload controllers count it. */
export function isPodReady(pod: KubeObject): boolean {
  return podShape(pod).status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}
