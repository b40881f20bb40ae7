import type { Context } from '../../kernel/context.ts';
import { agoText, counted } from '../../kernel/counted.ts';
import { changesSomething, type EffectTypes } from '../../kernel/effect-type.ts';
import { tally } from '../../kernel/judge.ts';
import { LEFT_OUT } from '../../kernel/left-out.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import { type AnyStage, noReturnText } from '../../kernel/stage.ts';
import type { Outcome } from './run.ts';

/** What the last lines of a command are computed from. */
export interface Closed {
  readonly command: string;
  readonly outcome: Outcome;
  /** Every stage that there is. */
  readonly chain: readonly AnyStage[];
  readonly effects: EffectTypes;
  readonly isDryRun: boolean;
  /** What the stop means for traffic stands right above. */
  readonly isBlock?: boolean;
  /** The record of a run that is not finished, where this command is not its first. */
  readonly before?: RunRecord | undefined;
  readonly now: Date;
}

/** The last lines before the next command: what the command came to, and what it changed. */
export function closingLines({ command, outcome, chain, effects, isDryRun, isBlock = false, before, now }: Closed): readonly string[] {
  const verdict = command === 'preflight' && outcome.message === undefined ? [verdictLine(outcome)] : [];
  const traffic = trafficOf(outcome, isBlock);
  const earlier = before ? earlierLines(before, { chain, now }, outcome.earlier, traffic(UNDER_WAY)) : [];
  if (isDryRun) return [...verdict, 'Nothing was changed: this was a dry run.', ...earlier];
  if (outcome.writes === 0 && /nothing was changed/i.test(outcome.message ?? '')) return [...verdict, ...earlier];
  if (outcome.writes === 0) return [...verdict, 'Nothing was changed by this command.', ...earlier];
  const changed = changedStages(outcome, effects);
  const here = changed.length > 0 && leavesTraffic(changed, chain) ? traffic(KEEP_NETWORK) : traffic();
  return [changedLine(outcome, changed), ...(earlier.length > 0 ? earlier : here), ...noReturnLine(outcome, chain)];
}

/** What a run that is not finished did before this command, and what that means for traffic. */
export function earlierLines(
  record: RunRecord,
  { chain, now }: Pick<Closed, 'chain' | 'now'>,
  earlier: readonly string[] = record.wrote,
  traffic: readonly string[] = [UNDER_WAY],
): readonly string[] {
  if (earlier.length === 0) return [];
  const changed = `Earlier parts of this run, begun ${agoText(record.startedAt, now)}, changed: ${earlier.join(', ')}.`;
  return [changed, ...(leavesTraffic(record.wrote, chain) ? traffic : [])];
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
const KEPT_NETWORK = 'Running pods kept their network.';
const UNDER_WAY = `${KEEP_NETWORK} New pods get none on a node whose agent is not ready.`;

/** What it means for traffic: as a stop says itself (`Running pods keep their network. New pods on node-01 get none.`), else this. */
function trafficOf(outcome: Outcome, isBlock: boolean): (otherwise?: string) => readonly string[] {
  const impact = outcome.suggestions.find((one) => one.startsWith('running pods '));
  if (impact === undefined) return (otherwise) => (otherwise === undefined ? [] : [isProved(outcome) ? KEPT_NETWORK : otherwise]);
  const sentences = impact.split('; ').map((part) => `${part.charAt(0).toUpperCase()}${part.slice(1)}.`);
  return () => (isBlock ? [] : [sentences.join(' ')]);
}

/** A run that stopped says it with what can be undone. */
function noReturnLine({ exit, record }: Outcome, chain: readonly AnyStage[]): readonly string[] {
  if (exit !== 'done' || !record?.noReturn) return [];
  return [`Undo is not possible any more. ${noReturnText(chain, record.noReturn.because) ?? ''}`.trimEnd()];
}

const leavesTraffic = (stages: readonly string[], chain: readonly AnyStage[]): boolean =>
  stages.every((id) => chain.find((stage) => stage.id === id)?.leavesTraffic === true);

const isProved = ({ exit, stages }: Outcome): boolean =>
  exit === 'done' && stages.some(({ id, state }) => id === 'verify' && state === 'done');
