import { type Api, find } from './api.ts';

/** A DaemonSet or a Deployment, as far as the service's own parts look at it. */
export interface Workload {
  readonly metadata: { readonly name: string; readonly generation: number; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly replicas?: number;
    readonly template: { readonly spec: { readonly containers: readonly { readonly image: string; readonly env?: readonly unknown[] }[] } };
  };
  readonly status?: Readonly<Partial<Record<string, number>>>;
}

/** Undefined if there is none: `daemonsets/calico-node`. */
export const workload = (api: Api, namespace: string, name: string): Promise<Workload | undefined> =>
  find(api, `/apis/apps/v1/namespaces/${namespace}/${name}`);

export const imageOf = ({ spec }: Workload): string => spec.template.spec.containers[0]?.image ?? '';

/** The image of a Deployment's pods; undefined while they are being replaced. */
export function runningImage(deployment: Workload): string | undefined {
  const { observedGeneration = 0, updatedReplicas, availableReplicas } = deployment.status ?? {};
  return observedGeneration >= deployment.metadata.generation && updatedReplicas && availableReplicas ? imageOf(deployment) : undefined;
}

/** As the controllers of v3.32 want their agents before they begin. */
export function isRolledOut({ metadata, status = {} }: Workload): boolean {
  const { observedGeneration = 0, desiredNumberScheduled: wanted = 0, currentNumberScheduled, updatedNumberScheduled = 0 } = status;
  if (observedGeneration < metadata.generation || currentNumberScheduled !== wanted || updatedNumberScheduled !== wanted) return false;
  return (status.numberUnavailable ?? 0) === 0 && (status.numberMisscheduled ?? 0) === 0;
}
