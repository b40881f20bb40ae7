import type { PlanDocument } from '../../src/cli/documents.ts';
import { effects } from '../../src/cli/effects.ts';
import { planDigest, planDocument } from '../../src/cli/plan/document.ts';
import { planChain } from '../../src/engine/plan-chain.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { interruptionOf } from '../../src/kernel/interruption.ts';
import type { AnyStage } from '../../src/kernel/stage.ts';
import type { ApplyBench } from './apply-bench.ts';

const NEVER = new AbortController().signal;

/** The plan as `plan --out` would save it now. */
export async function savedPlan(
  { sources, context }: Pick<ApplyBench, 'sources' | 'context'>,
  stages: readonly AnyStage[] = [applyStage],
): Promise<PlanDocument> {
  const planned = await planChain(stages, { ...sources, effects, interruption: interruptionOf(NEVER, NEVER) }, context, () => undefined);
  const { clusterUid, goal } = context;
  const head = { release: goal.release, clusterUid, digest: planDigest(effects, context, planned.stages) };
  return JSON.parse(
    JSON.stringify(planDocument(context, 'done', { ...planned, effects }, head, '', { typed: 'plan', carried: [], commands: [] })),
  ) as PlanDocument;
}
