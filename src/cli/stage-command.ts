import type { Announce, ChainOutcome, RunMore } from '../engine/chain-outcome.ts';
import type { Looks } from '../engine/plan-chain.ts';
import type { Approved } from '../engine/prepared.ts';
import type { ProbeWatch } from '../features/canary/index.ts';
import { command } from '../kernel/command.ts';
import { actionTexts, changesSomething } from '../kernel/effect-type.ts';
import type { EngineEvent } from '../kernel/event.ts';
import { type ExitName, Fault, unlockOnce } from '../kernel/fault.ts';
import { History } from '../kernel/history.ts';
import type { Installation } from '../kernel/installation.ts';
import { beforeChanges } from '../kernel/interruption.ts';
import { continues, recordHere, turns } from '../kernel/run-record.ts';
import type { AnyStage } from '../kernel/stage.ts';
import { look, stepOf, text } from '../kernel/step.ts';
import { inDataPlane } from '../kernel/traffic.ts';
import type { UpgradeHead } from '../report/head-line.ts';
import { maskedAction } from '../report/mask.ts';
import { eventHere, flagsOfRun, isOfOneWay, isOn, oursWith } from './carried.ts';
import { type Confirmed, confirmPlan } from './chain-confirm.ts';
import type { RunReport } from './documents.ts';
import { report } from './ending/end.ts';
import { type Outcome, runDocument, type Shown, shownOutcome } from './ending/run.ts';
import type { Row } from './flag.ts';
import { FLAG_ROWS, FLAGS, type RunFlags } from './flags.ts';
import { lastOf } from './last-stage.ts';
import { loadPlan } from './plan/file.ts';
import { showPlan } from './plan/show.ts';
import { withinPlan } from './plan/within.ts';
import type { Acting, Seams } from './seams.ts';
import { type Asked, inSession, type Session } from './session.ts';

type Select = (chain: readonly AnyStage[]) => readonly AnyStage[];

/** The part of the chain that --from, --through and --skip leave; optional stages only if named by --include. Throws Fault('usage') if nothing is left. */
export function sliceOf(flags: Pick<RunFlags, 'from' | 'through' | 'skip' | 'include' | 'canary' | 'soak' | 'until'>): Select {
  const { from, through, skip = [], include = [] } = flags;
  return (chain) => {
    const first = from === undefined ? 0 : indexOf(chain, from);
    const last = Math.min(through === undefined ? chain.length - 1 : indexOf(chain, through), lastOf(chain, flags));
    const isWanted = ({ id, optional }: AnyStage) => !optional || [...include, from, through].some((name) => name === id);
    const stages = chain.slice(first, last + 1).filter((stage) => isWanted(stage) && !skip.some((name) => name === stage.id));
    if (stages.length > 0) return stages;
    const order = chain.map((stage) => stage.id).join(', ');
    throw new Fault('usage', 'no stage is left between --from, --through and --skip', [`the order is: ${order}`]);
  };
}

function indexOf(chain: readonly AnyStage[], id: string): number {
  const index = chain.findIndex((stage) => stage.id === id);
  if (index < 0) throw new Error(`the chain has no stage ${id}`);
  return index;
}

/** A wait that starts Jobs writes: it asks first and takes the lock, as every stage that writes. They are gone when it ends. */
function probing(stages: readonly AnyStage[]): readonly AnyStage[] {
  return stages.map((stage) => (stage.probes ? { ...stage, readOnly: false, leavesNothing: true } : stage));
}

/** With `--undo`: what takes them back. */
export function undoOf(stages: readonly AnyStage[]): readonly AnyStage[] {
  return stages.flatMap(({ undo }) => (undo ? { ...undo, isUndo: true } : []));
}

