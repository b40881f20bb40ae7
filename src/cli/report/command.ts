import { type ExitName, Fault } from '../../kernel/fault.ts';
import type { Records } from '../../kernel/ports.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import { carriedTo, recordedFlagsLine, withRecorded } from '../../report/carry.ts';
import type { RunReport } from '../documents.ts';
import type { Seams } from '../seams.ts';
import { type Asked, inSession } from '../session.ts';
import { mergedReport } from './merged.ts';
import { runLines } from './run-lines.ts';

/** `report [RUN-ID]`: the report of a run, from what it left in the cluster. Without an id that of the last run. */
export async function runReportCommand(asked: Asked, runId: string | undefined, seams: Seams): Promise<ExitName> {
  return inSession(seams, { ...asked, anyProfile: true }, async (session) => {
    const { records } = session.composition;
    const record = await recordOf(records, runId);
    const kept = await records.keptWith(`${record.runId}/report/`);
    const parts = kept.map(({ content }) => content).filter(isRunReport);
    const done = record.finishedAt !== undefined && record.outcome === 'done';
    const next = done ? 'verify' : 'run';
    const flags = withRecorded(asked.carried, record.flags);
    const origin = recordedFlagsLine(next, flags, `namespace ${session.context.options.stateNamespace}`);
    if (origin !== undefined) session.say(origin);
    const document = mergedReport(session.context, record, parts, `kubectl netsvc-upgrade ${next}${carriedTo(next, flags)}`);
    await session.present(document, (wide) => [
      `run ${record.runId} to ${record.target}, begun ${record.startedAt} by ${record.startedBy}`,
      ...(document.parts ?? []).map(
        ({ commandLine, startedAt, exit }) => `${startedAt} ${commandLine}: ${exit.code} (exit ${exit.number})`,
      ),
      ...runLines({ ...document, exit: document.exit.code }, { palette: session.outPalette, wide, full: false }),
    ]);
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

/** Anybody may write a ConfigMap: what does not look like a report is left out. */
function isRunReport(content: unknown): content is RunReport {
  return (
    typeof content === 'object' &&
    content !== null &&
    'kind' in content &&
    content.kind === 'RunReport' &&
    ['findings', 'plans', 'stages', 'suggestions'].every((name) => Array.isArray((content as Readonly<Record<string, unknown>>)[name]))
  );
}
