import { randomUUID } from 'node:crypto';
import { leaseLock } from '../../src/adapters/lock/lock.ts';
import { compose } from '../../src/cli/compose.ts';
import type { Observer } from '../../src/core/event.ts';
import { interruptionOf } from '../../src/core/interruption.ts';
import type { AnyStage } from '../../src/core/stage.ts';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { runChain } from '../../src/engine/run-chain.ts';
import { ownerrefsRestoreStage } from '../../src/stages/ownerrefs-restore.ts';
import { ownerrefsStripStage } from '../../src/stages/ownerrefs-strip.ts';
import { releases } from './shared.ts';
import { type Surroundings, surroundingsEnv } from './upgrade-process.ts';

/** One of the program's stages on a real cluster, as its command performs it. */
export interface OwnerWork {
  readonly name: string;
  perform(around: Surroundings, observe?: Observer): Promise<ChainOutcome>;
}

const FLAGS = { profile: 'calico', release: 'v3.32.1', 'manifest-url': releases } as const;
/** Nobody presses Ctrl-C. */
const interruption = interruptionOf(new AbortController().signal, new AbortController().signal);

export const stripWork: OwnerWork = { name: 'strip', perform: (around, observe) => performStage(ownerrefsStripStage, around, {}, observe) };
/** Before the upgrade: what it waits for is tried elsewhere. */
export const restoreWork: OwnerWork = {
  name: 'restore',
  perform: (around, observe) => performStage(ownerrefsRestoreStage, around, { undo: true }, observe),
};
/** After the upgrade: it waits for the new names of policies, but not for long where a fault keeps it from hearing of them. */
export const restoreAnewWork: OwnerWork = {
  name: 'restore with new UIDs',
  perform: (around, observe) => performStage(ownerrefsRestoreStage, around, { timeout: '30s' }, observe),
};

/**
 * The stage with everything that the command joins to it, all but the process: whoever had the lock before counts as gone, as a
 * killed process does.
 */
async function performStage(
  stage: AnyStage,
  around: Surroundings,
  more: { readonly undo?: boolean; readonly timeout?: string },
  observe: Observer = () => undefined,
): Promise<ChainOutcome> {
  const flags = { ...FLAGS, ...more, kubeconfig: around.kubeconfig };
  const request = { flags, env: surroundingsEnv(around), interruption, interactive: false, warn: () => undefined };
  const composition = await compose(request, 'test');
  try {
    const { cluster, clock } = composition;
    const lock = leaseLock({ cluster, clock, namespace: 'kube-system', identity: `sweep@test/${randomUUID()}`, isGone: () => true });
    return await runChain([stage], { ...composition, lock }, composition.context, observe);
  } finally {
    await composition.close();
  }
}
