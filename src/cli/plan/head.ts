import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { type PlanHead, upgradeHead } from '../../report/head-line.ts';
import { planDigest } from './digest.ts';
import type { Planned } from './document.ts';

/** A plan, and what was installed at the same look; undefined where that is not clear. */
export interface PlannedHere extends Planned {
  readonly installed: Installation | undefined;
}

/** The facts of a plan's first line. */
export function planHead(context: Context, { stages, installed, effects }: PlannedHere): PlanHead {
  return { ...upgradeHead(context, installed), digest: planDigest(effects, context, stages) };
}
