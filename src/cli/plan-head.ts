import { Fault } from '../core/fault.ts';
import type { Installation } from '../core/installation.ts';
import { ApiFailure } from '../core/ports.ts';
import type { PlanHead } from '../ui/plan-view.ts';
import type { Planned } from './documents.ts';
import { planDigest } from './plan-digest.ts';
import type { Composition } from './seams.ts';

/** The facts of a plan's first line. What is installed may be unclear: the findings say so, the head then says less. */
export async function planHead(composition: Composition, planned: Planned): Promise<PlanHead> {
  const { context } = composition;
  const installed = await installation(composition);
  return {
    ...(installed ? { path: installed.path, datastore: installed.datastore } : {}),
    ...(installed?.variant ? { variant: installed.variant } : {}),
    ...(installed?.release ? { source: installed.release } : {}),
    release: context.options.release,
    clusterUid: context.clusterUid,
    digest: planDigest(context, planned.stages),
  };
}

async function installation(composition: Composition): Promise<Installation | undefined> {
  const { readInstalled } = await import('../stages/installed.ts');
  try {
    return await readInstalled(composition, composition.context);
  } catch (thrown) {
    if (thrown instanceof Fault || thrown instanceof ApiFailure) return undefined;
    throw thrown;
  }
}
