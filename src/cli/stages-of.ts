import { Fault } from '../kernel/fault.ts';
import type { AnyStage } from '../kernel/stage.ts';
import type { RunFlags } from './flags.ts';
import type { Seams } from './seams.ts';
import type { Asked } from './session.ts';

/** Which stages of the chain a command performs. */
export type Select = (chain: readonly AnyStage[]) => readonly AnyStage[];

/** The part of the chain that --from, --through and --skip leave; optional stages only if named by --include. Throws Fault('usage') if nothing is left. */
export function sliceOf({ from, through, skip = [], include = [] }: Pick<RunFlags, 'from' | 'through' | 'skip' | 'include'>): Select {
  return (chain) => {
    const first = from === undefined ? 0 : indexOf(chain, from);
    const last = through === undefined ? chain.length - 1 : indexOf(chain, through);
    const isWanted = ({ id, optional }: AnyStage) => !optional || [...include, from, through].some((name) => name === id);
    const stages = chain.slice(first, last + 1).filter((stage) => isWanted(stage) && !skip.some((name) => name === stage.id));
    if (stages.length > 0) return stages;
    const order = chain.map((stage) => stage.id).join(', ');
    throw new Fault('usage', 'no stage is left between --from, --through and --skip', [`the order is: ${order}`]);
  };
}

/** These stages of the chain. */
export function only(...ids: readonly string[]): Select {
  return (chain) => ids.flatMap((id) => chain[indexOf(chain, id)] ?? []);
}

function indexOf(chain: readonly AnyStage[], id: string): number {
  const index = chain.findIndex((stage) => stage.id === id);
  if (index < 0) throw new Error(`the chain has no stage ${id}`);
  return index;
}

/** A wait that starts Jobs writes: it asks first and takes the lock, as every stage that writes. They are gone when it ends. */
function probing(stages: readonly AnyStage[]): readonly AnyStage[] {
  return stages.map((stage) => (stage.id === 'wait' ? { ...stage, readOnly: false, leavesNothing: true } : stage));
}

/** The stages of a command: a part of the chain, or the one that it is named after, with the probe of a preflight that is asked to. */
export async function stagesOf({ command, flags }: Asked, seams: Seams, select?: Select): Promise<readonly AnyStage[]> {
  const own = command === 'run' || command === 'plan' ? sliceOf(flags) : only(command, ...(flags['probe-images'] ? ['probe-images'] : []));
  const stages = (select ?? own)(await seams.loadChain());
  return flags['probe-network'] ? probing(stages) : stages;
}