/** The stages of a command, with an optional one that has a flag of its name. */
export async function stagesOf({ chain, flags }: Asked, seams: Seams): Promise<readonly AnyStage[]> {
  const all = await seams.loadChain(chain?.intent);
  if (flags.undo && chain && chain.stages !== 'all') return undoOf(partOf(all, chain.undoes ?? chain.stages, {}));
  const stages = chain === undefined || chain.stages === 'all' ? sliceOf(flags)(all) : partOf(all, chain.stages, flags);
  return flags['probe-network'] ? probing(stages) : stages;
}

function partOf(all: readonly AnyStage[], ids: readonly string[], flags: Readonly<Record<string, unknown>>): readonly AnyStage[] {
  const asked = all.flatMap(({ id, optional }) => (optional && flags[id] !== undefined && flags[id] !== false ? [id] : []));
  return [...ids, ...asked].flatMap((id) => all[indexOf(all, id)] ?? []);
}

/** The one path of every command that performs stages: plan, confirm, run, report. */
export async function runStageCommand(asked: Asked, seams: Seams): Promise<ExitName> {
  const usual = await stagesOf(asked, seams);
  const { 'plan-file': planFile, 'detailed-exitcode': detailed = false, 'dry-run': dryRunFlag = 'none' } = asked.flags;
  refuseWithoutUse(dryRunFlag, { planFile, detailed });
  const saved = planFile === undefined ? undefined : await loadPlan(planFile);
  const looksOnly = dryRunFlag !== 'none' || usual.every((stage) => stage.readOnly);
  return inSession(seams, { ...asked, looksOnly }, async (session) => {
    // Until the first step.
    session.outlets.doing.now = 'reading';
    const { dryRun } = session.context.options;
    if (asked.chain?.goesOn) await beforeChanges(refuseUnbegun(session));
    const stages = asked.chain?.goesOn ? await stagesOf(session.asked, seams) : usual;
    if (dryRun === 'client') return showPlan(session, stages, detailed);
    if (dryRun !== 'none' || stages.every((stage) => stage.readOnly)) return perform(session, await lookingOnly(session, stages));
    const held = await beforeChanges(besideAnother(session));
    // Its commands have their flags.
    if (held) return report(session, shownOutcome(await seams.loadEffects(), held, { ...session.asked, carried: [] }));
    const probe = await beforeChanges(probeOf(session));
    const answer = await beforeChanges(confirmPlan(session, stages, saved));
    if (answer.confirmed === undefined) return answer.stopped ?? 'stopped';
    const { approved, ...confirmed } = answer.confirmed;
    return perform(answer.session, approved, {
      ...confirmed,
      probe,
      within:
        saved &&
        (await withinPlan(saved, answer.session.context, {
          ...(await answer.session.acting()),
          chain: await seams.loadChain(session.context.intent.kind),
        })),
    });
  });
}

/** Each of these would be taken for an answer that nobody gave. */
function refuseWithoutUse(
  dryRun: string,
  { planFile, detailed }: { readonly planFile: string | undefined; readonly detailed: boolean },
): void {
  if (detailed && dryRun !== 'client')
    throw new Fault('usage', '--detailed-exitcode goes with --dry-run=client alone', [
      text`see whether anything would change: ${command`kubectl netsvc-upgrade plan --detailed-exitcode`}`,
    ]);
  if (planFile !== undefined && dryRun !== 'none')
    throw new Fault('usage', '--plan-file is not compared in a dry run', [
      'leave one of them out: a run compares the plan with the cluster before it writes, and refuses with exit 7 where they differ',
    ]);
}

/** Throws Fault('usage') where no run is unfinished: there is nothing to continue with. */
async function refuseUnbegun({ composition: { records }, context }: Session): Promise<void> {
  if (continues(await records.load(), context)) return;
  throw new Fault('usage', `no unfinished run to ${context.goal.release} is recorded on this cluster: there is nothing to continue with`, [
    text`begin one: ${command`kubectl netsvc-upgrade run`}`,
    look(text`see what is recorded: ${command`kubectl netsvc-upgrade status`}`),
  ]);
}

