import { Fault } from '../../kernel/fault.ts';
import type { Records } from '../../kernel/ports.ts';
import type { RolloutTrace } from '../../kernel/run-history.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import { carriedTo, withRecorded } from '../carry.ts';
import type { RunReport } from '../documents.ts';
import type { Session } from '../session.ts';
import { mergedReport } from './merged.ts';

/** The record of a run: the last one, or one that a later run set aside. Throws Fault('usage') if there is none, naming those that there are. */
export async function recordOf(records: Records, runId: string | undefined): Promise<RunRecord> {
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

export function isDone({ finishedAt, outcome }: RunRecord): boolean {
  return finishedAt !== undefined && outcome === 'done';
}

/** The one report of a run, from what its commands left in the cluster. */
export async function recordedReport({ composition, context, asked }: Session, record: RunRecord): Promise<RunReport> {
  const kept = await composition.records.keptWith(`${record.runId}/report/`);
  const parts = kept.map(({ content }) => content).filter(isRunReport);
  // What came to its end leads nowhere else: in a circle nobody learns anything.
  const again = () => `kubectl netsvc-upgrade run${carriedTo('run', withRecorded(asked.carried, record.flags))}`;
  return mergedReport(context, record, parts, isDone(record) ? 'nothing is left for this program to do' : again());
}

/** The rollouts of the run that is recorded, or of those before it where it has seen none: the next one will take about as long. None for a first run. */
export async function formerRollouts({ composition, context }: Pick<Session, 'composition' | 'context'>): Promise<readonly RolloutTrace[]> {
  const { records } = composition;
  const record = await records.load();
  if (record?.clusterUid !== context.clusterUid) return [];
  const rollouts = async (part: string) =>
    (await records.keptWith(part)).flatMap(({ content }) => (isRunReport(content) ? tracesOf(content.history) : []));
  const own = await rollouts(`${record.runId}/report/`);
  return own.length > 0 ? own : rollouts('/report/');
}

/** What does not look like a rollout is left out. */
function tracesOf(history: RunReport['history']): readonly RolloutTrace[] {
  const isTrace = (one: RolloutTrace) =>
    typeof one?.workload === 'string' && Array.isArray(one.rows) && one.rows.every((row) => Array.isArray(row?.marks));
  return Array.isArray(history?.rollouts) ? history.rollouts.filter(isTrace) : [];
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
