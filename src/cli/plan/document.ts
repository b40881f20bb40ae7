import type { Finding } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { EffectTypes } from '../../kernel/effect-type.ts';
import type { ExitName } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import { tally } from '../../kernel/judge.ts';
import type { PlannedStage } from '../../kernel/plan.ts';
import { type PlanHead, upgradeHead } from '../../report/head-line.ts';
import { maskedStage } from '../../report/mask.ts';
import type { PlanDocument } from '../documents.ts';
import { documentHead } from '../documents.ts';
import { type Here, stagesHere } from '../next-here.ts';
import { planBasis, planDigest } from './basis.ts';

export interface Planned {
  readonly stages: readonly PlannedStage[];
  readonly findings: readonly Finding[];
  readonly writes: boolean;
  /** What its actions may do. */
  readonly effects: EffectTypes;
}

export function planDocument(context: Context, exit: ExitName, planned: Planned, head: PlanHead, next: string, here: Here): PlanDocument {
  const { path, variant, datastore, source, digest } = head;
  return {
    ...documentHead(context, exit, next),
    kind: 'Plan',
    digest,
    installed: {
      ...(path ? { path } : {}),
      ...(variant ? { variant } : {}),
      ...(datastore ? { datastore } : {}),
      ...(source ? { release: source } : {}),
    },
    writes: planned.writes,
    tally: tally(planned.findings),
    findings: planned.findings,
    stages: stagesHere(planned.stages, here).map((stage) => maskedStage(planned.effects, stage)),
    basis: planBasis(planned.effects, context, planned.stages),
  };
}

/** A plan, and what was installed at the same look; undefined where that is not clear. */
interface PlannedHere extends Planned {
  readonly installed: Installation | undefined;
}

/** The facts of a plan's first line. */
export function planHead(context: Context, { stages, installed, effects }: PlannedHere): PlanHead {
  return { ...upgradeHead(context, installed), digest: planDigest(effects, context, stages) };
}
