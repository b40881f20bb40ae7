import { type Command, command } from '../kernel/command.ts';
import type { Context } from '../kernel/context.ts';
import { agoText, counted } from '../kernel/counted.ts';
import { type ExitName, unlockOnce } from '../kernel/fault.ts';
import { K } from '../kernel/kinds.ts';
import { type KubeObject, refOf, refText } from '../kernel/object.ts';
import type { LockHolder } from '../kernel/ports.ts';
import {
  openStage,
  RECORD_NAME,
  type RunRecord,
  recordHere,
  STATE_NAMESPACE,
  type StageRecord,
  toldRecord,
  waitsForUser,
} from '../kernel/run-record.ts';
import type { AnyStage } from '../kernel/stage.ts';
import { type Said, stepOf, text, textOf } from '../kernel/step.ts';
import { oneLine } from '../kernel/visible.ts';
import { heldBy, readHeldCopies } from '../kube/held.ts';
import { shippedProfiles } from '../profiles/index.ts';
import { mayBeOperated, readStrategy, strategyLines, unlessRefused } from './agents-strategy.ts';
import { canaryLines, readCanaryStatus, soakOf } from './canary-status.ts';
import { type CarriedFlag, commandHere, oursWith } from './carried.ts';
import { documentHead, type StatusDocument } from './documents.ts';
import { isForPerson, present } from './output.ts';
import { afterLook, nextByRecord, type RecordNext, suggestedBy } from './record-next.ts';
import { leftOutLines, takenLines, withRecorded } from './recorded-flags.ts';
import { formerIn, refusalNow } from './refusal-now.ts';
import type { Seams } from './seams.ts';
import { type Asked, inSession, type Session } from './session.ts';
import { heldNamesLines, readUntil, untilLines } from './until-status.ts';

/** `status`: the run record and the lock, as the cluster has them. */
export async function runStatusCommand(asked: Asked, seams: Seams): Promise<ExitName> {
  return inSession(seams, { ...asked, anyProfile: true, looksOnly: true }, async (session) => {
    const { records, lock } = session.composition;
    if (asked.flags.watch === true) await (await import('./watch-status.ts')).watchRun(session);
    // One after another, on the open connection: two more would each cost a handshake.
    const holder = await lock.holder();
    // Read second: a run notes its end before it gives the lock back.
    const stored = await records.load();
    const record = toldRecord(recordHere(stored, session.context), holder !== undefined);
    const left = holder ? undefined : await lock.left();
    const { clusterUid } = session.context;
    const flags = withRecorded(asked.carried, record, clusterUid);
    const strategy = await readStrategy(session, record);
    const canary = await readCanaryStatus(session, strategy, record, holder);
    const now = session.composition.clock.now();
    const soak = soakOf(record, holder, canary, now);
    const until = await readUntil(session, record, holder);
    const next = stored && !record && !holder ? foreign(asked.carried) : nextOf(record, holder, flags, { strategy, until });
    // A canary that waits is looked at next, and then committed.
    const suggested = strategy?.held && !holder && (!record || waitsForUser(record)) ? 'commit' : suggestedBy(next, record);
    const leftOut = leftOutLines(suggested, flags, record, clusterUid);
    const isShown = isForPerson(asked.flags.output);
    for (const line of [...takenLines(suggested, flags), ...(isShown ? [] : leftOut)]) session.say(line);
    const held = await readHeld(session, record);
    const found = statusDocument(session.context, { lock: holder, left, record, held, strategy, canary, soak, until }, next.command);
    const commit = oursWith('commit', flags);
    const told = {
      undo: await undoOf(session, record, { flags, now, isIdle: holder === undefined }),
      dead: (holder ?? left) ? [unlockOnce(oursWith('unlock', asked.carried))] : [],
      held: heldLines(found, record, asked.carried),
      strategy: strategyLines(found, flags),
      until: [...untilLines(found, now, commit), ...(await heldNamesLines(session, record, holder, commit))],
    };
    const steps = Object.values(told)
      .flat()
      .flatMap((one) => (textOf(one).command === undefined ? [] : [stepOf(one)]));
    const document = { ...found, steps };
    const { said } = session.outPalette;
    const lines = async () => [
      ...(await recordedHead(session, record)),
      ...(stored && !record ? [foreignText(stored, clusterUid)] : await runLines(session, record, told.undo, now)),
      ...lockLines({ holder, left }, now),
      ...told.dead.map((one) => `    ${said(one)}`),
      ...ownerLines(document),
      ...told.held.map(said),
      ...canaryLines(document, now, asked.flags.output === 'wide'),
      ...[...told.strategy, ...told.until].map(said),
    ];
    const closing = async () => [...(await changedLines(session, record, now)), ...afterLook(next, record, flags).map(said), ...leftOut];
    await present(session, document, lines, { closing });
    return 'done';
  });
}