/** Before anything is planned: where another run is at work, the user is told so at once. Undefined where nobody is. */
async function besideAnother(session: Session): Promise<Outcome | undefined> {
  const { lock, records, clock } = session.composition;
  const holder = await lock.holder();
  if (!holder) return undefined;
  const { heldText, recordHead } = await import('../report/head-line.ts');
  const record = recordHere(await records.load().catch(() => undefined), session.context);
  const steps = [
    look(text`follow that run: ${oursWith('status --watch', session.asked.carried)}`),
    stepOf(unlockOnce(oursWith('unlock', session.asked.carried).repairing())),
  ];
  const message = `${heldText(holder, record, clock.now())}; nothing was changed by this command`;
  const head = record && recordHead(record);
  return { exit: 'locked', head, findings: [], plans: [], stages: [], writes: 0, steps, message, saysUnchanged: true };
}

/** The user's own probe, which has just passed. Throws Fault where it does not, or where the run was begun with a command that is not given now. */
async function probeOf({ composition, context, asked, interrupts }: Session): Promise<ProbeWatch | undefined> {
  const { refuseWithout, typedCommand, USER_COMMANDS } = await import('./user-commands.ts');
  const { flags, command: name } = asked;
  const mayHave = USER_COMMANDS.filter((one) => isOn(FLAGS[one], name));
  const record = mayHave.length === 0 ? undefined : await composition.records.load();
  const has = (one: string, isTurned: boolean) => mayHave.some((known) => known === one) && !(isTurned && isOfOneWay(one));
  const isTurned = turns(record, context);
  if (record && (isTurned || continues(record, context))) refuseWithout(record, flags, (one) => has(one, isTurned));
  if (flags.probe === undefined) return undefined;
  const { ProbeWatch: Watch } = await import('../features/canary/index.ts');
  const probe = new Watch(composition);
  await probe.first(typedCommand('probe', flags.probe), interrupts.soft);
  return probe;
}

/**
 * What flags begin with of which the record tells only as long as they are given. A stage that is performed alone ends no `--until`. A hold
 * of policies' names is released by the end alone: its flag stays.
 */
function leftFlagsOf({ chain, command: name }: Asked): readonly string[] {
  const isLeft = (flag: string, row: Row) => row.stops && (chain?.isUpgrade || (flag !== 'until' && isOn(row, name)));
  return FLAG_ROWS.filter(([flag, row]) => isLeft(flag, row)).map(([flag]) => (flag === 'until' ? '--until=agents' : `--${flag}=`));
}

interface Planned extends Partial<Omit<Confirmed, 'approved'>>, Pick<RunMore, 'within'> {
  readonly probe?: ProbeWatch | undefined;
}

/** What only looks, or asks the server alone. */
async function lookingOnly(session: Session, stages: readonly AnyStage[]): Promise<Approved<Acting>> {
  const { unasked } = await import('../engine/prepared.ts');
  return unasked({ stages, context: session.context, ports: await session.acting() });
}

