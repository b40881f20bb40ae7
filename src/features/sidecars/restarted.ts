import type { Context } from '../../kernel/context.ts';
import { parseImage } from '../../kernel/release.ts';
import { sidecarImage } from './images.ts';
import type { Injector } from './templates.ts';
import type { MeshedWorkload } from './workloads.ts';

/** Workloads whose pods this command replaces, or waits for while they are being replaced already; what cannot be restarted is in NS-734. */
export function restartedWorkloads(
  workloads: readonly MeshedWorkload[],
  injectors: readonly Injector[],
  context: Context,
): readonly MeshedWorkload[] {
  const { options } = context;
  if (options.onlyTemplate) return [];
  // New pods would get the same older sidecar again.
  if (parseImage(sidecarImage(injectors, context)).tag !== options.release) return [];
  return workloads.filter(
    ({ stale, obstacle, isOlderThanRun }) => obstacle === undefined && (stale > 0 || (options.all === true && isOlderThanRun)),
  );
}
