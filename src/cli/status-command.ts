import type { ExitName } from '../core/fault.ts';
import { isAnswer } from '../core/interruption.ts';
import type { LockHolder, OwnerJournalStore } from '../core/ports.ts';
import type { RunRecord } from '../core/run-record.ts';
import { type CarriedFlag, carriedTo, withRecorded } from '../ui/carry.ts';
import type { RecordedOwners } from './documents.ts';
import type { Seams } from './seams.ts';
import { type Asked, inSession } from './session.ts';
import { statusDocument } from './status-document.ts';

/** `status`: the run record and the lock, as the cluster has them. */
export async function runStatusCommand(asked: Asked, seams: Seams): Promise<ExitName> {
  return inSession(seams, { ...asked, anyProfile: true, looksOnly: true }, async (session) => {
    const { records, lock, ownerJournal } = session.composition;
    // One after another, on the connection that is open: two more would each cost a handshake, in time and in work.
    const record = await records.load();
    const holder = await lock.holder();
    const owners = await recordedOwners(ownerJournal);
    const document = statusDocument(session.context, 'done', holder, record, nextOf(record, holder, asked.carried), owners);
    await session.present(document, async () => [...(await statusLines(record, holder)), ...ownerLines(owners)]);
    return 'done';
  });
}

/** A journal that cannot be used is told of, too: it is what references are put back from. */
async function recordedOwners(store: Pick<OwnerJournalStore, 'load'>): Promise<RecordedOwners | undefined> {
  try {
    const journal = await store.load();
    if (!journal) return undefined;
    const references = journal.entries.reduce((sum, { removed }) => sum + removed.length, 0);
    return { objects: journal.entries.length, references, readFrom: journal.readFrom };
  } catch (thrown) {
    if (!isAnswer(thrown)) throw thrown;
    return { objects: 0, references: 0, readFrom: '', problem: thrown.message };
  }
}

function ownerLines(owners: RecordedOwners | undefined): readonly string[] {
  if (!owners) return [];
  if (owners.problem !== undefined) return [`owner references: the journal cannot be used: ${owners.problem}`];
  const { objects, references, readFrom } = owners;
  return [`owner references: ${references} of ${objects} ${objects === 1 ? 'object' : 'objects'} recorded in ${readFrom}`];
}

function nextOf(record: RunRecord | undefined, holder: LockHolder | undefined, carried: readonly CarriedFlag[]): string {
  const flags = withRecorded(carried, record?.flags ?? []);
  const ours = (command: string) => `kubectl netsvc-upgrade ${command}${carriedTo(command, flags)}`;
  if (holder) return ours('status');
  if (!record) return ours('preflight');
  return record.finishedAt === undefined || record.outcome !== 'done' ? ours('run') : ours('verify');
}

export async function statusLines(record: RunRecord | undefined, holder: LockHolder | undefined): Promise<readonly string[]> {
  return [...(await runLines(record)), ...lockLines(holder)];
}

export function lockLines(holder: LockHolder | undefined): readonly string[] {
  if (!holder) return ['lock: free'];
  return [`lock: held by ${holder.identity} since ${holder.acquiredAt}, renewed ${holder.renewedAt}`];
}

async function runLines(record: RunRecord | undefined): Promise<readonly string[]> {
  if (!record) return ['no run of this program is recorded on this cluster'];
  const state = record.finishedAt ? `${record.outcome ?? 'ended'} at ${record.finishedAt}` : 'not finished';
  const variant = record.variant ? ` ${record.variant}` : '';
  return [
    `run ${record.runId}: ${record.source ?? 'unknown release'} → ${record.target}, ${record.path}${variant} path, profile ${record.profile}: ${state}`,
    `started ${record.startedAt} by ${record.startedBy} with version ${record.toolVersion}`,
    ...(record.accepted.length > 0 ? [`accepted: ${record.accepted.join(', ')}`] : []),
    ...(record.backup ? [`backup: ${record.backup}`] : []),
    ...(await stageTable(record)),
  ];
}

async function stageTable({ stages }: RunRecord): Promise<readonly string[]> {
  if (stages.length === 0) return [];
  const { summaryTable } = await import('../ui/table.ts');
  return summaryTable(
    ['STAGE', 'STATE', 'SINCE', 'WHY'],
    stages.map((stage) => [stage.id, stage.state, stage.endedAt ?? stage.startedAt, stage.because ?? '']),
  );
}
