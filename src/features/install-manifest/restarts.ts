import { counted } from '../../kernel/counted.ts';
import { type KubeObject, refOf } from '../../kernel/object.ts';
import type { PlannedObject, PlannedRestart } from '../../kernel/plan.ts';
import { podsAtOnce } from '../../kube/judge-rollout.ts';

interface WorkloadShape {
  readonly spec?: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly updateStrategy?: { readonly type?: string };
  };
  readonly status?: { readonly desiredNumberScheduled?: number };
}

/** The restart of all pods that a workload is to have now; undefined for none, and for what is no workload. */
export function restartOf(workload: KubeObject): PlannedRestart | undefined {
  const pods = podsOf(workload);
  return pods > 0 ? { ref: refOf(workload), pods, ...pace(workload, pods) } : undefined;
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
  return { ...planned, restarts: pods, ...pace(after, pods), note: planned.note === undefined ? note : `${note}; ${planned.note}` };
}

function pace(workload: KubeObject | undefined, pods: number): { readonly atOnce?: number } {
  const atOnce = workload && podsAtOnce(workload, pods);
  return atOnce === undefined ? {} : { atOnce };
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
