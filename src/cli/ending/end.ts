import { type Command, ownCommand } from '../../kernel/command.ts';
import { EXIT, type ExitName, Fault, HeldFault } from '../../kernel/fault.ts';
import { type RunRecord, recordHere, waitsForUser } from '../../kernel/run-record.ts';
import { type Said, type Text, text } from '../../kernel/step.ts';
import type { Palette } from '../../report/colour.ts';
import { type CarriedFlag, isOfOneWay, oursWith, resumeCommand, resumerOf } from '../carried.ts';
import { CHAINS } from '../command-names.ts';
import { isForPerson, present } from '../output.ts';
import { recordedLines, withRecorded } from '../recorded-flags.ts';
import { formerIn, refusalNow } from '../refusal-now.ts';
import type { Session } from '../session.ts';
import { closingLines, owedLines, unfinishedBefore } from './closing.ts';
import type { EndView } from './end-lines.ts';
import { afterProbe, type Ending, endsDemo, nextCommand } from './next-step.ts';
import { nextOfPerson, type Outcome, preflightReport, runDocument, type Shown, stopForPerson } from './run.ts';

/** Prints what a command did as its document, and on stderr why it ended early. */
export async function report(session: Session, shown: Shown): Promise<ExitName> {
  const { context, asked } = session;
  const [effects, chain] = [await session.seams.loadEffects(), await session.seams.loadChain(session.context.intent.kind)];
  const outcome = context.options.dryRun === 'none' ? withPerson(shown) : shown;
  const { exit, findings } = outcome;
  const { chain: of } = asked;
  const full = of?.tells !== undefined;
  const recorded = await recordBefore(session, outcome.record);
  const before = full || of?.resumedBy ? recorded : undefined;
  const flags = before && withRecorded(asked.carried, before, context.clusterUid);
  const resume = flags && (await resumeHere(session, flags, before));
  const isDryRun = context.options.dryRun !== 'none';
  const manual = isDryRun ? undefined : nextOfPerson(outcome.plans);
  // A wait alone that ended well is a stage of those who go stage by stage, but not in a rollback.
  const isResumed = full || exit !== 'done' || resumerOf(before) !== 'run';
  const ran = runDocument(outcome, { context, asked, resume: isResumed ? resume : undefined, manual });
  const step = ran.next;
  if (flags && step.plain === resume?.plain)
    for (const line of recordedLines(resumerOf(before), flags, before, context.clusterUid)) session.say(line);
  const isPreflight = of?.tells === 'readiness' && outcome.message === undefined;
  const document = isPreflight ? preflightReport(context, exit, findings, step) : ran.document;
  const begun = outcome.record && Date.parse(outcome.record.startedAt);
  const view = { ...endViewOf(session, before), isResumed: begun !== undefined && begun < context.startedAt.getTime() };
  const stopped = full || outcome.exit === 'done' || outcome.stages.length === 0 ? undefined : await import('./end-lines.ts');
  const isBlock = stopped !== undefined && outcome.message !== undefined;
  const human = async (wide: boolean) => {
    const { runLines } = await import('./run-lines.ts');
    const { intent, finishedAt } = recorded ?? {};
    const isOfRun = intent?.from !== undefined && intent.to === outcome.head?.release;
    const upgrade = outcome.head && {
      ...outcome.head,
      ...(isOfRun ? { source: intent.from, isUnfinished: finishedAt === undefined } : {}),
    };
    const head = upgrade === undefined ? [] : [(await import('../../report/head-line.ts')).headLine(upgrade, session.outPalette)];
    // A plan that the user has agreed to a moment ago has said it.
    const advice = context.options.yes || !session.seams.terminal.interactive;
    const reason = isBlock ? 'below' : 'beside';
    const needed = isPreflight ? await neededLines(session) : [];
    return [...head, ...needed, ...runLines(outcome, { ...view, wide, full, advice, reason, folded: of?.tells === 'readiness' })];
  };
  const closing = async () => {
    const record = outcome.record ?? recorded;
    return [
      ...(stopped?.stoppedLines(outcome, view, await undoOf(session, record)) ?? []),
      ...(of?.isUpgrade && exit === 'done' && !isDryRun ? await untilLast(session, record) : []),
      ...closingLines({
        of,
        outcome,
        chain,
        effects,
        isDryRun,
        isBlock,
        before: recorded,
        now: session.composition.clock.now(),
      }),
      ...(record ? owedLines(record) : []),
      ...(of?.isUpgrade && !isDryRun && outcome.exit === 'done'
        ? undoneLater(outcome.record, asked.carried).map(session.outPalette.said)
        : []),
      ...(stopped && outcome.record?.finishedAt === undefined && outcome.record ? [stopped.keptText(outcome.record)] : []),
      ...afterProbe(step, asked).map(session.outPalette.said),
      ...(exit !== 'done' && endsDemo({ chain: of, exit }) ? [demoLine(outcome, session.outPalette)] : []),
    ];
  };
  const fault = faultBeside(session, outcome, isBlock);
  await present(session, document, human, { closing, fault, isPart: await isPart(session, outcome) });
  return exit;
}

/** A run that somebody is at work at is not resumed, but followed. */
async function resumeHere(
  { asked, composition: { lock } }: Session,
  flags: readonly CarriedFlag[],
  record: RunRecord | undefined,
): Promise<Command> {
  const holder = asked.looksOnly ? await lock.holder().catch(() => undefined) : undefined;
  return holder ? oursWith('status --watch', asked.carried) : resumeCommand(flags, record);
}

