import { stepsLeftIn } from '../../kernel/action.ts';
import { actionTexts, typeOf } from '../../kernel/effect-type.ts';
import type { ExitName } from '../../kernel/fault.ts';
import { maskValue } from '../../kernel/hidden.ts';
import { isByChart } from '../../kernel/installation.ts';
import { isAnswer } from '../../kernel/interruption.ts';
import { planSteps } from '../../kernel/plan.ts';
import { waitsForUser } from '../../kernel/run-record.ts';
import type { AnyStage } from '../../kernel/stage.ts';
import { NO_RETURNS } from '../../kernel/undo.ts';
import { CARRIED_ID } from '../../manifest/carried-file.ts';
import type { ChangePacket } from '../../report/change-packet.ts';
import type { Palette } from '../../report/colour.ts';
import { fitted } from '../../report/columns.ts';
import { findingsLines } from '../../report/findings.ts';
import { headLine, type PlanHead } from '../../report/head-line.ts';
import { maskedStage } from '../../report/mask.ts';
import { twoWayLines } from '../../report/plan-rows.ts';
import { type Former, isBackedUp, planSummary } from '../../report/plan-summary.ts';
import { type PlanView, planLines } from '../../report/plan-view.ts';
import { type Here, oursWith, stagesHere, textHere } from '../carried.ts';
import { earlierLines, leftLines } from '../ending/closing.ts';
import { nextStep, recordBefore, type Seen, untilHere } from '../ending/end.ts';
import { afterProbe } from '../ending/next-step.ts';
import { present } from '../output.ts';
import type { Session } from '../session.ts';
import { givenAgainLines, lackedBy } from '../user-commands.ts';
import { type Planned, type PlannedHere, planDocument, planHead } from './document.ts';
import type { ForGit } from './for-git.ts';

/** What is made of a plan besides its text. */
export interface PlanOutputs {
  /** The file that it is saved to. */
  readonly out?: string;
  /** The folder for what Git should hold after the upgrade. */
  readonly forGit?: string;
  /** Each object's diff in place of its fields. */
  readonly diff?: boolean;
}

/** Prints the plan as the command's document, and saves it if asked. */
export async function showPlan(
  session: Session,
  stages: readonly AnyStage[],
  detailed: boolean,
  { out, forGit, diff = false }: PlanOutputs = {},
): Promise<ExitName> {
  const planned = await session.plan(stages);
  const git = forGit === undefined ? undefined : await gitOf(session, planned, forGit);
  const head = planHead(session.context, planned);
  // A canary that is held stops for the user once more: what comes after it is not done.
  const isPending =
    planned.writes || planned.stages.some(({ actions }) => actions.some(({ effect }) => typeOf(planned.effects, effect).stops));
  const exit = planned.blocked ?? (detailed && isPending ? 'pending' : 'done');
  const dryRun = session.context.options.dryRun !== 'none';
  const isIdle = !isPending && planned.blocked === undefined;
  const seen = { composition: planned.looks.current(), context: session.context, seams: session.seams };
  const record = await recordBefore(seen);
  const until = isIdle ? await untilHere(session, record) : undefined;
  // A run as it was before would only stop there once more.
  const isHeld = !planned.writes && record !== undefined && waitsForUser(record);
  const step = nextStep(session, {
    exit,
    findings: planned.findings,
    pending: isPending,
    dryRun,
    resume: until?.commit ?? (isHeld ? oursWith('commit', session.asked.carried) : undefined),
    ...(out === undefined ? {} : { savedPlan: out }),
  });
  const made = planDocument(session.context, exit, planned, head, step, session.asked);
  const saved = git?.document ? { ...made, git: git.document } : made;
  if (out !== undefined) await (await import('./file.ts')).savePlan(out, saved);
  // A stage alone is not done without them (`withPerson`); a run ends with them.
  const asking = stages.length === 1 ? planned.stages.filter(({ actions }) => stepsLeftIn(actions) > 0) : [];
  const document = isIdle ? saved : { ...saved, change: await changeOf({ seen, asked: session.asked }, planned, head) };
  const idle = asking.length > 0 ? 'a manual step is left' : until ? 'the run is where it was to stop' : 'there is nothing to do';
  const closing = async () => [
    ...(isIdle ? [] : await summaryOf(seen, planned)),
    ...(git?.lines ?? []),
    isIdle ? `No changes: ${idle}.` : `Nothing was changed${git ? ' in the cluster' : ''}: this is a plan.`,
    ...(until?.lines ?? []),
    ...(await earlierHere(seen)),
    ...leftLines(record),
    ...(record && !isIdle
      ? givenAgainLines(
          lackedBy((name) => session.asked.flags[name] !== undefined, record),
          record,
        )
      : []),
    ...afterProbe(step, session.asked).map(session.outPalette.said),
  ];
  // What a run would leave out then, such as the backup, is no part of its plan.
  const shown = isIdle ? { ...planned, stages: asking } : planned;
  const shownHead = await headOf(seen, head);
  await present(session, document, (wide) => (diff ? planDiffText : planText)(session, shownHead, shown, wide), { closing, isDiff: diff });
  return exit;
}

