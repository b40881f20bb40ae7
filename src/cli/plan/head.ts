import type { PlanHead } from '../../ui/plan-view.ts';
import type { Session } from '../session.ts';
import { planDigest } from './digest.ts';
import type { Planned } from './document.ts';

/** The facts of a plan's first line. What is installed may be unclear: the findings say so, the head then says less. */
export async function planHead({ seams, composition, context }: Session, planned: Planned): Promise<PlanHead> {
  const installed = await seams.installed(composition);
  return {
    ...(installed ? { path: installed.path, datastore: installed.datastore } : {}),
    ...(installed?.variant ? { variant: installed.variant } : {}),
    ...(installed?.release ? { source: installed.release } : {}),
    release: context.options.release,
    clusterUid: context.clusterUid,
    digest: planDigest(context, planned.stages),
  };
}
