import { stepsAfter } from '../kernel/after-failure.ts';
import { type ExitName, messageOf } from '../kernel/fault.ts';
import type { AnyStage } from '../kernel/stage.ts';
import type { ChainOutcome } from './chain-outcome.ts';
import type { ChainParts } from './chain-parts.ts';
import { keepReport } from './kept-reports.ts';

export interface ChainEnd {
  readonly exit: ExitName;
  /** The one that did not end. */
  readonly stage?: AnyStage | undefined;
  readonly thrown?: unknown;
}

/** Ends the run record, puts the outcome together and keeps a report of it. Nothing is written once the lock is lost. */
export function endChain(parts: ChainParts, end: ChainEnd): Promise<ChainOutcome> {
  return parts.ports.interruption.finish(() => ended(parts, end));
}

async function ended(parts: ChainParts, { exit, stage, thrown }: ChainEnd): Promise<ChainOutcome> {
  const { hold, live, recorder, judged, plans, actor } = parts;
  if (!hold.isLost && live) await endRecord(parts, { exit, stage, thrown });
  const outcome: ChainOutcome = {
    exit,
    findings: judged.findings,
    plans: [...plans.values()],
    stages: recorder.stages,
    writes: actor.writes,
    suggestions: stepsAfter(thrown),
    ...(thrown === undefined ? {} : { message: messageOf(thrown) }),
    ...(stage ? { stoppedAt: stage.id } : {}),
    ...recorder.run,
  };
  if (!hold.isLost && live) await keepOutcome(parts, outcome);
  return outcome;
}

async function endRecord({ stages, hold, recorder, observe }: ChainParts, { exit, stage, thrown }: ChainEnd): Promise<void> {
  const whole = stages.some((one) => one.judgesResult === true);
  try {
    await recorder.end(exit, { stage, thrown, whole, takeLock: () => hold.take() });
  } catch (failure) {
    const text = `the run record could not be updated: ${messageOf(failure)}`;
    observe({ type: 'note', stage: stage?.id ?? '', level: 'warning', text });
  }
}

/** A report that cannot be kept is a pity, and no reason for a run to end otherwise than it did. */
async function keepOutcome({ more: { keepsake }, ports, context, observe }: ChainParts, outcome: ChainOutcome): Promise<void> {
  if (keepsake === undefined || outcome.runId === undefined) return;
  try {
    await keepReport(ports, outcome.runId, context.startedAt, await keepsake(outcome));
  } catch (failure) {
    const text = `the report could not be kept beside the run record: ${messageOf(failure)}`;
    observe({ type: 'note', stage: outcome.stoppedAt ?? '', level: 'warning', text });
  }
}