/** The head of a plan as it is shown: while a run is not finished, it is an upgrade from where that began. */
export async function headOf(seen: Seen, head: PlanHead): Promise<PlanHead> {
  const source = (await recordBefore(seen))?.intent.from;
  return source === undefined ? head : { ...head, source, isUnfinished: true };
}

/** What a run that is not finished changed before. */
export async function earlierHere(seen: Seen): Promise<readonly string[]> {
  const before = await recordBefore(seen);
  return before ? earlierLines(before, { chain: await seen.seams.loadChain(before.intent.kind), now: seen.composition.clock.now() }) : [];
}

/** What was asked for and about how long it takes, then why there is no undo. */
export async function summaryOf(seen: Seen, { stages, installed }: Pick<PlannedHere, 'stages' | 'installed'>): Promise<readonly string[]> {
  const former = await formerOf(seen);
  const { noReturn } = planSteps(stages);
  return [
    planSummary(stages, former, installed?.dataPlane),
    ...(noReturn ? [`No undo after step ${noReturn.step}. ${NO_RETURNS[noReturn.point].long}`] : []),
    ...(isBackedUp(stages) || (await recordBefore(seen))?.backup !== undefined
      ? ['If this machine dies, another can resume: what that needs is in the cluster. Only the backup is not: copy it.']
      : []),
  ];
}

/** What cannot be read of earlier runs is no reason to stop. */
async function formerOf(seen: Seen): Promise<Former | undefined> {
  const { formerTimes } = await import('../ending/recorded.ts');
  return formerTimes(seen).catch((thrown: unknown) => {
    if (isAnswer(thrown)) return undefined;
    throw thrown;
  });
}

/** For a change board. */
async function changeOf(
  { seen, asked }: { readonly seen: Seen; readonly asked: Here },
  { stages, findings, effects, installed }: PlannedHere,
  head: PlanHead,
): Promise<ChangePacket> {
  const [{ changePacket }, { keptEdits }] = await Promise.all([
    import('../../report/change-packet.ts'),
    import('../../features/install-manifest/kept-edits.ts'),
  ]);
  const shown = stages.map((stage) => maskedStage(effects, stage));
  const [chain, former] = [await seen.seams.loadChain(seen.context.intent.kind), await formerOf(seen)];
  const kept = keptEdits((await recordBefore(seen))?.kept ?? []).length > 0 || stages.some(({ keeps }) => keeps === CARRIED_ID);
  const keepsYours = kept || (installed !== undefined && isByChart(installed));
  const change = changePacket({ head, stages: shown, findings, chain, former, dataPlane: installed?.dataPlane, keepsYours });
  return maskValue({ ...change, backout: change.backout.map((line) => textHere(line, asked)) });
}

async function gitOf(session: Session, { findings, writes, looks }: Awaited<ReturnType<Session['plan']>>, folder: string): Promise<ForGit> {
  const { writeForGit } = await import('./for-git.ts');
  return writeForGit(session, folder, { findings, writes, sources: looks.current() });
}

/** The plan for the user, with what is open about it. */
export function planText(
  session: Session,
  head: PlanHead,
  planned: Planned,
  wide: boolean,
  palette = session.outPalette,
): readonly string[] {
  const { namespace } = session.asked.flags;
  const view = viewOf(session, planned, wide, palette);
  return [
    ...planLines(head, stagesHere(planned.stages, session.asked), view),
    ...twoWayLines(planned.stages, wide, namespace),
    ...openLines(planned, view),
  ];
}

/** The same with a unified diff per object. */
async function planDiffText(session: Session, head: PlanHead, planned: Planned, wide: boolean): Promise<readonly string[]> {
  const { planDiffLines } = await import('./diff.ts');
  const view = viewOf(session, planned, wide, session.outPalette);
  const lines = planDiffLines(stagesHere(planned.stages, session.asked), planned.effects, view);
  const parted = (all: readonly string[]) =>
    view.columns === undefined || all.length === 0 ? all : fitted(all.join('\n'), view.columns).split('\n');
  return [...parted([headLine(head, view.palette)]), ...lines, ...parted(openLines(planned, view))];
}

function openLines({ findings }: Planned, { palette, wide }: PlanView): readonly string[] {
  return findings.length > 0 ? findingsLines(findings, { palette, wide, openOnly: true, advice: true }) : [];
}

function viewOf(session: Session, { effects }: Planned, wide: boolean, palette: Palette): PlanView {
  const { namespace } = session.asked.flags;
  const { terminal } = session.seams;
  return {
    palette,
    wide,
    textOf: actionTexts(effects, session.composition.tools.programOf),
    namespace,
    columns: terminal.outIsTerminal ? terminal.columns : undefined,
  };
}
