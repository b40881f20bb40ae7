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
import { type Here, outcomeHere } from '../carried.ts';
import { documentHead, type PreflightReport, type RunReport } from '../documents.ts';
import { type Ending, nextCommand } from './next-step.ts';

export interface Outcome extends ChainOutcome {
  readonly history?: RunHistory;
  readonly versions?: RunReport['versions'];
  /** For the second line of the screen; absent where what is installed is not clear. */
  readonly head?: UpgradeHead;
}

declare const SHOWN: unique symbol;

/** An outcome that may be shown: nothing secret is in it, and each command is as it is typed here. */
export type Shown = Outcome & { readonly [SHOWN]: true };

/** Of what a chain came to: without `here` its commands would go to whatever cluster is the current one. */
export function shownOutcome(effects: EffectTypes, outcome: Outcome, here: Here): Shown {
  const said = outcomeHere(outcome, here);
  return { ...said, plans: said.plans.map((plan) => maskedStage(effects, plan)) } as Outcome as Shown;
}

/** Of reports that were kept: each was made from such an outcome. */
export const shownBefore = (outcome: Outcome): Shown => outcome as Shown;

/** For whom a document is, and what comes next is computed from besides the outcome. */
export interface RunPlace extends Pick<Ending, 'resume' | 'manual'> {
  readonly context: Context;
  readonly asked: Pick<Ending, 'chain' | 'carried' | 'typed'> & { readonly command: string };
}

/** What a run is printed, kept and reported as, and the command that comes next. It knows no terminal: the three calls end with it. */
export function runDocument(
  outcome: Shown,
  { context, asked, ...more }: RunPlace,
): { readonly document: RunReport; readonly next: Command } {
  const { exit, findings, steps } = outcome;
  const { command, chain, carried, typed } = asked;
  const next = nextCommand({ exit, findings, steps, chain, carried, typed, dryRun: context.options.dryRun !== 'none', ...more });
  return { document: runReport(context, command, outcome, next), next };
}

export function runReport(context: Context, command: string, outcome: Shown, next: Command | string): RunReport {
  const { exit, runId, versions, message, steps, writes, stages, findings, plans, history, record } = outcome;
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
      ...(record?.owed ? { owed: record.owed } : {}),
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
