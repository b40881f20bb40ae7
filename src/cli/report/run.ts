import type { Finding } from '../../core/check.ts';
import type { Context } from '../../core/context.ts';
import type { ExitName } from '../../core/fault.ts';
import { tally } from '../../core/judge.ts';
import type { RunHistory } from '../../core/run-history.ts';
import type { ChainOutcome } from '../../engine/chain-outcome.ts';
import { maskedStage } from '../../ui/mask.ts';
import { documentHead } from '../document-head.ts';
import type { PreflightReport, RunReport } from '../documents.ts';

export interface Outcome extends Omit<ChainOutcome, 'stoppedAt'> {
  readonly history?: RunHistory;
  readonly versions?: RunReport['versions'];
}

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
    plans: outcome.plans.map(maskedStage),
    ...(outcome.history === undefined ? {} : { history: outcome.history }),
  };
}

export function preflightReport(context: Context, exit: ExitName, findings: readonly Finding[], next: string): PreflightReport {
  return { ...documentHead(context, exit, next), kind: 'PreflightReport', tally: tally(findings), findings };
}
