import type { ChainOutcome } from '../../engine/chain-outcome.ts';
import { type Effects, stepsLeftIn } from '../../kernel/action.ts';
import type { Finding } from '../../kernel/check.ts';
import type { Command } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import type { EffectTypes } from '../../kernel/effect-type.ts';
import { type ExitName, Fault } from '../../kernel/fault.ts';
import type { RunHistory } from '../../kernel/history.ts';
import { tally } from '../../kernel/judge.ts';
import { latestOf, type PlannedStage } from '../../kernel/plan.ts';
import { type Said, thenAgainAs } from '../../kernel/step.ts';
import type { UpgradeHead } from '../../report/head-line.ts';
import { maskedStage } from '../../report/mask.ts';
import { documentHead, type PreflightReport, type RunReport } from '../documents.ts';

export interface Outcome extends Omit<ChainOutcome, 'stoppedAt'> {
  readonly history?: RunHistory;
  readonly versions?: RunReport['versions'];
  /** For the second line of the screen; absent where what is installed is not clear. */
  readonly head?: UpgradeHead;
}

/** The outcome as it may be shown. */
export function maskedOutcome<O extends Outcome>(effects: EffectTypes, outcome: O): O {
  return { ...outcome, plans: outcome.plans.map((plan) => maskedStage(effects, plan)) };
}

/** Of an outcome that is masked. */
export function runReport(context: Context, command: string, outcome: Outcome, next: Command | string): RunReport {
  const { exit, runId, versions, message, steps, writes, stages, findings, plans, history } = outcome;
  return {
    ...documentHead(context, exit, next),
    ...{
      kind: 'RunReport',
      command,
      dryRun: context.options.dryRun,
      runId,
      versions,
      message,
      suggestions: steps.map(({ plain }) => plain),
      steps,
      writes,
      stages,
    },
    ...{ tally: tally(findings), findings, plans, history },
  };
}

export function preflightReport(context: Context, exit: ExitName, findings: readonly Finding[], next: Command | string): PreflightReport {
  return { ...documentHead(context, exit, next), kind: 'PreflightReport', tally: tally(findings), findings };
}

/** Steps that only the user can do, in the order of the stages: those that a stage waits for, and those that nothing here can see done. */
export function leftToPerson(plans: readonly PlannedStage[]): readonly Said[] {
  return asksOf(plans).map(({ instruction }) => instruction);
}

/** The command of the first of them that has one. */
export function nextOfPerson(plans: readonly PlannedStage[]): Command | undefined {
  return asksOf(latestOf(plans)).find(({ next }) => next !== undefined)?.next;
}

function asksOf(plans: readonly PlannedStage[]): readonly Effects['ask'][] {
  return plans.flatMap(({ actions }) => actions).flatMap(({ effect }) => (effect.type === 'ask' ? [effect] : []));
}

/** A command of one stage with manual steps left stops with exit 5, unlike a chain. Undefined if none are left or it failed. */
export function stopForPerson(exit: ExitName, plans: readonly PlannedStage[], stages: number): Fault | undefined {
  if (exit !== 'done' || stages > 1 || stepsLeftIn(plans.flatMap(({ actions }) => actions)) === 0) return undefined;
  const left = leftToPerson(plans);
  return new Fault('stopped', `${counted(left.length, 'manual step')} left`, [...left, thenAgainAs('it shows what is still open')]);
}
