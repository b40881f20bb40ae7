import { type Action, removedBy } from '../../kernel/action.ts';
import { networkText } from '../../kernel/connections.ts';
import type { Context } from '../../kernel/context.ts';
import { agoText, counted } from '../../kernel/counted.ts';
import { changesSomething, type EffectTypes } from '../../kernel/effect-type.ts';
import type { RolloutRow, RolloutTrace } from '../../kernel/history.ts';
import type { DataPlane } from '../../kernel/installation.ts';
import { intentWords } from '../../kernel/intent.ts';
import { tally } from '../../kernel/judge.ts';
import { type ObjectRef, refText } from '../../kernel/object.ts';
import type { PlannedObject } from '../../kernel/plan.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import type { AnyStage } from '../../kernel/stage.ts';
import { stoppedText, trafficSentences, UNTOUCHED } from '../../kernel/traffic.ts';
import { NO_RETURNS } from '../../kernel/undo.ts';
import { oneLine } from '../../kernel/visible.ts';
import type { Chain } from '../command-names.ts';
import type { Outcome } from './run.ts';

/** What the last lines of a command are computed from. */
export interface Closed {
  /** What the command performs. */
  readonly of: Pick<Chain, 'tells'> | undefined;
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
export function closingLines({ of, outcome, chain, effects, isDryRun, isBlock = false, before, now }: Closed): readonly string[] {
  const verdict = of?.tells === 'readiness' && outcome.message === undefined ? [verdictLine(outcome)] : refusedLine(outcome);
  const traffic = trafficOf(outcome, chain, {
    isBlock,
    isOver: outcome.exit === 'done' && (before === undefined || outcome.stages.length > 0),
  });
  const earlier = before ? earlierLines(before, { chain, now }, outcome.earlier, traffic(before.wrote)) : [];
  if (isDryRun) return [...verdict, 'Nothing was changed: this was a dry run.', ...earlier];
  if (outcome.writes === 0 && outcome.saysUnchanged) return [...verdict, ...earlier];
  const written = writtenBy(outcome, effects);
  const isOpen = outcome.exit !== 'done' && written.some((one) => one.isOpen);
  const nothing = isOpen ? 'The step that did not end may have changed something.' : 'Nothing was changed by this command.';
  if (outcome.writes === 0 && written.every(({ refs }) => refs.length === 0)) return [...verdict, nothing, ...earlier];
  const stages = written.map(({ stage }) => stage);
  const more = isOpen ? ' The step that did not end may have changed more.' : '';
  return [`${changedText(outcome, written)}${more}`, ...(earlier.length > 0 ? earlier : traffic(stages)), ...noReturnLine(outcome)];
}

/** What a run that is not finished did before this command, and what that means for traffic. */
export function earlierLines(
  record: RunRecord,
  { chain, now }: Pick<Closed, 'chain' | 'now'>,
  earlier: readonly string[] = record.wrote,
  traffic: readonly string[] = trafficLines(record.wrote, chain, underWay(record.dataPlane)),
): readonly string[] {
  if (earlier.length === 0) return [];
  const resumed = record.resumes === undefined ? '' : ', or of the upgrade that it resumes';
  const changed = `Earlier parts of this run, begun ${agoText(record.startedAt, now)}${resumed}, changed: ${earlier.join(', ')}.`;
  return [changed, ...traffic];
}

/** What a run has left to the user, and does not do later; not what the row of a stage still says. */
export const owedLines = ({ stages, owed = [] }: Pick<RunRecord, 'stages' | 'owed'>): readonly string[] =>
  owed.filter((one) => !stages.some(({ left }) => left?.includes(one))).map((one) => leftLine('on nodes', one));

/** The same with what its last part left. */
export const leftLines = (record: Pick<RunRecord, 'stages' | 'owed'> | undefined): readonly string[] =>
  record
    ? [...record.stages.flatMap(({ id, left }) => (left === undefined ? [] : [leftLine(`at ${id}`, left)])), ...owedLines(record)]
    : [];

/** Whoever may write the record chose it. */
const leftLine = (where: string, left: string): string => `left ${where}: ${oneLine(left.slice(0, 500))}`;

/** The record, if it is of a run on this cluster that began before this command, and was not finished then. */
export function unfinishedBefore(record: RunRecord | undefined, { clusterUid, startedAt }: Context): RunRecord | undefined {
  if (record?.clusterUid !== clusterUid) return undefined;
  const isOver = record.finishedAt !== undefined && Date.parse(record.finishedAt) <= startedAt.getTime();
  return !isOver && Date.parse(record.startedAt) < startedAt.getTime() ? record : undefined;
}

/** `READY, 1 warning`, `NOT READY: 2 blockers`. */
function verdictLine({ findings }: Outcome): string {
  const { error, warning } = tally(findings);
  const leftOut = findings.filter(({ aside }) => aside === 'left-out').length;
  if (error > 0) return `NOT READY: ${counted(error, 'blocker')}`;
  return ['READY', warning > 0 ? counted(warning, 'warning') : '', leftOut > 0 ? `${counted(leftOut, 'check')} left out` : '']
    .filter((part) => part !== '')
    .join(', ');
}

/** A command that has not begun: what stands against it is further up. */
function refusedLine({ exit, stages, findings, message }: Outcome): readonly string[] {
  const open = findings.filter(({ outcome }) => outcome === 'error');
  if (exit !== 'blocked' || stages.length > 0 || message === undefined || open.length === 0) return [];
  return [`Not begun, because of ${open.map(({ id, message: because }) => `${id}: ${because}`).join('; ')}`];
}

/** What a stage changed that had something to change, and has begun. */
interface Written {
  readonly stage: string;
  /** Objects whose steps have ended well: one that a part of a failed step may have written is not among them. */
  readonly refs: readonly ObjectRef[];
  /** Objects that it deleted, also where it was planned again since. */
  readonly removed: readonly ObjectRef[];
  readonly onlyRemoves: boolean;
  /** A step that writes has not ended well. */
  readonly isOpen: boolean;
}

function writtenBy({ plans, history }: Outcome, effects: EffectTypes): readonly Written[] {
  const ends = new Map(history?.actions.map(({ stage, id, outcome }) => [`${stage} ${id}`, outcome]));
  return plans.flatMap(({ id: stage, actions, objects }) => {
    const writers = actions.filter((one) => changesSomething(effects, one) && !one.leavesNothing);
    if (writers.length === 0 || !history?.actions.some((one) => one.stage === stage)) return [];
    const isDone = ({ id }: Pick<Action, 'id'>) => ends.get(`${stage} ${id}`) === 'done';
    const isWhole = writers.every(isDone);
    const isWritten = ({ change, by }: PlannedObject) =>
      (change === 'create' || change === 'update') && (by === undefined ? isWhole : isDone({ id: by }));
    const done = writers.filter(isDone);
    const some = writers.filter((one) => hasReplaced(one, history.rollouts));
    const refs = objects.length > 0 ? objects.filter(isWritten).map(({ ref }) => ref) : done.flatMap(targetsOf);
    return {
      stage,
      refs: [...refs, ...[...done, ...some].flatMap(agentsOf)],
      removed: history.actions.flatMap((one) => (one.stage === stage && one.outcome === 'done' ? (one.removed ?? []) : [])),
      onlyRemoves: done.length > 0 && done.every((one) => removedBy(one).length > 0),
      isOpen: writers.some(({ id }) => ['failed', 'running'].includes(ends.get(`${stage} ${id}`) ?? '')),
    };
  });
}

/** What an effect names itself. */
function targetsOf({ effect }: Action): readonly ObjectRef[] {
  return effect.type === 'patch-all' ? effect.patches.map(({ target }) => target) : [];
}

/** Their DaemonSet may be as planned already. */
function agentsOf({ effect }: Action): readonly ObjectRef[] {
  return effect.type === 'replace-agents' || effect.type === 'roll-agents' ? [effect.agents] : [];
}

/** It has replaced some of them at least, also where it has not ended well. */
function hasReplaced({ effect }: Action, rollouts: readonly RolloutTrace[]): boolean {
  const isReplaced = ({ marks: [first, ...later] }: RolloutRow) =>
    first?.phase === 'old' && later.some(({ phase }) => phase !== 'old' && phase !== 'gone');
  const isIn = ({ workload, rows }: RolloutTrace, of: string) => workload === of && rows.some(isReplaced);
  return effect.type === 'replace-agents' && rollouts.some((one) => isIn(one, refText(effect.agents)));
}

/** `1 DaemonSet, 5 CRDs and 6 others (apply), cli; removed 1 ClusterRole (apply)`: objects where a plan has them, else stages. */
function changedText({ writes }: Outcome, written: readonly Written[]): string {
  const named = written.filter(({ refs }) => refs.length > 0);
  const others = written.filter(({ refs, onlyRemoves }) => refs.length === 0 && !onlyRemoves);
  const removers = written.filter(({ removed }) => removed.length > 0);
  const stagesOf = (some: readonly Written[]) => some.map(({ stage }) => stage).join(', ');
  const texts = [
    ...(named.length > 0 ? [`${kindsText(named.flatMap(({ refs }) => refs))} (${stagesOf(named)})`] : []),
    ...(others.length > 0 ? [stagesOf(others)] : []),
  ];
  const gone = kindsText(
    removers.flatMap(({ removed }) => removed),
    Number.POSITIVE_INFINITY,
  );
  const parts = [
    ...(texts.length > 0 ? [texts.join(', ')] : []),
    ...(removers.length > 0 ? [`removed ${gone} (${stagesOf(removers)})`] : []),
  ];
  return `Changed by this command: ${parts.length > 0 ? parts.join('; ') : counted(writes, 'step')}.`;
}

/** Kinds that are named first, and how many are named. */
const FIRST_KINDS = ['DaemonSet', 'Deployment', 'CustomResourceDefinition'];
const NAMED_KINDS = 3;

/** `1 DaemonSet, 1 Deployment, 5 CRDs and 6 others`. */
function kindsText(refs: readonly ObjectRef[], most = NAMED_KINDS): string {
  const objects = [...new Map(refs.map((ref) => [refText(ref), ref])).values()];
  const rank = (kind: string) => FIRST_KINDS.toReversed().indexOf(kind);
  const kinds = [...Map.groupBy(objects, ({ kind }) => kind)].map(([kind, { length }]) => ({ kind, length }));
  const named = kinds.toSorted((one, other) => rank(other.kind) - rank(one.kind) || other.length - one.length).slice(0, most);
  const others = objects.length - named.reduce((sum, { length }) => sum + length, 0);
  const texts = named.map(({ kind, length }) => countedKind(length, kind.replace(/^CustomResourceDefinition$/, 'CRD')));
  return others === 0 ? texts.join(', ') : `${texts.join(', ')} and ${counted(others, 'other')}`;
}

function countedKind(count: number, kind: string): string {
  const many = /[^aeiou]y$/.test(kind) ? `${kind.slice(0, -1)}ies` : `${kind}${/(?:s|ch)$/.test(kind) ? 'es' : 's'}`;
  return counted(count, kind, many);
}

/** While agents may still be missing. */
const underWay = (dataPlane: DataPlane | undefined): string =>
  `${sentence(stoppedText(dataPlane))} New pods get no network on a node whose agent is not ready.`;

/** What it means for traffic that these stages wrote: as a stop says itself (`… New pods on node-01 get no network.`), else by what restarted. */
function trafficOf(
  outcome: Outcome,
  chain: readonly AnyStage[],
  { isBlock, isOver }: { readonly isBlock: boolean; readonly isOver: boolean },
): (stages: readonly string[]) => readonly string[] {
  const impact = outcome.steps.find(({ more }) => more.impact !== undefined)?.more.impact;
  if (impact !== undefined) return () => (isBlock ? [] : [impact.sentences.map(sentence).join(' ')]);
  const dataPlane = outcome.record?.dataPlane ?? outcome.head?.dataPlane;
  return (stages) => trafficLines(stages, chain, isOver ? trafficSentences(dataPlane, measuredIn(outcome)) : underWay(dataPlane));
}

/** What connections of `--probe-network` have been through. */
function measuredIn({ history }: Outcome): string | undefined {
  return history?.network && networkText(history.network);
}

/** Nothing where a stage changes what is let through. */
function trafficLines(stages: readonly string[], chain: readonly AnyStage[], restarted: string): readonly string[] {
  const kinds = stages.map((id) => chain.find((stage) => stage.id === id)?.traffic);
  if (kinds.includes('agents')) return [restarted];
  return kinds.length > 0 && kinds.every((one) => one === 'untouched') ? [UNTOUCHED] : [];
}

/** A run that stopped says it with what can be undone. */
function noReturnLine({ exit, record }: Outcome): readonly string[] {
  if (exit !== 'done' || !record?.noReturn) return [];
  return [`The ${intentWords(record.intent).noun} is done; there is no undo any more. ${NO_RETURNS[record.noReturn.point].long}`];
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
