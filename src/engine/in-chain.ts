import type { Context } from '../kernel/context.ts';
import type { AnyStage } from '../kernel/stage.ts';

/** The context of one stage of a chain; `onlyPlanned` if what comes before it is not performed. */
export function inChain(context: Context, stages: readonly AnyStage[], stage: AnyStage, onlyPlanned: boolean, again = false): Context {
  const ids = stages.map(({ id }) => id);
  const at = ids.indexOf(stage.id);
  const place = { pending: onlyPlanned ? ids.slice(0, at) : [], onlyPlanned, later: ids.slice(at + 1) };
  return { ...context, chain: again ? { ...place, again } : place };
}
