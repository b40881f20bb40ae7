import type { Context } from '../kernel/context.ts';
import type { EnginePorts } from '../kernel/effect-type.ts';
import type { Observer } from '../kernel/event.ts';
import { type ExitName, Fault, messageOf, stepsAfter } from '../kernel/fault.ts';
import { interruptedBetween, interruptedReading, isGivenUp, isInterrupted } from '../kernel/interruption.ts';
import type { AnyStage } from '../kernel/stage.ts';
import { AGAIN, stepOf } from '../kernel/step.ts';
import { type ChainParts, chainParts } from './act.ts';
import type { ChainOutcome, RunMore } from './chain-outcome.ts';
import { StageRounds } from './stage-rounds.ts';

/** Performs a chain. Every stage plans from the live cluster, so the same call resumes an interrupted run. */
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
      if (exit) {
        await hold.endWatchers();
        return await endChain(parts, { exit, stage });
      }
    }
    await hold.endWatchers();
    hold.mustHold();
    return await endChain(parts, { exit: 'done' });
  } catch (caught) {
    await hold.endWatchers();
    const thrown = stoppedWords(hold.causeOf(caught, parts.actor.last), parts);
    return await endChain(parts, { exit: thrown instanceof Fault ? thrown.code : 'failed', stage: current, thrown });
  } finally {
    await hold.release().catch((failure: unknown) => {
      const text = `the lock could not be given back, other runs wait until it runs out: ${messageOf(failure)}`;
      observe({ type: 'note', stage: current?.id ?? '', level: 'warning', text });
    });
  }
}

/** What Ctrl-C has stopped: the user has to know whether something was being written. */
function stoppedWords(thrown: unknown, { actor: { atWork, writes } }: ChainParts): unknown {
  if (!isInterrupted(thrown)) return thrown;
  if (atWork === undefined) return writes === 0 ? interruptedReading() : interruptedBetween();
  const said = isGivenUp(thrown) ? undefined : thrown;
  if (atWork.effect.type !== 'wait') return said ?? new Fault('interrupted', `stopped in the middle of: ${atWork.title}`, [AGAIN]);
  return new Fault('interrupted', `${said?.message ?? 'stopped while waiting'}: nothing was being written`, said?.steps ?? [AGAIN]);
}

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

async function ended(parts: ChainParts, end: ChainEnd): Promise<ChainOutcome> {
  const { hold, live, recorder, judged, plans, actor } = parts;
  const stale = !hold.isLost && live ? await endRecord(parts, end) : undefined;
  // Whatever this run did, another one has written since: its own end is not the state of the cluster.
  const { exit, stage, thrown } = stale && end.exit === 'done' ? { ...end, exit: stale.code, thrown: stale } : end;
  const outcome: ChainOutcome = {
    exit,
    findings: judged.findings,
    plans: [...plans.values()],
    stages: recorder.stages,
    writes: actor.writes,
    steps: stepsAfter(thrown).map(stepOf),
    ...(thrown === undefined ? {} : { message: messageOf(thrown) }),
    ...(thrown instanceof Fault && thrown.saysUnchanged ? { saysUnchanged: true } : {}),
    ...(stage ? { stoppedAt: stage.id } : {}),
    ...recorder.run,
  };
  if (!hold.isLost && live) {
    await Promise.all([recorder.announceEnd(outcome), ...(stale ? [] : [keepOutcome(parts, outcome)])]);
  }
  return outcome;
}

/** Resolves to the fault where another run has written the record since. */
async function endRecord({ stages, hold, recorder, observe }: ChainParts, { exit, stage, thrown }: ChainEnd): Promise<Fault | undefined> {
  const whole = stages.some((one) => one.judgesResult === true);
  try {
    const looksOnly = stages.every(({ readOnly }) => readOnly);
    await recorder.end(exit, { stage, thrown, whole, looksOnly, takeLock: () => hold.take() });
  } catch (failure) {
    const text = `the run record could not be updated: ${messageOf(failure)}`;
    observe({ type: 'note', stage: stage?.id ?? '', level: 'warning', text });
    return failure instanceof Fault && failure.code === 'stale' ? failure : undefined;
  }
}

/** A report that cannot be kept does not change how a run ends. */
async function keepOutcome({ more: { keepsake }, ports, context, recorder, observe }: ChainParts, outcome: ChainOutcome): Promise<void> {
  if (keepsake === undefined || outcome.runId === undefined) return;
  try {
    const run = { runId: outcome.runId, isContinued: recorder.isContinued };
    await keepReport(ports, run, context.startedAt, await keepsake(outcome));
  } catch (failure) {
    const text = `the report could not be kept beside the run record: ${messageOf(failure)}`;
    observe({ type: 'note', stage: outcome.stoppedAt ?? '', level: 'warning', text });
  }
}

/** Reports are small, but a run that is continued every minute for a week must not fill the cluster. */
const REPORTS_PER_RUN = 10;

/** Stores a report of one part of a run, which began then. A run of very many parts keeps the first ones and the last one. */
export async function keepReport(
  { records }: Pick<EnginePorts, 'records'>,
  { runId, isContinued }: { readonly runId: string; readonly isContinued: boolean },
  startedAt: Date,
  report: unknown,
): Promise<void> {
  const folder = `${runId}/report/`;
  const kept = isContinued ? await records.keptWith(folder) : [];
  const last = kept.length >= REPORTS_PER_RUN ? kept.at(-1) : undefined;
  if (last) await records.keep(last.id, report);
  else await records.append([{ id: `${folder}${startedAt.toISOString()}`, content: report }]);
}
