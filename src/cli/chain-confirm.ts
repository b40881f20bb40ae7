import type { Approved } from '../engine/prepared.ts';
import type { Finding } from '../kernel/check.ts';
import { command } from '../kernel/command.ts';
import type { Acceptance } from '../kernel/context.ts';
import { agoText, counted } from '../kernel/counted.ts';
import { type ExitName, Fault, UnchangedFault } from '../kernel/fault.ts';
import type { Installation } from '../kernel/installation.ts';
import { intentWords } from '../kernel/intent.ts';
import { K } from '../kernel/kinds.ts';
import { continues, openStage, type RunRecord } from '../kernel/run-record.ts';
import type { AnyStage } from '../kernel/stage.ts';
import { AGAIN, Step, type Suggestion, stepOf, text, WHEN_READY } from '../kernel/step.ts';
import { oneLine } from '../kernel/visible.ts';
import { type UpgradeHead, upgradeHead } from '../report/head-line.ts';
import { twoWayLines } from '../report/plan-rows.ts';
import { leftLines } from './ending/closing.ts';
import { nextStep, recordBefore, report } from './ending/end.ts';
import { type Outcome, shownOutcome } from './ending/run.ts';
import { present } from './output.ts';
import { type PlannedHere, planDocument, planHead } from './plan/document.ts';
import { confirmSaved, type SavedPlan } from './plan/file.ts';
import { earlierHere, headOf, planText, summaryOf } from './plan/show.ts';
import type { Acting } from './seams.ts';
import type { Session } from './session.ts';
import { settledByPerson } from './settle-conflicts.ts';

/** What was confirmed. */
export interface Confirmed {
  /** What is installed, what comes, where. */
  readonly head: UpgradeHead;
  /** Where the agents run, where that is clear. */
  readonly agent?: Installation['agent'];
  /** What may be executed. */
  readonly approved: Approved<Acting>;
}

/** The result of asking: the exit that ends the command before any change, or that it may continue. */
export interface Confirmation {
  readonly stopped?: ExitName;
  /** The session to continue with: the user may have accepted a risk. */
  readonly session: Session;
  readonly confirmed?: Confirmed;
}

export async function confirmPlan(session: Session, stages: readonly AnyStage[], saved: SavedPlan | undefined): Promise<Confirmation> {
  const planned = await session.plan(stages);
  if (planned.blocked) {
    const resolutions = saved === undefined ? await settledByPerson(session, askedIn(planned, 'decide')) : undefined;
    if (resolutions) return confirmPlan(await session.deciding({ resolutions }), stages, saved);
    const asks = session.seams.terminal.interactive && !session.context.options.yes;
    if (asks) for (const line of twoWayLines(planned.stages, false)) session.say(line);
    const accept = await takenOnByName(session, askedIn(planned, 'waive'));
    if (accept) return confirmPlan(await session.deciding({ accept }), stages, saved);
    return { session, stopped: await refuse(session, planned, planned.blocked) };
  }
  const agreed = saved === undefined ? session : await stillTrue(session, saved, planned);
  return confirmWith(agreed, stages, planned);
}

type PlannedAnd = Awaited<ReturnType<Session['plan']>>;

/** Findings that can be answered so, in the words for this cluster. */
function askedIn({ findings, prepared: { questions } }: PlannedAnd, kind: 'decide' | 'waive'): readonly Finding[] {
  const ids = new Set(questions.flatMap((one) => (one.kind === kind ? [one.finding.id] : [])));
  return findings.filter(({ id, outcome }) => outcome === 'error' && ids.has(id));
}

/** Throws Fault('stale') unless the saved plan is what would be done; a run then notes that it was begun with it. */
async function stillTrue(session: Session, saved: SavedPlan, planned: PlannedHere): Promise<Session> {
  const { context, composition } = session;
  const now = planDocument(context, 'done', planned, planHead(context, planned), '', session.asked);
  confirmSaved(saved, now, await composition.records.load(), context);
  return session.agreedTo(saved.document.digest);
}