function ownerLines({ ownerReferences }: StatusDocument): readonly string[] {
  if (!ownerReferences) return [];
  const { objects, references } = ownerReferences;
  return [`owner references: ${counted(references, 'reference')} on ${counted(objects, 'object')} recorded as removed`];
}

/**
 * Typha or a DaemonSet as the cluster has it, whatever became of the run: its record may be lost. An account that may not look is told
 * nothing, and nothing is asked where the recorded run can hold none.
 */
async function readHeld({ composition: { cluster } }: Session, record: RunRecord | undefined): Promise<StatusDocument['held']> {
  // Without an operator there is nobody to hold it back from.
  if (!mayBeOperated(record)) return null;
  const profile = shippedProfiles.find(({ name, operator }) => operator.ignores && (!record || record.profile === name));
  const { typha, controllers, workloadNamespace: namespace } = profile?.operator ?? {};
  if (!typha || !controllers) return null;
  // One after another: a second connection costs more than it saves.
  const deployments: KubeObject[] = [];
  for (const one of [typha, controllers]) {
    const live = await cluster.get(K.Deployment, one.name, one.namespace).catch(unlessRefused);
    if (live) deployments.push(live);
  }
  const sets = (await cluster.list(K.DaemonSet, { namespace: namespace ?? '' }).catch(unlessRefused)) ?? [];
  const all = [...deployments, ...sets.map((set) => ({ ...set, apiVersion: 'apps/v1', kind: K.DaemonSet.kind }))];
  const [first, ...more] = all.flatMap((object) => {
    const run = heldBy(object);
    return run === undefined ? [] : [{ object: refOf(object), run }];
  });
  if (first) return more.length === 0 ? first : { ...first, more: more.map(({ object }) => object) };
  // A run that came to its end has removed its copies; where the record is lost, only they tell of it.
  if (record?.finishedAt !== undefined) return null;
  for (const one of deployments) {
    const [copy] = (await readHeldCopies(cluster, { ...refOf(one), kind: K.Deployment.kind }).catch(unlessRefused)) ?? [];
    if (copy) return { object: refOf(copy), run: heldBy(copy) ?? '' };
  }
  return null;
}

/** While a run is at work, that is as it should be. */
function heldLines({ held, lock, until }: StatusDocument, record: RunRecord | undefined, carried: readonly CarriedFlag[]): readonly Said[] {
  if (!held) return [];
  if (held.object.kind === K.ReplicaSet.kind)
    return [
      text`left of a hold: ${refText(held.object)} by run ${oneLine(held.run)}: kubectl rollout undo would restore it. Remove it: ${oursWith('apply --undo', carried)}`,
    ];
  const names = [held.object, ...(held.more ?? [])].map(refText).join(', ');
  const what = `held: ${names} by run ${oneLine(held.run)}: the operator does not change ${held.more ? 'them' : 'it'}`;
  if (lock || until) return [what];
  // Released alone, the agents would be replaced before Typha.
  if (record?.intent.takesBack && record.finishedAt === undefined)
    return [text`${what}. Resume that run: ${oursWith('rollback', carried)}`];
  return [text`${what}. Resume that run. Once every agent is new, this removes only the hold: ${oursWith('apply --undo', carried)}`];
}

