import type { PreconditionTypes } from '../../kernel/effect-type.ts';
import { Outdated } from '../../kernel/fault.ts';
import { K, servedKind } from '../../kernel/kinds.ts';
import { type ObjectRef, refText } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import { heldUpdate } from '../../kube/judge-rollout.ts';

declare module '../../kernel/action.ts' {
  interface Preconditions {
    readonly restartable: RestartExpected;
  }
}

export const sidecarPreconditions: Pick<PreconditionTypes, 'restartable'> = {
  restartable: { assert: ({ cluster }, expected) => assertRestartable(cluster, expected) },
};

/** A workload may be restarted: its rollout continues, and no budget of its pods is spent. */
interface RestartExpected {
  readonly type: 'restartable';
  readonly workload: ObjectRef;
  /** Names of the disruption budgets of its pods. */
  readonly budgets: readonly string[];
}

/** Throws Outdated if the workload is gone, paused or replaces its pods manually only by now, or if one of its budgets allows no disruption any more. */
export async function assertRestartable(
  cluster: Pick<ClusterReader, 'get' | 'resolve'>,
  { workload, budgets }: Pick<RestartExpected, 'workload' | 'budgets'>,
): Promise<void> {
  const live = await cluster.get(await servedKind(cluster, workload), workload.name, workload.namespace);
  if (!live) throw new Outdated(`${refText(workload)} is gone`);
  if ((live.spec as { readonly paused?: boolean } | undefined)?.paused) throw new Outdated(`the rollout of ${refText(workload)} is paused`);
  const held = heldUpdate(live);
  if (held !== undefined) throw new Outdated(`${refText(workload)} would not replace every pod: ${held}`);
  for (const name of budgets) {
    const budget = await cluster.get(K.PodDisruptionBudget, name, workload.namespace);
    const { disruptionsAllowed } = (budget?.status ?? {}) as { readonly disruptionsAllowed?: number };
    if (disruptionsAllowed === 0) throw new Outdated(`PodDisruptionBudget ${name} allows no disruption of ${refText(workload)} now`);
  }
}