async function confirmWith(session: Session, stages: readonly AnyStage[], planned: PlannedAnd): Promise<Confirmation> {
  const { writes, prepared } = planned;
  const shown = upgradeHead(session.context, planned.installed);
  const { agent } = planned.installed ?? {};
  const { approve } = await import('../engine/prepared.ts');
  const approved = (isLate: boolean) => approve({ ...prepared, context: session.context }, { agreed: true, isLate });
  if (writes && session.context.options.yes) await sayTables(session, planned);
  if (!writes || session.context.options.yes)
    return {
      session: session.context.savedPlan ? await asShown(session, planned) : session,
      confirmed: { head: shown, agent, approved: approved(false) },
    };
  if (!session.seams.terminal.interactive) return { session, stopped: await needsYes(session, planned) };
  const head = planHead(session.context, planned);
  for (const line of [
    session.header(session.errPalette),
    ...planText(session, await headOf(session, head), planned, false, session.errPalette),
  ])
    session.say(line);
  for (const line of [...(await summaryOf(session, planned)), ...leftLines(await recordBefore(session))]) session.say(line);
  const { noReturn } = prepared.steps;
  const end = noReturn === undefined ? '' : ` (no undo after step ${noReturn.step})`;
  const asked = `${await question(session, stages, shown)}${end}`;
  const agreed = await session.seams.terminal.confirm(asked, session.interrupts.soft).catch(async (thrown: unknown) => {
    if (thrown instanceof Fault && thrown.code === 'interrupted') throw await interruptedHere(session);
    throw thrown;
  });
  if (session.interrupts.soft.aborted) throw await interruptedHere(session);
  if (!agreed) throw new UnchangedFault('stopped', 'declined: nothing was changed', await onward(session));
  return { session: await asShown(session, planned), confirmed: { head: shown, agent, approved: approved(true) } };
}

/** With --yes no plan is shown, which says it to everybody else. */
async function sayTables(session: Session, { stages }: PlannedHere): Promise<void> {
  if (!stages.some(({ actions }) => actions.some(({ pointOfNoReturn }) => pointOfNoReturn === 'tables'))) return;
  const { tablesNotes } = await import('../features/going-back/index.ts');
  for (const note of tablesNotes('tables', session.context.options)) session.say(session.errPalette.said(note));
}

/** A number of nodes means those that were shown, also where another one would be the first by then. */
async function asShown(session: Session, { stages }: PlannedHere): Promise<Session> {
  if (session.context.options.canary === undefined) return session;
  const { chosenIn } = await import('../features/canary/index.ts');
  const nodes = chosenIn(stages.flatMap(({ actions }) => actions));
  return nodes.length === 0 ? session : session.withCanary(nodes);
}

const interruptedHere = async (session: Session) =>
  new Fault('interrupted', 'stopped before this command changed anything', await onward(session));

/** What to do after the user said no, and what earlier parts of the run have changed. */
async function onward(session: Session): Promise<readonly Suggestion[]> {
  return [...(await earlierHere(session)), WHEN_READY];
}

/** Failed checks before anything was done: the report is the run's, with no stage in it. */
async function refuse(session: Session, planned: PlannedAnd, exit: ExitName): Promise<ExitName> {
  const waived = await waivable(planned.findings);
  const outcome: Outcome = {
    exit,
    head: upgradeHead(session.context, planned.installed),
    findings: planned.prepared.plan.findings,
    plans: planned.stages,
    stages: [],
    steps: (exit === 'locked'
      ? ['wait for the other run']
      : [
          text`fix what is marked ×, then ${AGAIN}`,
          ...waived.map(
            (id) => new Step('or', text`before you waive ${id}, read when that is safe: ${command`kubectl netsvc-upgrade explain ${id}`}`),
          ),
        ]
    ).map(stepOf),
    writes: 0,
    message: 'checks failed',
  };
  return report(session, shownOutcome(await session.seams.loadEffects(), outcome, session.asked));
}