function nextOf(
  record: RunRecord | undefined,
  holder: LockHolder | undefined,
  flags: readonly CarriedFlag[],
  { strategy, until }: Pick<StatusDocument, 'strategy' | 'until'>,
): RecordNext {
  const next = nextByRecord(record, holder, flags);
  const isOver = record && !waitsForUser(record);
  // `wait` would see nothing of agents that are held.
  if (strategy?.held && holder === undefined && (!isOver || (next.isLook && next.command.own !== undefined)))
    return { of: 'kubectl', command: commandHere(lookAtHeld(strategy), flags), ...(isOver ? { isLook: true } : {}) };
  return until ? { of: 'commit', command: oursWith('commit', flags) } : next;
}

/** As the run's own screen has it. */
const lookAtHeld = ({ object: { namespace = '' }, selector = '' }: NonNullable<StatusDocument['strategy']>) =>
  command`kubectl -n ${namespace} get pods -o wide -l ${selector}`;

export interface Locked {
  readonly holder: LockHolder | undefined;
  readonly left: LockHolder | undefined;
}

export function lockLines({ holder, left }: Locked, now: Date): readonly string[] {
  if (!holder && left) return [`lock: not given back by ${left.identity}, renewed ${agoText(left.renewedAt, now)}: ${TAKEN_LATER}`];
  if (!holder) return ['lock: free'];
  return [`lock: held by ${holder.identity} since ${agoText(holder.acquiredAt, now)}, renewed ${agoText(holder.renewedAt, now)}`];
}

const TAKEN_LATER = 'the next run watches it for up to 60 s before it takes it';

/** The look at a record of another cluster: who put it there, and whether the cluster was restored from a backup. */
function foreign(carried: readonly CarriedFlag[]): RecordNext {
  const look = command`kubectl -n ${STATE_NAMESPACE} get secret ${RECORD_NAME} --show-managed-fields -o yaml`;
  return { of: 'kubectl', command: commandHere(look, carried) };
}

function foreignText({ clusterUid }: RunRecord, here: string): string {
  return `the run record is of another cluster (kube-system has UID ${clusterUid} there, ${here} here): nothing of it is shown or repeated`;
}

const NO_RUN = 'no run of this program is recorded on this cluster';

/** What the run upgrades, as it noted when it began. */
export async function recordedHead({ outPalette }: Session, record: RunRecord | undefined): Promise<readonly string[]> {
  if (!record) return [];
  const { headLine, recordHead } = await import('../report/head-line.ts');
  return [headLine(recordHead(record), outPalette)];
}

/** What this command changed, which is nothing, and what a run did that is not finished. */
async function changedLines({ context, seams }: Session, record: RunRecord | undefined, now: Date): Promise<readonly string[]> {
  const nothing = 'Nothing was changed by this command.';
  if (!record) return [nothing];
  const { earlierLines, unfinishedBefore } = await import('./ending/closing.ts');
  const before = unfinishedBefore(record, context);
  return [nothing, ...(before ? earlierLines(before, { chain: await seams.loadChain(before.intent.kind), now }) : [])];
}

/** What of a run that is not finished can be undone. One that is at work is stopped first. */
async function undoOf(
  session: Session,
  record: RunRecord | undefined,
  { flags, now, isIdle }: { readonly flags: readonly CarriedFlag[]; readonly now: Date; readonly isIdle: boolean },
): Promise<readonly Said[]> {
  if (!record || !isIdle || record.finishedAt !== undefined) return [];
  const { undoTexts } = await import('./ending/end-lines.ts');
  const { seams, composition } = session;
  const refused = await refusalNow(composition.records, record, formerIn(session, record));
  return undoTexts(record, { chain: await seams.loadChain(record.intent.kind), carried: flags, now, refused });
}

