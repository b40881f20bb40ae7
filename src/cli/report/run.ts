import type { ChainOutcome } from '../../engine/chain-outcome.ts';
import type { Finding } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { EffectTypes } from '../../kernel/effect-type.ts';
import type { ExitName } from '../../kernel/fault.ts';
import type { RunHistory } from '../../kernel/history.ts';
import { tally } from '../../kernel/judge.ts';
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
export function runReport(context: Context, command: string, outcome: Outcome, next: string): RunReport {
  return {
    ...documentHead(context, outcome.exit, next),
    kind: 'RunReport',
    command,
    dryRun: context.options.dryRun,
    ...(outcome.runId === undefined ? {} : { runId: outcome.runId }),
    ...(outcome.versions === undefined ? {} : { versions: outcome.versions }),
    ...(outcome.message === undefined ? {} : { message: outcome.message }),
    suggestions: outcome.suggestions,
    writes: outcome.writes,
    stages: outcome.stages,
    tally: tally(outcome.findings),
    findings: outcome.findings,
    plans: outcome.plans,
    ...(outcome.history === undefined ? {} : { history: outcome.history }),
  };
}

export function preflightReport(context: Context, exit: ExitName, findings: readonly Finding[], next: string): PreflightReport {
  return { ...documentHead(context, exit, next), kind: 'PreflightReport', tally: tally(findings), findings };
}
