import { command } from '../kernel/argv.ts';
import type { Context } from '../kernel/context.ts';
import { agoText, counted } from '../kernel/counted.ts';
import { type ExitName, UNLOCK_WHEN } from '../kernel/fault.ts';
import { isAnswer } from '../kernel/interruption.ts';
import { type Journal, type JournalStore, lackingIn } from '../kernel/journal.ts';
import type { LockHolder } from '../kernel/ports.ts';
import { leavesSteps, type RunRecord } from '../kernel/run-record.ts';
import { type CarriedFlag, carriedTo, recordedFlagsLine, resumeCommand, textHere, withRecorded } from './carried.ts';
import { documentHead, type RecordedOwners, type StatusDocument } from './documents.ts';
import { present } from './output.ts';
import type { Seams } from './seams.ts';
import { type Asked, inSession, type Session } from './session.ts';

/** `status`: the run record and the lock, as the cluster has them. */
export async function runStatusCommand(asked: Asked, seams: Seams): Promise<ExitName> {
  return inSession(seams, { ...asked, anyProfile: true, looksOnly: true }, async (session) => {
    const { records, lock, journal } = session.composition;
    if (asked.flags.watch === true) await (await import('./watch-status.ts')).watchRun(session);
    // One after another, on the open connection: two more would each cost a handshake.
    const record = await records.load();
    const holder = await lock.holder();
    const { stateNamespace } = session.context.options;
    const stripped = record?.clusterUid === session.context.clusterUid ? record.stripped : undefined;
    const found = await recordedOwners(journal, stateNamespace, stripped);
    const { elsewhere } = found;
    const suggestions = found.owners?.suggestions?.map((one) => textHere(one, asked));
    const owners = found.owners && { ...found.owners, suggestions };
    const flags = withRecorded(asked.carried, record?.flags);
    const { command: next, of } = nextOf(record, holder, { flags, elsewhere: elsewhere?.[0] });
    const isToResume = record !== undefined && (of === 'preflight' || of === 'wait');
    const origin = recordedFlagsLine(isToResume ? 'run' : of, flags, `namespace ${stateNamespace}`);
    if (origin !== undefined) session.say(origin);
    const dead = holder ? [`    ${UNLOCK_WHEN}: kubectl netsvc-upgrade unlock${carriedTo('unlock', asked.carried)}`] : [];
    const document = statusDocument(session.context, holder, record, next, owners);
    const told = owners ? ownerLines(owners) : elsewhere ? [] : [unseenLine(stateNamespace)];
    const now = session.composition.clock.now();
    const lines = async () => [
      ...(await recordedHead(session, record)),
      ...(await runLines(session, record, { flags, now, isIdle: holder === undefined })),
      ...lockLines(holder, now),
      ...dead,
      ...told,
    ];
    const afterwards = isToResume ? [`Once the cause is fixed, resume with: ${resumeCommand(flags)}`] : [];
    const closing = async () => [...(await changedLines(session, record, now)), ...afterwards];
    await present(session, document, lines, { closing });
    return 'done';
  });
}

interface Recorded {
  readonly owners?: RecordedOwners;
  /** Other namespaces with a journal, where there is none in that of the state; undefined where this account may not look. */
  readonly elsewhere: readonly string[] | undefined;
}

const NOTHING = { objects: 0, references: 0, readFrom: '' } as const;

/** A journal that cannot be used is told of, too: it is what references are put back from. So is one of another state namespace. */
async function recordedOwners(
  store: Pick<JournalStore, 'load' | 'elsewhere'>,
  namespace: string,
  stripped: RunRecord['stripped'],
): Promise<Recorded> {
  try {
    const journal = await store.load();
    if (!journal) return withLost(notHere(await store.elsewhere(), namespace), stripped);
    const { entries, readFrom } = journal;
    const references = entries.reduce((sum, { removed }) => sum + removed.length, 0);
    return withLost({ owners: { objects: entries.length, references, readFrom }, elsewhere: [] }, stripped, journal);
  } catch (thrown) {
    if (!isAnswer(thrown)) throw thrown;
    const { message: problem, suggestions } = thrown;
    return { owners: { ...NOTHING, problem, suggestions }, elsewhere: [] };
  }
}

/** What the run record says that was removed, and that no journal holds (NS-753). */
function withLost(found: Recorded, stripped: RunRecord['stripped'], journal?: Journal): Recorded {
  const lost = lackingIn(stripped, journal);
  if (lost === undefined || found.owners?.problem !== undefined) return found;
  const what = `${counted(lost.references, 'reference')} of ${counted(lost.objects, 'object')}`;
  const problem = `the run record says that ${what} are removed, and the journal does not hold them. Only the journal knows which`;
  return { ...found, owners: { ...(found.owners ?? NOTHING), problem, suggestions: ['kubectl netsvc-upgrade explain NS-753'] } };
}

function notHere(elsewhere: Recorded['elsewhere'], namespace: string): Recorded {
  if (!elsewhere?.[0]) return { elsewhere };
  const problem = `no journal in namespace ${namespace}, but in ${elsewhere.join(', ')}`;
  return {
    owners: { ...NOTHING, problem, suggestions: [`name it with every command: ${command`--state-namespace ${elsewhere[0]}`}`] },
    elsewhere,
  };
}