async function perform(session: Session, approved: Approved<Acting>, { head, agent, within, probe }: Planned = {}): Promise<ExitName> {
  const { execute } = await import('../engine/prepared.ts');
  const { stages, ports: acting, looks } = approved;
  const all = await session.seams.loadChain(session.context.intent.kind);
  const { looksOnly = false } = session.asked;
  // At the beginning, when the first stage reads the same: at the end of a wait it would list every node and pod again, for one line.
  const found = head ? undefined : headBy(session, looks);
  const progress = await session.progress('run', stages);
  const { clock, effects } = acting;
  const textOf = actionTexts(effects, acting.tools.programOf);
  const history = new History(clock.now(), (action) => textOf(maskedAction(effects, action)));
  let hasWaited = false;
  const observe = (seen: EngineEvent) => {
    const event = eventHere(seen, session.asked);
    history.observe(event, clock.now());
    progress.observe(event);
    session.outlets.metrics?.observe(event);
    session.outlets.notices?.observe(event);
    // While pods roll nothing else is to be done: what the end of the command needs is loaded then.
    if (event.type === 'rollout' && !hasWaited) void Promise.allSettled([import('./ending/run-lines.ts'), import('./ending/stored.ts')]);
    hasWaited ||= event.type === 'rollout';
    if (!looksOnly) session.outlets.doing.now = doingAfter(event, effects) ?? session.outlets.doing.now;
  };
  let told: Shown | undefined;
  const tell = async (outcome: ChainOutcome): Promise<Shown> => {
    const dataPlane = outcome.record?.dataPlane ?? (head ?? (await found))?.dataPlane;
    const steps = outcome.steps.map((step) => inDataPlane(step, dataPlane));
    told ??= shownOutcome(effects, await toldOf(session, { ...outcome, steps }, history, looks), session.asked);
    return told;
  };
  const keepsake = async (outcome: ChainOutcome) => keptReport(session, await tell(outcome));
  const flags = flagsOfRun(session.asked.carried);
  const context = { ...session.context, leftFlags: leftFlagsOf(session.asked), ...(flags.length > 0 ? { flags } : {}) };
  const { notices, metrics } = session.outlets;
  metrics?.know({ from: head?.source });
  probe?.watch(observe);
  const notified = approved.changes ? notices?.started(session.composition.records, context, head?.source, observe) : undefined;
  const outcome = await execute(
    { ...approved, context },
    {
      observe,
      within,
      sentinel: probe,
      leavesRun: all.flatMap(({ checks }) => checks).find(({ leavesRun }) => leavesRun)?.id,
      announce: agent && announcing(acting, agent),
      keepsake,
    },
  ).finally(async () => {
    await probe?.end();
    await notified;
    await progress.close();
  });
  const ended = await tell(outcome);
  // A run that is resumed began with another release than is installed now.
  const seen = head ? { ...head, source: ended.versions?.before ?? head.source } : await found;
  return report(session, { ...ended, head: seen });
}

function doingAfter(event: EngineEvent, effects: Acting['effects']): Session['outlets']['doing']['now'] | undefined {
  if (event.type === 'action-started' && changesSomething(effects, event.action)) return 'unknown';
  return ['stage-started', 'action-done', 'action-failed'].includes(event.type) ? 'between steps' : undefined;
}

/** Loaded where there is something to tell. */
function announcing(ports: Acting, agent: NonNullable<Confirmed['agent']>): Announce {
  const events = async () => (await import('./notify/cluster-events.ts')).clusterEvents(ports, agent);
  return {
    begun: async (...told) => (await events()).begun(...told),
    ended: async (...told) => (await events()).ended(...told),
  };
}

/** What is installed, for the header; not being able to tell costs nothing. */
async function headBy(session: Session, looks: Looks<Acting>): Promise<UpgradeHead | undefined> {
  const installed = await installedBy(session, looks);
  if (installed === undefined) return undefined;
  return (await import('../report/head-line.ts')).upgradeHead(session.context, installed);
}

async function installedBy({ seams }: Session, looks: Looks<Acting>): Promise<Installation | undefined> {
  return seams.installed(looks.current()).catch(() => undefined);
}

/** The outcome with its history, and with what was installed before and, if the run came to its end, is now. */
async function toldOf(session: Session, outcome: ChainOutcome, history: History, looks: Looks<Acting>): Promise<Outcome> {
  const { source, runId, exit } = outcome;
  const of = { ...outcome, history: history.told(session.composition.clock.now()) };
  if (runId === undefined) return of;
  const after = exit === 'done' ? (await installedBy(session, looks))?.release : undefined;
  return { ...of, versions: { before: source, after } };
}

/** The same report as `--report-file` has, small enough to lie beside the run record. */
async function keptReport(session: Session, outcome: Shown): Promise<RunReport> {
  const { storedReport } = await import('./ending/stored.ts');
  const report = { ...runDocument(outcome, session).document, made: session.made() };
  return storedReport((await import('./user-commands.ts')).withoutUserCommands(report, session.asked.carried));
}
