import type { Context } from '../../kernel/context.ts';
import { agoText, counted } from '../../kernel/counted.ts';
import { changesSomething, type EffectTypes } from '../../kernel/effect-type.ts';
import { tally } from '../../kernel/judge.ts';
import { LEFT_OUT } from '../../kernel/left-out.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import type { Outcome } from './run.ts';

/** What the last lines of a command are computed from. */
export interface Closed {
  readonly command: string;
  readonly outcome: Outcome;
  readonly effects: EffectTypes;
  readonly isDryRun: boolean;
  /** The record of a run that is not finished, where this command is not its first. */
  readonly before?: RunRecord | undefined;
  readonly now: Date;
}

/** The last lines before the next command: what the command came to, and what it changed. */
export function closingLines({ command, outcome, effects, isDryRun, before, now }: Closed): readonly string[] {
  const verdict = command === 'preflight' && outcome.message === undefined ? [verdictLine(outcome)] : [];
  const changed = changedStages(outcome, effects);
  const earlier = before ? earlierLines(before, now, changed, isProved(outcome)) : [];
  if (isDryRun) return [...verdict, 'Nothing was changed: this was a dry run.', ...earlier];
  if (outcome.writes === 0 && /nothing was changed/i.test(outcome.message ?? '')) return [...verdict, ...earlier];
  if (outcome.writes === 0) return [...verdict, 'Nothing was changed by this command.', ...earlier];
  return [changedLine(outcome, changed), ...(earlier.length > 0 ? earlier : trafficLine(outcome, changed))];
}

/** What a run that is not finished did before this command, and what that means for traffic. */
export function earlierLines(record: RunRecord, now: Date, changed: readonly string[] = [], isOver = false): readonly string[] {
  const { wrote } = record;
  const others = wrote.filter((stage) => !changed.includes(stage));
  if (others.length === 0) return [];
  const isSafe = [...wrote, ...changed].every((stage) => LEAVES_TRAFFIC.has(stage));
  return [
    `Earlier parts of this run, begun ${agoText(record.startedAt, now)}, changed: ${others.join(', ')}.`,
    ...(isSafe ? [isOver ? KEPT_NETWORK : `${KEEP_NETWORK} New pods get none on a node whose agent is not ready.`] : []),
  ];
}

/** The record, if it is of a run on this cluster that began before this command, and was not finished then. */
export function unfinishedBefore(record: RunRecord | undefined, { clusterUid, startedAt }: Context): RunRecord | undefined {
  if (record?.clusterUid !== clusterUid) return undefined;
  const isOver = record.finishedAt !== undefined && Date.parse(record.finishedAt) <= startedAt.getTime();
  return !isOver && Date.parse(record.startedAt) < startedAt.getTime() ? record : undefined;
}

/** `READY, 1 warning`, `NOT READY: 2 blockers`. */
function verdictLine({ findings }: Outcome): string {
  const { error, warning } = tally(findings);
  const leftOut = findings.filter((one) => one.outcome === 'not-applicable' && one.message.startsWith(LEFT_OUT)).length;
  if (error > 0) return `NOT READY: ${counted(error, 'blocker')}`;
  return ['READY', warning > 0 ? counted(warning, 'warning') : '', leftOut > 0 ? `${counted(leftOut, 'check')} left out` : '']
    .filter((part) => part !== '')
    .join(', ');
}

/** Stages of which some action that changes something was begun. */
function changedStages({ plans, history }: Outcome, effects: EffectTypes): readonly string[] {
  const acting = new Set(plans.filter(({ actions }) => actions.some((one) => changesSomething(effects, one))).map(({ id }) => id));
  return [...new Set(history?.actions.map(({ stage }) => stage))].filter((stage) => acting.has(stage));
}

/** The steps are those of the plan, and `STOPPED at` says at which of them: what was written is not counted beside them. */
function changedLine({ writes }: Outcome, stages: readonly string[]): string {
  return `Changed by this command: ${stages.length > 0 ? stages.join(', ') : counted(writes, 'step')}.`;
}

const KEEP_NETWORK = 'Running pods keep their network.';

/** Stages that cannot change a pod's traffic: a running pod keeps what the agent has set up for it. */
const LEAVES_TRAFFIC: ReadonlySet<string> = new Set([
  'ownerrefs-strip',
  'crds',
  'apply',
  'wait',
  'ownerrefs-restore',
  'cli',
  'ownerrefs-forget',
]);

const KEPT_NETWORK = 'Running pods kept their network.';

const isProved = ({ exit, stages }: Outcome): boolean =>
  exit === 'done' && stages.some(({ id, state }) => id === 'verify' && state === 'done');

function trafficLine(outcome: Outcome, stages: readonly string[]): readonly string[] {
  const isSaid = outcome.suggestions.some((one) => /^running pods /.test(one));
  if (isSaid || stages.length === 0 || stages.some((stage) => !LEAVES_TRAFFIC.has(stage))) return [];
  return [isProved(outcome) ? KEPT_NETWORK : KEEP_NETWORK];
}
