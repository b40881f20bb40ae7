import type { KubeObject } from '../kernel/object.ts';
import { type PodContainer, podShape } from '../kube/pod-facts.ts';

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

const INITIALIZING = { reason: 'PodInitializing' };

function waiting(state: PodState, first: boolean) {
  if (!first) return INITIALIZING;
  return state === 'image-pull' ? { reason: 'ImagePullBackOff', message: 'Back-off pulling image' } : { reason: 'ContainerCreating' };
}

function conditions(initialized: boolean, ready: boolean) {
  const of = (type: string, isTrue: boolean) => ({ type, status: isTrue ? 'True' : 'False' });
  return [of('PodScheduled', true), of('Initialized', initialized), of('ContainersReady', ready), of('Ready', ready)];
}

/** Ready as workload controllers count it. */
export function isPodReady(pod: KubeObject): boolean {
  return podShape(pod).status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}
