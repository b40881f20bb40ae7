import type { ExitName } from '../core/fault.ts';
import type { AnyStage } from '../core/stage.ts';
import { confirmPlan } from './chain-confirm.ts';
import { type Save, showPlan } from './chain-plan.ts';
import { report } from './chain-report.ts';
import { findingsHere } from './next-here.ts';
import { loadPlan } from './plan-file.ts';
import type { Seams } from './seams.ts';
import { type Asked, inSession, type Session } from './session.ts';

export interface StageRequest extends Asked {
  /** The stages of the chain that this command performs. */
  readonly select: (chain: readonly AnyStage[]) => readonly AnyStage[];
  readonly planFile?: string;
  readonly detailedExitcode?: boolean;
}

/** The one path of every command that performs stages: plan, confirm, run, report. */
export async function runStageCommand(request: StageRequest, seams: Seams): Promise<ExitName> {
  const stages = request.select(await seams.loadChain());
  const saved = request.planFile === undefined ? undefined : await loadPlan(request.planFile);
  return inSession(seams, request, async (session) => {
    const { dryRun } = session.context.options;
    if (dryRun === 'client') return showPlan(session, stages, request.detailedExitcode ?? false);
    if (dryRun !== 'none' || stages.every((stage) => stage.readOnly)) return perform(session, stages);
    const answer = await confirmPlan(session, stages, saved);
    if (answer.stopped) return answer.stopped;
    // A chain without anything to write only looks: no backup is taken of what stays as it is.
    const looksOnly = stages.length > 1 && !answer.writes;
    return perform(answer.session, looksOnly ? stages.filter((stage) => stage.readOnly) : stages);
  });
}

/** `plan`: the same, without ever acting. */
export async function runPlanCommand(request: StageRequest, seams: Seams, save?: Save): Promise<ExitName> {
  const stages = request.select(await seams.loadChain());
  return inSession(seams, request, (session) => showPlan(session, stages, request.detailedExitcode ?? false, save));
}

async function perform(session: Session, stages: readonly AnyStage[]): Promise<ExitName> {
  const { runChain } = await import('../engine/run-chain.ts');
  const progress = await session.progress('run', stages);
  const outcome = await runChain(stages, session.composition, session.context, progress.observe).finally(() => progress.close());
  return report(session, { ...outcome, findings: findingsHere(outcome.findings, session.asked) });
}
