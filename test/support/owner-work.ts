import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { ownerrefsRestoreStage } from '../../src/features/chain.ts';
import { ownerrefsStripStage } from '../../src/features/ownerrefs/strip-stage.ts';
import type { Observer } from '../../src/kernel/event.ts';
import { performStage } from './perform-stage.ts';
import { releases } from './releases.ts';
import type { Surroundings } from './upgrade-process.ts';

/** One of the program's stages on a real cluster, as its command performs it. */
export interface OwnerWork {
  readonly name: string;
  perform(around: Surroundings, observe?: Observer): Promise<ChainOutcome>;
}

export const FLAGS = { profile: 'calico', release: 'v3.32.1', 'manifest-url': releases } as const;

export const stripWork: OwnerWork = {
  name: 'strip',
  perform: (around, observe) => performStage(ownerrefsStripStage, around, FLAGS, observe),
};
/** Before the upgrade: what it waits for is tried elsewhere. */
export const restoreWork: OwnerWork = {
  name: 'restore',
  perform: (around, observe) => performStage(ownerrefsRestoreStage, around, { ...FLAGS, undo: true }, observe),
};
/** After the upgrade: it waits for the new names of policies, but not for long where a fault keeps it from hearing of them. */
export const restoreAnewWork: OwnerWork = {
  name: 'restore with new UIDs',
  perform: (around, observe) => performStage(ownerrefsRestoreStage, around, { ...FLAGS, timeout: '30s' }, observe),
};