function ownerLines({ objects, references, readFrom, problem, suggestions = [] }: RecordedOwners): readonly string[] {
  if (problem !== undefined) return [`owner references: ${problem}`, ...suggestions.map((one) => `    next: ${one}`)];
  return [`owner references: ${counted(references, 'reference')} on ${counted(objects, 'object')} recorded in ${readFrom}`];
}

function unseenLine(namespace: string): string {
  return `owner references: none recorded in namespace ${namespace}; this account may not look in others (--state-namespace)`;
}

interface Onward {
  readonly flags: readonly CarriedFlag[];
  /** The namespace that an upgrade has its state in, where it is not here. */
  readonly elsewhere: string | undefined;
}

interface Next {
  readonly command: string;
  /** The sub-command of it. */
  readonly of: string;
}

function nextOf(record: RunRecord | undefined, holder: LockHolder | undefined, { flags, elsewhere }: Onward): Next {
  const of = elsewhere === undefined ? subCommand(record, holder) : 'status';
  const astray = elsewhere === undefined ? '' : command` --state-namespace ${elsewhere}`;
  // The part of the chain that was asked for is done: with its end the next command would do nothing.
  const onward = record?.outcome === 'done' ? flags.filter(({ name }) => name !== 'through') : flags;
  const pod = of === 'wait' ? record?.stages.at(-1)?.pod : undefined;
  const look = pod && command`kubectl -n ${pod.namespace} describe pod ${pod.name}`;
  return { of, command: look ?? `kubectl netsvc-upgrade ${of}${carriedTo(of, onward)}${astray}` };
}

function subCommand(record: RunRecord | undefined, holder: LockHolder | undefined): string {
  // It most likely works: who knows that it is dead finds unlock in the lines above.
  if (holder) return 'status --watch';
  if (!record) return 'preflight';
  if (record.finishedAt !== undefined && record.outcome === 'done') return leavesSteps(record) ? 'verify' : 'report';
  // What failed is looked at before it is tried again: the record does not say what became of it since.
  const last = record.stages.at(-1);
  if (last?.state !== 'failed') return 'run';
  // It says which pods are late and why, and changes nothing.
  return last.id === 'apply' || last.id === 'wait' ? 'wait' : 'preflight';
}

export function lockLines(holder: LockHolder | undefined, now: Date): readonly string[] {
  if (!holder) return ['lock: free'];
  return [`lock: held by ${holder.identity} since ${agoText(holder.acquiredAt, now)}, renewed ${agoText(holder.renewedAt, now)}`];
}

export const NO_RUN = 'no run of this program is recorded on this cluster';

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
  return [nothing, ...(before ? earlierLines(before, { chain: await seams.loadChain(), now }) : [])];
}

async function runLines(
  { seams }: Session,
  record: RunRecord | undefined,
  { flags, now, isIdle }: { readonly flags: readonly CarriedFlag[]; readonly now: Date; readonly isIdle: boolean },
): Promise<readonly string[]> {
  if (!record) return [NO_RUN];
  const { reachedText, undoTexts } = await import('./ending/end-lines.ts');
  const { progress, finishedAt } = record;
  const reached = progress ? `, at ${reachedText(progress)} (${progress.stage})` : '';
  // A run that is at work is stopped first.
  const undo = isIdle && finishedAt === undefined ? undoTexts(record, { chain: await seams.loadChain(), carried: flags, now }) : [];
  const state = finishedAt ? `${record.outcome ?? 'ended'} ${agoText(finishedAt, now)}` : `not finished${reached}`;
  return [
    `run ${record.runId}, profile ${record.profile}: ${state}`,
    `started ${agoText(record.startedAt, now)} by ${record.startedBy} with version ${record.toolVersion}`,
    ...(record.accepted.length > 0 ? [`accepted: ${record.accepted.join(', ')}`] : []),
    ...(record.backup ? [`backup: ${record.backup}`] : []),
    ...undo.map((text, index) => (index === 0 ? `undo: ${text}` : `  ${text}`)),
    ...(await stageTable(record, now)),
  ];
}

async function stageTable({ stages }: RunRecord, now: Date): Promise<readonly string[]> {
  if (stages.length === 0) return [];
  const { stateText, summaryTable } = await import('../report/table.ts');
  return summaryTable(
    ['STAGE', 'STATE', 'SINCE', 'WHY'],
    stages.map(({ id, state, startedAt, endedAt, because = '', manual = 0 }) => [
      id,
      stateText(state),
      agoText(endedAt ?? startedAt, now),
      [because, manual > 0 ? `${counted(manual, 'manual step')} left` : ''].filter((part) => part !== '').join('; '),
    ]),
  );
}

export function statusDocument(
  context: Context,
  lock: LockHolder | undefined,
  record: RunRecord | undefined,
  next: string,
  owners?: RecordedOwners,
): StatusDocument {
  const { profile = null, target = null } = record ?? {};
  const found = { lock: lock ?? null, record: record ?? null, ownerReferences: owners ?? null };
  return { ...documentHead(context, 'done', next), profile, target, kind: 'Status', ...found };
}
