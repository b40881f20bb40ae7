import { Fault } from '../kernel/fault.ts';
import type { AnyStage } from '../kernel/stage.ts';
import * as Flags from './flag.ts';

/** The chain's stages by name, for flags; a test holds it to the chain itself, which is too heavy to load for help. */
export const STAGE_IDS = [
  'preflight',
  'probe-images',
  'backup',
  'ownerrefs-strip',
  'crds',
  'apply',
  'wait',
  'ownerrefs-restore',
  'cli',
  'alp',
  'hep',
  'policy',
  'verify',
  'ownerrefs-forget',
] as const;

/** Stages that the chain holds only when they are asked for. */
export const OPTIONAL_STAGE_IDS = ['probe-images', 'hep', 'policy'] as const;

type StageName = (typeof STAGE_IDS)[number];

const run = { helpGroup: 'run', carried: true, helpValue: 'STAGE', options: STAGE_IDS } as const;

export const rangeFlags = {
  from: Flags.option({ ...run, summary: `first stage: ${STAGE_IDS.join(', ')}` })(),
  through: Flags.option({ ...run, summary: 'last stage' })(),
  include: Flags.option({
    ...run,
    options: OPTIONAL_STAGE_IDS,
    multiple: true,
    multipleNonGreedy: true,
    summary: `also perform this stage, which is left out unless asked for: ${OPTIONAL_STAGE_IDS.join(', ')}; repeatable`,
  })(),
  skip: Flags.option({ ...run, multiple: true, multipleNonGreedy: true, summary: 'leave this stage out; repeatable' })(),
};

type Range = Flags.Values<typeof rangeFlags>;

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
