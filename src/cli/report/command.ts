import { command } from '../../kernel/argv.ts';
import { type ExitName, Fault } from '../../kernel/fault.ts';
import type { Records } from '../../kernel/ports.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import { carriedTo, recordedFlagsLine, withRecorded } from '../../report/carry.ts';
import type { RunReport } from '../documents.ts';
import type { Seams } from '../seams.ts';
import { type Asked, inSession } from '../session.ts';
import { endViewOf } from './chain.ts';
import { mergedReport } from './merged.ts';
import { runLines } from './run-lines.ts';

/** `report [RUN-ID]`: the report of a run, from what it left in the cluster. Without an id that of the last run. */
export async function runReportCommand(asked: Asked, runId: string | undefined, seams: Seams): Promise<ExitName> {
  return inSession(seams, { ...asked, anyProfile: true }, async (session) => {
    const { records } = session.composition;
    const { stateNamespace } = session.context.options;
    const record = await recordOf(records, runId);
    const kept = await records.keptWith(`${record.runId}/report/`);
    const parts = kept.map(({ content }) => content).filter(isRunReport);
    const shown = showableOr(() => notOurs(record.runId, stateNamespace));
    const done = record.finishedAt !== undefined && record.outcome === 'done';
    const flags = withRecorded(asked.carried, record.flags);
    const origin = done ? undefined : recordedFlagsLine('run', flags, `namespace ${stateNamespace}`);
    if (origin !== undefined) session.say(origin);
    // What came to its end leads nowhere else: in a circle nobody learns anything.
    const onward = done ? 'nothing is left for this program to do' : `kubectl netsvc-upgrade run${carriedTo('run', flags)}`;
    const document = await shown(async () => mergedReport(session.context, record, parts, onward));
    const lines = (wide: boolean) => [
      `run ${record.runId} to ${record.target}, begun ${record.startedAt} by ${record.startedBy}`,
      ...(document.parts ?? []).map(
        ({ commandLine, startedAt, exit }) => `${startedAt} ${commandLine}: ${exit.code} (exit ${exit.number})`,
      ),
      ...runLines({ ...document, exit: document.exit.code }, { ...endViewOf(session), release: record.target, wide, full: false }),
    ];
    await shown(() => session.present(document, lines));
    return 'done';
  });
}

/** The record of a run: the last one, or one that a later run set aside. Throws Fault('usage') if there is none, naming those that there are. */
async function recordOf(records: Records, runId: string | undefined): Promise<RunRecord> {
  const last = await records.load();
  if (last && (runId === undefined || runId === last.runId)) return last;
  if (runId === undefined)
    throw new Fault('usage', 'no run of this program is recorded on this cluster', ['begin one: kubectl netsvc-upgrade preflight']);
  const older = await records.keptWith('/record');
  const found = older.find(({ id }) => id === `${runId}/record`);
  if (isRecord(found?.content)) return found.content;
  const known = [
    ...older.filter(({ id }) => id.endsWith('/record')).map(({ id }) => id.slice(0, -'/record'.length)),
    ...(last ? [last.runId] : []),
  ];
  throw new Fault('usage', `there is no run ${runId} on this cluster`, [
    known.length > 0 ? `name one of: ${known.join(', ')}` : 'no run of this program is recorded on it at all',
  ]);
}

function isRecord(content: unknown): content is RunRecord {
  return typeof content === 'object' && content !== null && 'runId' in content && 'stages' in content;
}

/** What is kept of a report is shown as it is: where it holds what this program never writes, that is said instead of the error it leads to. */
function showableOr(fault: () => Fault): <T>(show: () => Promise<T>) => Promise<T> {
  return (show) =>
    show().catch((thrown: unknown) => {
      throw thrown instanceof TypeError || thrown instanceof RangeError ? fault() : thrown;
    });
}

function notOurs(runId: string, namespace: string): Fault {
  return new Fault('failed', `the report of run ${runId} cannot be shown: something else wrote into what was kept of it`, [
    command`find out what did: kubectl -n ${namespace} get secrets --field-selector type=netsvc-upgrade/state --show-managed-fields -o yaml`,
    'the record of the run alone: kubectl netsvc-upgrade status',
  ]);
}

/** What does not look like a report is left out. */
function isRunReport(content: unknown): content is RunReport {
  return (
    typeof content === 'object' &&
    content !== null &&
    'kind' in content &&
    content.kind === 'RunReport' &&
    ['findings', 'plans', 'stages', 'suggestions'].every((name) => Array.isArray((content as Readonly<Record<string, unknown>>)[name]))
  );
}
