import { type Command, command } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { type ExitName, Fault } from '../../kernel/fault.ts';
import { type ActionTrace, msOf, type RolloutTrace, type RunHistory } from '../../kernel/history.ts';
import { oneFindingEach } from '../../kernel/judge.ts';
import { ApiFailure } from '../../kernel/ports.ts';
import { type Records, type RunRecord, recordHere, type StageRecord } from '../../kernel/run-record.ts';
import { keptStep, look, text } from '../../kernel/step.ts';
import type { ProbeTrace } from '../../kernel/user-command.ts';
import type { Former } from '../../report/plan-summary.ts';
import type { KeptReport, RunReport } from '../documents.ts';
import type { Session } from '../session.ts';
import type { Seen } from './end.ts';
import { type Outcome, runReport, shownBefore } from './run.ts';

/** The record of a run: the last one, or one that a later run set aside. Throws Fault('usage') if there is none, naming those that there are. */
export async function recordOf(records: Records, runId: string | undefined, context: Context): Promise<RunRecord> {
  const last = recordHere(await records.load(), context);
  if (last && (runId === undefined || runId === last.runId)) return last;
  if (runId === undefined)
    throw new Fault('usage', 'no run of this program is recorded on this cluster', [
      text`begin one: ${command`kubectl netsvc-upgrade preflight`}`,
    ]);
  const older = (await records.keptWith('/record')).filter(({ content }) => isRecord(content) && recordHere(content, context));
  const found = older.find(({ id }) => id === `${runId}/record`);
  if (isRecord(found?.content)) return found.content;
  const known = [...older.map(({ id }) => id.slice(0, -'/record'.length)), ...(last ? [last.runId] : [])];
  throw new Fault('usage', `there is no run ${runId} on this cluster`, [
    known.length > 0 ? `name one of: ${known.join(', ')}` : 'no run of this program is recorded on it at all',
  ]);
}

function isRecord(content: unknown): content is RunRecord {
  return typeof content === 'object' && content !== null && 'runId' in content && 'stages' in content;
}

/** The one report of a run, from what its commands left in the cluster. */
export async function recordedReport({ composition, context }: Session, record: RunRecord, next: Command | string): Promise<RunReport> {
  const kept = await composition.records.keptWith(`${record.runId}/report/`);
  const parts = kept.map(({ content }) => content).filter(isRunReport);
  return mergedReport(context, record, parts, next);
}

/** What the run that is recorded took, or those before it where it has seen no rollout: the next one will take about as long. Nothing for a first run. */
export async function formerTimes({ composition, context }: Seen): Promise<Former> {
  const { records } = composition;
  const record = await records.load();
  if (record?.clusterUid !== context.clusterUid) return { rollouts: [], actions: [] };
  const times = async (part: string): Promise<Former> => {
    const kept = (await records.keptWith(part)).map(({ content }) => content).filter(isRunReport);
    const listed = <T>(list: readonly T[] | undefined) => (Array.isArray(list) ? list : []);
    return {
      rollouts: kept.flatMap(({ history }) => listed(history?.rollouts).filter(isRollout)),
      actions: kept.flatMap(({ history }) => listed(history?.actions).filter(isTimed)),
    };
  };
  try {
    const own = await times(`${record.runId}/report/`);
    return own.rollouts.length > 0 ? own : await times('/report/');
  } catch (thrown) {
    // An account that may not list Secrets gets no estimate.
    if (thrown instanceof ApiFailure && thrown.status === 403) return { rollouts: [], actions: [] };
    throw thrown;
  }
}

/** What does not look like what this program keeps is left out. */
function isRollout(one: RolloutTrace): boolean {
  return typeof one?.workload === 'string' && Array.isArray(one.rows) && one.rows.every((row) => Array.isArray(row?.marks));
}

function isTimed(one: ActionTrace): boolean {
  return typeof one?.stage === 'string' && Number.isFinite(one.durationMs);
}

/** What does not look like a report is left out. */
function isRunReport(content: unknown): content is KeptReport {
  return (
    typeof content === 'object' &&
    content !== null &&
    'kind' in content &&
    content.kind === 'RunReport' &&
    ['findings', 'plans', 'stages', 'suggestions', 'steps'].every((name) =>
      Array.isArray((content as Readonly<Record<string, unknown>>)[name]),
    )
  );
}

/** One report of a run from its record and from what its commands left beside it, oldest first. */
function mergedReport(context: Context, record: RunRecord, parts: readonly KeptReport[], next: Command | string): RunReport {
  const last = parts.at(-1);
  const before = record.intent.from ?? parts.find((one) => one.versions?.before !== undefined)?.versions?.before;
  const after = parts.findLast((one) => one.versions?.after !== undefined)?.versions?.after;
  const history = mergedHistory(parts.flatMap((one) => one.history ?? []));
  const outcome: Outcome = {
    ...endingOf(record, last),
    ...{ runId: record.runId, record },
    versions: { before, after },
    // A part that was killed left its stages in the record alone.
    stages: mergedStages([...parts.flatMap((one) => one.stages), ...record.stages]),
    findings: latest(parts.map((one) => oneFindingEach(one.findings))),
    plans: parts
      .flatMap((one) => one.plans)
      .filter((plan, index, all) => plan.skip === undefined || all.findLastIndex((one) => one.id === plan.id) === index),
    writes: parts.reduce((sum, one) => sum + one.writes, 0),
    history,
  };
  const of = {
    ...runReport(context, last?.command ?? 'run', shownBefore(outcome), next),
    target: record.intent.to,
    profile: record.profile,
    dryRun: 'none',
  };
  return { ...of, parts: parts.map(partOf) };
}

