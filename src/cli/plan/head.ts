import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { PlanHead } from '../../report/plan-view.ts';
import { planDigest } from './digest.ts';
import type { Planned } from './document.ts';

/** A plan, and what was installed at the same look; undefined where that is not clear. */
export interface PlannedHere extends Planned {
  readonly installed: Installation | undefined;
}

/** The facts of a plan's first line. What is installed may be unclear: the findings say so, the head then says less. */
export function planHead(context: Context, { stages, installed, effects }: PlannedHere): PlanHead {
  return {
    ...(installed ? { path: installed.path, datastore: installed.datastore } : {}),
    ...(installed?.variant ? { variant: installed.variant } : {}),
    ...(installed?.release ? { source: installed.release } : {}),
    release: context.options.release,
    clusterUid: context.clusterUid,
    digest: planDigest(effects, context, stages),
  };
}
