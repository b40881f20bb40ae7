import { Fault } from '../kernel/fault.ts';
import type { AnyStage } from '../kernel/stage.ts';
import type { RunFlags } from './flags.ts';
import type { STAGE_IDS } from './stage-flags.ts';

type StageName = (typeof STAGE_IDS)[number];

type Range = Pick<RunFlags, 'from' | 'through' | 'skip' | 'include'>;

type Select = (chain: readonly AnyStage[]) => readonly AnyStage[];

/** The part of the chain that --from, --through and --skip leave; optional stages only if named by --include. Throws Fault('usage') if nothing is left. */
export function sliceOf({ from, through, skip = [], include = [] }: Range): Select {
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

/** One stage of the chain. */
export function only(id: StageName): Select {
  return (chain) => chain.slice(indexOf(chain, id), indexOf(chain, id) + 1);
}

function indexOf(chain: readonly AnyStage[], id: string): number {
  const index = chain.findIndex((stage) => stage.id === id);
  if (index < 0) throw new Error(`the chain has no stage ${id}`);
  return index;
}

/** A wait that starts Jobs writes: it asks first and takes the lock, as every stage that writes. They are gone when it ends. */
export function probing(select: Select, isProbing: boolean | undefined): Select {
  if (!isProbing) return select;
  return (chain) => select(chain).map((stage) => (stage.id === 'wait' ? { ...stage, readOnly: false, leavesNothing: true } : stage));
}

/** The preflight, and after it what it is asked to do besides. */
export function preflightWith(more: StageName): Select {
  return (chain) => [...only('preflight')(chain), ...only(more)(chain)];
}