/** What the checks below it hold the cluster and this machine against. */
async function neededLines({ context: { profile, goal }, outPalette: { said } }: Session): Promise<readonly string[]> {
  const [{ prerequisites }, { summaryTable }] = await Promise.all([
    import('../../features/preflight/prerequisites.ts'),
    import('../../report/table.ts'),
  ]);
  return summaryTable(
    ['NEEDED', ''],
    prerequisites(profile, goal.release).map(([what, needed]) => [what, said(needed)]),
  );
}

/** Asked only where somebody is told that the run is done. */
async function isPart(session: Session, { exit, record }: Outcome): Promise<boolean> {
  const { notices, metrics } = session.outlets;
  if (exit !== 'done' || (notices === undefined && metrics === undefined)) return false;
  const kept = record ?? recordHere(await session.composition.records.load().catch(() => undefined), session.context);
  return kept !== undefined && kept.finishedAt === undefined;
}

/** What stderr says beside the document; nothing where the block is on the same terminal. Its steps are in the block, if the format has one. */
function faultBeside({ seams, asked }: Session, { exit, message, steps, stages }: Outcome, isBlock: boolean): Fault | undefined {
  const isShown = isBlock && isForPerson(asked.flags.output);
  const { outIsTerminal, errIsTerminal } = seams.terminal;
  if (message === undefined || (isShown && outIsTerminal && errIsTerminal)) return undefined;
  const shown = isShown ? [] : steps;
  return waitsForUser({ stages }) ? new HeldFault(message, shown) : new Fault(exit, message, shown);
}

/** Of a run that has begun to write. */
async function undoOf(session: Session, record: RunRecord | undefined): Promise<readonly Said[]> {
  if (record === undefined) return [];
  const { asked, composition, context, seams } = session;
  const { undoTexts } = await import('./end-lines.ts');
  const [carried, now] = [withRecorded(asked.carried, record, context.clusterUid), composition.clock.now()];
  const refused = await composition.interruption.finish(() => refusalNow(composition.records, record, formerIn(session, record)));
  return undoTexts(record, { chain: await seams.loadChain(record.intent.kind), carried, now, refused });
}

/** Of an upgrade that came to its end: whether it can be undone is found out where it is asked for. */
function undoneLater(record: RunRecord | undefined, carried: readonly CarriedFlag[]): readonly Text[] {
  if (record?.finishedAt === undefined || record.noReturn || record.intent.kind !== 'upgrade') return [];
  const back = carried.filter(({ name }) => !isOfOneWay(name));
  return [text`What can be undone now: ${oursWith('plan --rollback', back)}`];
}

/** Of a run that has stopped where `--until` said, what `status` says of it, and what continues it. */
export async function untilHere(
  session: Session,
  record: RunRecord | undefined,
): Promise<{ readonly lines: readonly string[]; readonly commit: Command } | undefined> {
  const { readUntil, untilLines } = await import('../until-status.ts');
  const until = await readUntil(session, record, undefined);
  if (!until || !record) return undefined;
  const { asked, composition, context, outPalette } = session;
  const commit = oursWith('commit', withRecorded(asked.carried, record, context.clusterUid));
  const { undoLines } = await import('./end-lines.ts');
  const undo = undoLines(await undoOf(session, record), outPalette);
  const lines = untilLines({ until, ownerReferences: record.stripped ?? null, record }, composition.clock.now(), commit);
  return { lines: [...lines.map(outPalette.said), ...undo], commit };
}

/** The command has ended: what cannot be read any more says nothing. */
export const untilLast = async (...of: Parameters<typeof untilHere>) => (await untilHere(...of).catch(() => undefined))?.lines ?? [];

/** The cluster as a command sees it. */
export type Seen = Pick<Session, 'composition' | 'context' | 'seams'>;

/** A record that cannot be read says nothing here: the command has ended. One that it has written itself is as it left it. */
export async function recordBefore({ composition, context }: Seen, written?: RunRecord): Promise<RunRecord | undefined> {
  return unfinishedBefore(written ?? (await composition.records.load().catch(() => undefined)), context);
}

/** What the last line would be on a cluster that is still there. */
function demoLine({ exit, findings, steps }: Outcome, { said }: Palette): string {
  const next = nextCommand({ exit, findings, steps, chain: CHAINS.run, carried: [], typed: 'run' });
  return `The exit code is ${EXIT[exit]}. On a real cluster the next command would be: ${said(next)}`;
}

/** Whose end is told, in which colours. */
export function endViewOf({ outPalette, context, asked }: Session, before?: RunRecord): EndView {
  const { typed } = asked;
  const resume = asked.chain?.resumedBy ? resumeCommand(asked.carried, before) : ownCommand(typed).asking();
  return { palette: outPalette, service: context.profile.short, release: context.goal.release, resume };
}

/** For a command of one stage, a manual step left is a reason to stop. */
function withPerson(outcome: Shown): Shown {
  const stop = stopForPerson(outcome.exit, outcome.plans, outcome.stages.length);
  return stop ? { ...outcome, exit: stop.code, message: stop.message, steps: stop.steps } : outcome;
}

/** The last line, for this session's command line. */
export function nextStep(session: Session, ending: Omit<Ending, 'chain' | 'carried' | 'typed'>): Command {
  const { chain, carried, typed } = session.asked;
  return nextCommand({ ...ending, chain, carried, typed });
}
