import type { Context } from '../../kernel/context.ts';
import type { ExitName } from '../../kernel/fault.ts';
import { oneFindingEach } from '../../kernel/one-finding.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import type { RunReport } from '../documents.ts';
import { mergedHistory, mergedStages } from './merged-parts.ts';
import { type Outcome, runReport } from './run.ts';

/** One report of a run from its record and from what its commands left beside it, oldest first. */
export function mergedReport(context: Context, record: RunRecord, parts: readonly RunReport[], next: string): RunReport {
  const last = parts.at(-1);
  const before = record.source ?? parts.find((one) => one.versions?.before !== undefined)?.versions?.before;
  const after = parts.findLast((one) => one.versions?.after !== undefined)?.versions?.after;
  const history = mergedHistory(parts.flatMap((one) => one.history ?? []));
  const outcome: Outcome = {
    ...endingOf(record, last),
    runId: record.runId,
    versions: { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) },
    // A part that was killed left its stages in the record alone.
    stages: mergedStages([...parts.flatMap((one) => one.stages), ...record.stages]),
    findings: latest(parts.map((one) => oneFindingEach(one.findings))),
    plans: parts
      .flatMap((one) => one.plans)
      .filter((plan, index, all) => plan.skip === undefined || all.findLastIndex((one) => one.id === plan.id) === index),
    writes: parts.reduce((sum, one) => sum + one.writes, 0),
    ...(history ? { history } : {}),
  };
  const of = {
    ...runReport(context, last?.command ?? 'run', outcome, next),
    target: record.target,
    profile: record.profile,
    dryRun: 'none',
  };
  return { ...of, parts: parts.map(partOf) };
}

/** The record has the last word on how it stands: a command that was killed left nothing else. */
function endingOf(record: RunRecord, last: RunReport | undefined): Pick<Outcome, 'exit' | 'message' | 'suggestions'> {
  if (last && record.outcome !== undefined)
    return { exit: last.exit.code, suggestions: last.suggestions, ...(last.message === undefined ? {} : { message: last.message }) };
  if (record.outcome !== undefined) return { exit: record.outcome satisfies ExitName, suggestions: [] };
  return {
    exit: 'interrupted',
    message: 'the run is at work, or its last command was killed: there is no report of how it ended',
    suggestions: ['see whether it still runs: kubectl netsvc-upgrade status'],
  };
}

/** A check that several commands evaluated counts as the last of them evaluated it. */
function latest(judged: readonly RunReport['findings'][]): RunReport['findings'] {
  return judged.flatMap((findings, part) => {
    const later = new Set(judged.slice(part + 1).flatMap((others) => others.map(({ id }) => id)));
    return findings.filter(({ id }) => !later.has(id));
  });
}

function partOf({ command, exit, made, history }: RunReport): NonNullable<RunReport['parts']>[number] {
  const { startedAt = '', endedAt = '' } = history ?? {};
  return { commandLine: made?.commandLine ?? command, by: made?.by ?? '', startedAt, endedAt, exit };
}
