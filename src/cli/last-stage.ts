import type { AnyStage } from '../kernel/stage.ts';
import type { RunFlags } from './flags.ts';

/** A run with a canary that nobody waits for ends with it, as one does that goes no further than to the agents. Else before references are put back. */
export function lastOf(chain: readonly AnyStage[], { canary, soak, until }: Pick<RunFlags, 'canary' | 'soak' | 'until'>): number {
  const stops = (canary !== undefined && soak === undefined) || until === 'agents';
  if (stops) return chain.findLastIndex(({ installs }) => installs === true);
  return until === undefined ? chain.length - 1 : chain.findIndex(({ putsBack }) => putsBack !== undefined) - 1;
}
