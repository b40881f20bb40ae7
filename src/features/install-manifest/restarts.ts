import { counted } from '../../kernel/counted.ts';
import { type KubeObject, refOf } from '../../kernel/object.ts';
import type { PlannedObject, PlannedRestart } from '../../kernel/plan.ts';

interface WorkloadShape {
  readonly spec?: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly maxUnavailable?: number | string; readonly maxSurge?: number | string };
    };
  };
  readonly status?: { readonly desiredNumberScheduled?: number };
}

/** The restart of all pods that a workload is to have now; undefined for none, and for what is no workload. */
export function restartOf(workload: KubeObject): PlannedRestart | undefined {
  const pods = podsOf(workload);
  return pods > 0 ? { ref: refOf(workload), pods, ...atOnceOf(workload, pods) } : undefined;
}

function podsOf(workload: KubeObject): number {
  const { spec, status } = workload as WorkloadShape;
  const isReplicated = workload.kind === 'Deployment' || workload.kind === 'StatefulSet';
  return isReplicated ? (spec?.replicas ?? 1) : workload.kind === 'DaemonSet' ? (status?.desiredNumberScheduled ?? 0) : 0;
}

/** The same, with how many pods a changed pod template restarts; `before` is the object as it is, `after` as it will be. */
export function withRestarts(planned: PlannedObject, before: KubeObject | undefined, after: KubeObject | undefined): PlannedObject {
  const pods = before && changesPods(planned) ? podsOf(before) : 0;
  if (pods === 0) return planned;
  const note = `restarts ${counted(pods, 'pod')}${delayOf(after)}`;
  return { ...planned, restarts: pods, ...atOnceOf(after, pods), note: planned.note === undefined ? note : `${note}; ${planned.note}` };
}

/** What the controller of a DaemonSet takes at a time: its defaults where nothing is said. */
function atOnceOf(workload: KubeObject | undefined, pods: number): { readonly atOnce?: number } {
  const { type, rollingUpdate = {} } = ((workload ?? {}) as WorkloadShape).spec?.updateStrategy ?? {};
  if (workload?.kind !== 'DaemonSet' || type === 'OnDelete') return {};
  const { maxUnavailable = 1, maxSurge = 0 } = rollingUpdate;
  return { atOnce: Math.min(pods, Math.max(1, countOf(maxUnavailable, pods) + countOf(maxSurge, pods))) };
}

/** `2`, `25%` of this many, rounded up as the controller does. */
function countOf(said: number | string, of: number): number {
  return typeof said === 'number' ? said : Math.ceil((Number.parseInt(said, 10) / 100) * of) || 0;
}

export function changesPods({ fields }: PlannedObject): boolean {
  return fields.some(({ path }) => path.startsWith('spec.template.'));
}

/** Who holds the restart back; empty where the controller begins at once. */
function delayOf(after: KubeObject | undefined): string {
  const { spec } = (after ?? {}) as WorkloadShape;
  if (spec?.updateStrategy?.type === 'OnDelete') return ', each only when it is deleted (updateStrategy OnDelete)';
  return spec?.paused ? ', once its paused rollout is resumed' : '';
}
