import type { Context } from '../kernel/context.ts';
import type { EnginePorts } from '../kernel/engine-ports.ts';
import type { Observer } from '../kernel/event.ts';
import { Fault, messageOf } from '../kernel/fault.ts';
import type { AnyStage } from '../kernel/stage.ts';
import type { ChainOutcome, RunMore } from './chain-outcome.ts';
import { chainParts } from './chain-parts.ts';
import { endChain } from './end-chain.ts';
import { StageRounds } from './stage-rounds.ts';

/**
 * Performs a chain: per stage survey, judge, plan, perform. Every stage plans from the live cluster,
 * so the same call continues a run that was cut off anywhere, and a second one writes nothing.
 */
export async function runChain(
  stages: readonly AnyStage[],
  ports: EnginePorts,
  context: Context,
  observe: Observer,
  more: RunMore = {},
): Promise<ChainOutcome> {
  const parts = chainParts(stages, ports, context, observe, more);
  const { hold } = parts;
  let current: AnyStage | undefined;
  try {
    for (const stage of stages) {
      current = stage;
      const exit = await new StageRounds(stage, parts).run();
      if (exit) return await endChain(parts, { exit, stage });
    }
    return await endChain(parts, { exit: 'done' });
  } catch (caught) {
    const thrown = hold.causeOf(caught);
    return await endChain(parts, { exit: thrown instanceof Fault ? thrown.code : 'failed', stage: current, thrown });
  } finally {
    await hold.release().catch((failure: unknown) => {
      const text = `the lock could not be given back, other runs wait until it runs out: ${messageOf(failure)}`;
      observe({ type: 'note', stage: current?.id ?? '', level: 'warning', text });
    });
  }
}