/** Failed checks that somebody may accept, under conditions that their pages name. */
async function waivable(findings: readonly Finding[]): Promise<readonly string[]> {
  const { allChecks } = await import('../features/chain.ts');
  const never = new Set<string>(allChecks.flatMap(({ id, isNeverWaived }) => (isNeverWaived ? [id] : [])));
  const failed = findings.filter(({ outcome, id }) => outcome === 'error' && !never.has(id)).map(({ id }) => id);
  return [...new Set(failed)];
}

async function needsYes(session: Session, planned: PlannedHere): Promise<ExitName> {
  const head = planHead(session.context, planned);
  const next = nextStep(session, { exit: 'usage', findings: planned.findings });
  const plan = planDocument(session.context, 'usage', planned, head, next, session.asked);
  const message = 'nothing was changed: there is no terminal to ask on and --yes is not given';
  const fault = new Fault('usage', message, ['read the plan, then add --yes']);
  const { steps, suggestions } = fault;
  const closing = () => summaryOf(session, planned);
  await present(session, { ...plan, message, suggestions, steps }, (wide) => planText(session, head, planned, wide), { fault, closing });
  return 'usage';
}

async function question(session: Session, stages: readonly AnyStage[], head: UpgradeHead): Promise<string> {
  const { context, composition } = session;
  const nodes = (await composition.cluster.list(K.Node, { metadataOnly: true })).length;
  const where = `context "${context.contextName}" (${context.server}, ${counted(nodes, 'node')})`;
  if (stages.every(({ readOnly, leavesNothing }) => readOnly || leavesNothing)) return `Do this on ${where}, as planned above?`;
  const { chain, flags } = session.asked;
  const releases = (from: string | undefined) => `from ${from ?? 'an unknown release'} to ${head.release}`;
  // A stage alone is asked for in its own words: neither an upgrade nor a run is resumed by it.
  if (chain && chain.stages !== 'all') {
    const goes = stages.some(({ reaches }) => reaches !== undefined) && !flags.undo ? `, ${releases(head.source)}` : '';
    return `${flags.undo ? 'Undo: ' : ''}${stages.map(({ title }) => title).join(', ')} on ${where}${goes}, as planned above?`;
  }
  const record = await composition.records.load();
  if (!record || !continues(record, context))
    return `${intentWords(context.intent).order} ${where} ${releases(head.source)} as planned above?`;
  const { runId, intent } = record;
  return `Resume run ${runId} (${intent.from ?? 'an unknown release'} → ${intent.to})${stoppedAt(record, composition.clock.now())} on ${where}?`;
}

/** `, stopped at apply 4m ago,`; empty where no stage of the run has ended early. */
function stoppedAt(record: RunRecord, now: Date): string {
  const last = openStage(record);
  if (last === undefined) return '';
  return `, ${last.state === 'running' ? 'interrupted' : 'stopped'} at ${last.id} ${agoText(last.endedAt ?? last.startedAt, now)},`;
}

/** What the user accepts by typing each subject; undefined if nobody can be asked, or a name is typed otherwise. */
async function takenOnByName(session: Session, open: readonly Finding[]): Promise<readonly Acceptance[] | undefined> {
  const { seams, context, interrupts } = session;
  if (!seams.terminal.interactive || context.options.yes || open.length === 0) return undefined;
  const taken: Acceptance[] = [];
  for (const { id: check, message, hint, evidence } of open) {
    session.say(`${check}: ${message}\n${hint ?? ''}`.trim());
    for (const { text: subject } of evidence) {
      const typed = await seams.terminal.ask(`To accept it, type ${oneLine(subject)}:`, interrupts.soft);
      if (typed !== oneLine(subject)) return undefined;
      taken.push({ check, subject });
    }
  }
  return taken;
}