/** The record decides how it stands: a command that was killed left nothing else. */
function endingOf(record: RunRecord, last: KeptReport | undefined): Pick<Outcome, 'exit' | 'message' | 'steps'> {
  if (last && record.outcome !== undefined) return { exit: last.exit.code, steps: last.steps.map(keptStep), message: last.message };
  if (record.outcome !== undefined) return { exit: record.outcome satisfies ExitName, steps: [] };
  return {
    exit: 'interrupted',
    message: 'the run is at work, or its last command was killed: there is no report of how it ended',
    steps: [look(text`see whether it still runs: ${command`kubectl netsvc-upgrade status`}`)],
  };
}

/** A check that several commands evaluated counts as the last of them evaluated it. */
function latest(judged: readonly RunReport['findings'][]): RunReport['findings'] {
  return judged.flatMap((findings, part) => {
    const later = new Set(judged.slice(part + 1).flatMap((others) => others.map(({ id }) => id)));
    return findings.filter(({ id }) => !later.has(id));
  });
}

function partOf({ command, exit, made, history }: KeptReport): NonNullable<RunReport['parts']>[number] {
  const { startedAt = '', endedAt = '' } = history ?? {};
  return { commandLine: made?.commandLine ?? command, by: made?.by ?? '', startedAt, endedAt, exit };
}

/** One row per stage of a run that was resumed: when it began first, how it ended last, and what it took in all. */
export function mergedStages(all: readonly StageRecord[]): RunReport['stages'] {
  return [...new Set(all.map(({ id }) => id))].flatMap((id) => {
    const rows = all.filter((one) => one.id === id);
    const ran = rows.filter(({ state }) => state !== 'skipped');
    const [first, lastRan, last] = [ran[0], ran.at(-1), rows.at(-1)];
    if (!last) return [];
    if (!first || !lastRan) return [last];
    // The record repeats rows of the last part.
    const times = new Map(ran.map((one) => [one.startedAt, msOf(one)]));
    const whole = { startedAt: first.startedAt, durationMs: sumOf([...times.values()]) };
    // A later part that found nothing left to do says that it was done meanwhile.
    if (last.state !== 'skipped' || lastRan.state === 'done') return [{ ...lastRan, ...whole }];
    return [{ ...last, state: 'done', ...whole } as const];
  });
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

/** What happened in all parts of a run; what a later part repeated counts once. */
export function mergedHistory(all: readonly RunHistory[]): RunHistory | undefined {
  const [first, last] = [all[0], all.at(-1)];
  if (!first || !last) return undefined;
  const actions = all.flatMap((one) => one.actions);
  const notes = all.flatMap((one) => one.notes);
  const isOver = ({ outcome }: RunHistory['actions'][number]) => outcome === 'done' || outcome === 'failed';
  return {
    ...{ startedAt: first.startedAt, endedAt: last.endedAt, durationMs: sumOf(all.map(msOf)) },
    actions: actions.filter((one, at) => isOver(one) || !actions.some((other, index) => index > at && isSame(other, one))),
    rollouts: all.flatMap((one) => one.rollouts),
    ...probeOfAll(all),
    ...networkOfAll(all),
    notes: notes.filter(({ stage, text }, at) => notes.findIndex((other) => other.stage === stage && other.text === text) === at),
  };
}

/** The probe in all parts; the median is that of the part in which it ran most. */
function probeOfAll(all: readonly RunHistory[]): Pick<RunHistory, 'probe'> {
  const probes = all.flatMap(({ probe }) => probe ?? []);
  const [most] = probes.toSorted((a, b) => b.runs - a.runs);
  if (most === undefined) return {};
  const sum = (of: (one: ProbeTrace) => number) => sumOf(probes.map(of));
  const longestMs = Math.max(...probes.map((one) => one.longestMs));
  const failures = probes.flatMap((one) => one.failures);
  return { probe: { ...most, runs: sum(({ runs }) => runs), failed: sum(({ failed }) => failed), longestMs, failures } };
}

/** The connections of all parts: each part kept its own. */
function networkOfAll(all: readonly RunHistory[]): Pick<RunHistory, 'network'> {
  const parts = all.flatMap(({ network }) => network ?? []);
  const [first, last] = [parts[0], parts.at(-1)];
  if (!first || !last) return {};
  return {
    network: {
      ...{ since: first.since, until: last.until, beatMs: Math.max(...parts.map(({ beatMs }) => beatMs)) },
      connections: parts.flatMap(({ connections }) => connections),
      untried: [...new Set(parts.flatMap(({ untried }) => untried))],
    },
  };
}

function isSame(one: RunHistory['actions'][number], other: RunHistory['actions'][number]): boolean {
  return one.stage === other.stage && one.id === other.id;
}