async function runLines(
  { outPalette, seams }: Session,
  record: RunRecord | undefined,
  undo: readonly Said[],
  now: Date,
): Promise<readonly string[]> {
  if (!record) return [NO_RUN];
  const { keptText, reachedText, undoLines } = await import('./ending/end-lines.ts');
  const { progress, finishedAt } = record;
  // Stages behind the last step have none of their own.
  const open = openStage(record);
  const behind = open !== undefined && open.id !== progress?.stage;
  const reached = behind ? `, at ${open.id}` : progress ? `, at ${reachedText(progress)} (${progress.stage})` : '';
  const state = finishedAt ? `${record.outcome ?? 'ended'} ${agoText(finishedAt, now)}` : `not finished${reached}`;
  return [
    `run ${record.runId}, profile ${record.profile}: ${state}`,
    `started ${agoText(record.startedAt, now)} by ${record.startedBy} with version ${record.toolVersion}`,
    ...(record.accepted.length > 0 ? [`accepted: ${record.accepted.join(', ')}`] : []),
    ...(record.backup ? [`backup: ${record.backup}`] : []),
    ...(finishedAt === undefined ? [keptText(record)] : []),
    ...undoLines(undo, outPalette),
    ...(await stageTable(record, finishedAt === undefined ? await seams.loadChain(record.intent.kind) : [], now)),
  ];
}

/** In the order of the procedure, also where an unfinished run has performed a stage once more. */
async function stageTable(record: RunRecord, chain: readonly AnyStage[], now: Date): Promise<readonly string[]> {
  if (record.stages.length === 0) return [];
  const ids = chain.flatMap((stage) => [stage.id, stage.undo?.id]);
  const place = ({ id }: StageRecord) => (ids.includes(id) ? ids.indexOf(id) : ids.length);
  const stages = record.stages.toSorted((a, b) => place(a) - place(b));
  const { stateText, summaryTable } = await import('../report/table.ts');
  const table = summaryTable(
    ['STAGE', 'STATE', 'SINCE', 'WHY'],
    stages.map(({ id, state, startedAt, endedAt, because = '', manual = 0, undo }) => [
      id,
      stateText({ state, undo, manual }),
      `${state === 'interrupted' && endedAt === undefined ? 'began ' : ''}${agoText(endedAt ?? startedAt, now)}`,
      [because, manual > 0 ? `${counted(manual, 'manual step')} left` : ''].filter((part) => part !== '').join('; '),
    ]),
  );
  return [...table, ...(await import('./ending/closing.ts')).leftLines({ ...record, stages })];
}

interface Stands {
  readonly lock: LockHolder | undefined;
  readonly left?: LockHolder | undefined;
  readonly record: RunRecord | undefined;
  /** Only of `status`, as `strategy`. */
  readonly held?: StatusDocument['held'];
  readonly strategy?: StatusDocument['strategy'];
  readonly canary?: StatusDocument['canary'];
  readonly soak?: StatusDocument['soak'];
  readonly until?: StatusDocument['until'];
}

export function statusDocument(
  context: Context,
  { lock, left, record, held, strategy, canary, soak, until }: Stands,
  next: Command | string,
): StatusDocument {
  const { profile = null, intent, stripped } = record ?? {};
  const ownerReferences = stripped ? { objects: stripped.objects, references: stripped.references } : null;
  const looked = { ...(held === undefined ? {} : { held }), ...(strategy === undefined ? {} : { strategy, canary, soak, until }) };
  const found = { lock: lock ?? null, lockLeft: left ?? null, record: record ?? null, ownerReferences, ...looked };
  return { ...documentHead(context, 'done', next), profile, target: intent?.to ?? null, kind: 'Status', ...found };
}
