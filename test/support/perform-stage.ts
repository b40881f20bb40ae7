import { randomUUID } from 'node:crypto';
import { leaseLock } from '../../src/adapters/lock/lock.ts';
import { compose } from '../../src/cli/compose.ts';
import { effects } from '../../src/cli/effects.ts';
import type { ComposeRequest } from '../../src/cli/seams.ts';
import { undoOf } from '../../src/cli/stage-command.ts';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { runChain } from '../../src/engine/run-chain.ts';
import { ownerrefsRestoreStage } from '../../src/features/chain.ts';
import { ownerrefsStripStage } from '../../src/features/ownerrefs/strip-stage.ts';
import type { Context } from '../../src/kernel/context.ts';
import type { Observer } from '../../src/kernel/event.ts';
import { interruptionOf } from '../../src/kernel/interruption.ts';
import type { AnyStage } from '../../src/kernel/stage.ts';
import { releases } from './releases.ts';
import { CALICO_TARGET } from './target.ts';
import { type Surroundings, surroundingsEnv } from './upgrade-process.ts';

/** Nobody presses Ctrl-C. */
const interruption = interruptionOf(new AbortController().signal, new AbortController().signal);

/**
 * One of the program's stages on a real cluster with everything that the command joins to it, all but the process: whoever had the lock
 * before counts as gone, as a killed process does.
 */
export async function performStage(
  stage: AnyStage,
  around: Surroundings,
  flags: ComposeRequest['flags'],
  observe: Observer = () => undefined,
  intent: Context['intent'] = { kind: 'upgrade' },
): Promise<ChainOutcome> {
  const all = { ...flags, kubeconfig: around.kubeconfig };
  const request = { flags: all, env: surroundingsEnv(around), interruption, interactive: false, warn: () => undefined };
  const composition = await compose(request, 'test');
  try {
    const { cluster, clock } = composition;
    const lock = leaseLock({ cluster, clock, identity: `sweep@test/${randomUUID()}`, isGone: () => true });
    const context = { ...composition.context, intent };
    return await runChain(flags.undo ? undoOf([stage]) : [stage], { ...composition, lock, effects }, context, observe);
  } finally {
    await composition.close();
  }
}

/** One of the program's stages on a real cluster, as its command performs it. */
export interface OwnerWork {
  readonly name: string;
  perform(around: Surroundings, observe?: Observer): Promise<ChainOutcome>;
}

export const FLAGS = { profile: 'calico', release: CALICO_TARGET, 'manifest-url': releases } as const;

export const stripWork: OwnerWork = {
  name: 'strip',
  perform: (around, observe) => performStage(ownerrefsStripStage, around, FLAGS, observe),
};
/** Before the upgrade: what it waits for is tried elsewhere. */
export const restoreWork: OwnerWork = {
  name: 'restore',
  perform: (around, observe) => performStage(ownerrefsStripStage, around, { ...FLAGS, undo: true }, observe),
};
/** After the upgrade: it waits for the new names of policies, but not for long where a fault keeps it from hearing of them. */
export const restoreAnewWork: OwnerWork = {
  name: 'restore with new UIDs',
  perform: (around, observe) => performStage(ownerrefsRestoreStage, around, { ...FLAGS, timeout: '30s' }, observe),
};
