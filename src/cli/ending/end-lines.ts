import type { Command } from '../../kernel/command.ts';
import { agoText, counted, firstOf, timeText } from '../../kernel/counted.ts';
import { isPerNode, msOf, type RolloutRow, type RolloutTrace } from '../../kernel/history.ts';
import { isOperated } from '../../kernel/installation.ts';
import type { RunProgress, RunRecord } from '../../kernel/run-record.ts';
import type { AnyStage } from '../../kernel/stage.ts';
import { Again, type Said, type Step, type StepKind, type Text, text } from '../../kernel/step.ts';
import { NO_RETURNS, undoRow } from '../../kernel/undo.ts';
import type { Palette } from '../../report/colour.ts';
import { type CarriedFlag, isOfOneWay, oursWith } from '../carried.ts';
import { lackedBy, typedAgain } from '../user-commands.ts';
import type { Outcome } from './run.ts';

/** Of whom the end tells. */
export interface EndView {
  readonly palette: Palette;
  /** `Calico`. */
  readonly service: string;
  readonly release: string;
  /** An earlier command began the run: the time is that of the last part. */
  readonly isResumed?: boolean;
  /** The command that resumes what stopped. */
  readonly resume: Command;
}

/** `✔ Calico v3.27.5 → v3.32.1 on 6 nodes in 2m53s · 2 warnings · 3 manual steps left`. */
export function successLine(outcome: Outcome, { palette, service, release, isResumed = false }: EndView, steps: number): string {
  const { versions, history, findings } = outcome;
  const from = versions?.before !== undefined && versions.before !== release ? `${versions.before} → ` : '';
  const trace = agents(outcome);
  const nodes = trace?.all ?? trace?.desired ?? outcome.head?.nodes;
  const warnings = findings.filter(({ outcome: found }) => found === 'warning').length;
  const took = history ? (history.durationMs ?? msOf(history)) : Number.NaN;
  const where = nodes === undefined ? '' : ` on ${counted(nodes, 'node')}`;
  const counts = [
    `${service} ${from}${release}${where}${took >= 1000 ? ` in ${timeText(took)}${isResumed ? ' since it was resumed' : ''}` : ''}`,
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
    ...(steps > 0 ? [`${counted(steps, 'manual step')} left`] : []),
  ];
  return `${palette.good('✔')} ${counts.join(' · ')}`;
}

/** What kept a run from its end, as one block: the last on the screen. `undo`: what of it can be undone, and how. */
export function stoppedLines(outcome: Outcome, view: EndView, undo: readonly Said[]): readonly string[] {
  const { message, steps } = outcome;
  const isToDo = ({ kind, more }: Step) => (kind === 'do' && more.contains === undefined) || kind === 'or';
  const rowsOf = (some: readonly Step[]) => some.map((step) => rowText(rowOf(step, view)));
  return [
    stoppedHead(outcome, view),
    ...(message === undefined ? [] : [rowText(['why', message])]),
    ...rowsOf(steps.filter((step) => !isToDo(step))),
    ...undo.map((one, index) => rowText([index === 0 ? 'undo' : '', view.palette.said(one)])),
    ...rowsOf(steps.filter(isToDo)),
  ];
}

/** `STOPPED at apply, step 21 of 25 · 5 of 6 nodes on v3.32.1 · node-03 failing`. */
function stoppedHead(outcome: Outcome, { palette, release }: EndView): string {
  // A stage that has done its own part may still wait for the user.
  const stage = outcome.stages.findLast(({ state }) => state !== 'done' && state !== 'skipped') ?? outcome.stages.at(-1);
  const { progress } = outcome.record ?? {};
  const step = progress && progress.stage === stage?.id ? `, ${reachedText(progress)}` : '';
  return palette.bad([`STOPPED${stage ? ` at ${stage.id}${step}` : ''}`, ...rolloutTexts(outcome, release)].join(' · '));
}

type Row = readonly [name: string, text: string];

const ROWS: Readonly<Record<StepKind, string>> = {
  look: 'look',
  do: 'then',
  fix: 'fix',
  or: 'or',
  impact: 'impact',
  says: 'says',
  means: 'means',
};

/** The kind is the row's name. Where a step means the command that was typed, what resumes it stands there. */
function rowOf({ kind, text }: Step, { resume, palette: { said } }: EndView): Row {
  return [ROWS[kind], said(text.map((part) => (part instanceof Again ? part.with(resume) : part)))];
}

function rowText([name, text]: Row): string {
  return `  ${name.padEnd(7)} ${text}`;
}

/** The agents, or whatever of one pod per node was rolled out last. */
function agents({ history }: Outcome): RolloutTrace | undefined {
  return history?.rollouts.findLast(isPerNode);
}

/** `5 of 6 nodes on v3.32.1`, then the nodes that stopped it, or are not ready; nothing of the first where no rollout was seen. */
function rolloutTexts(outcome: Outcome, release: string): readonly string[] {
  const trace = agents(outcome);
  const without = outcome.steps.map(({ more }) => more.impact?.withoutNetwork).find((nodes) => nodes !== undefined);
  const stopped = without === undefined ? [] : [`new pods on ${without} get no network`];
  if (!trace || trace.done) return stopped;
  // What was seen before the step that stopped (a probe while the rollout continues) is old by then.
  const failing = outcome.history?.actions.findLast((one) => one.outcome === 'failed');
  if (failing && Date.parse(trace.startedAt) < Date.parse(failing.startedAt)) return stopped;
  const now = (one: RolloutRow) => one.marks.at(-1);
  const done = trace.rows.filter((one) => now(one)?.phase === 'new').length;
  const failed = trace.rows.filter((one) => now(one)?.phase === 'failed');
  const open = failed.length > 0 ? failed : trace.rows.filter((one) => now(one)?.phase === 'updating');
  const shown = open.map((one) => `${one.node} ${now(one)?.phase === 'failed' ? 'failing' : 'not ready'}`);
  return [
    `${done} of ${counted(trace.all ?? trace.desired, 'node')} on ${release}`,
    ...(stopped.length > 0 ? stopped : shown.length === 0 ? [] : [firstOf(shown, 3)]),
  ];
}

/** `step 21 of 25`; `one of steps 2–21 of 25` where no more is known. */
export function reachedText({ step, last, of }: RunProgress): string {
  return last === undefined || last === step ? `step ${step} of ${of}` : `one of steps ${step}–${last} of ${of}`;
}

/** What a run that is not finished leaves where: a machine may die. */
export function keptText({
  startedBy,
  backup,
  backupBy,
  resumes,
}: Pick<RunRecord, 'startedBy' | 'backup' | 'backupBy' | 'resumes'>): string {
  const cluster = 'Any machine can resume this run: what it needs is in the cluster, but for files and scripts that its flags name.';
  // Of an upgrade that this run resumes the folder is known, and not who made it.
  const host = /@([^/]+)/.exec(backupBy ?? (resumes === undefined ? startedBy : ''))?.[1] ?? 'the machine that took it';
  return backup === undefined ? cluster : `${cluster} The backup is only on ${host}, in ${backup}: copy it to another machine.`;
}

const PAGE = 'docs/use/going-back.md';

/** Taken back since, and not performed again. */
function isUndone({ stages }: RunRecord, { id, undo }: AnyStage): boolean {
  const last = stages.findLast((one) => one.id === id || one.id === undo?.id);
  return last?.undo === true && last.state === 'done';
}

const ALL_UNDONE = 'nothing left to undo: what this run changed was undone';
const UNCHANGED = 'nothing to undo: this run has not changed the service';

const alone = (way: Said): Text => text`this part alone: ${way}`;

export interface Undoing {
  readonly chain: readonly AnyStage[];
  readonly carried: readonly CarriedFlag[];
  readonly now: Date;
  /** Why `rollback` would refuse now. */
  readonly refused: string | undefined;
}

const filesText = ({ backup }: RunRecord) =>
  backup === undefined ? `this run has no backup; see ${PAGE}` : `${backup}/RESTORE.md has the commands, object by object`;

/** The same on a screen without a block. */
export const undoLines = (undo: readonly Said[], { said }: Palette): readonly string[] =>
  undo.map((one, index) => `${index === 0 ? 'undo:' : ' '} ${said(one)}`);

/** What of an unfinished run can be undone now, and how: whether, then the ways, what was done last first. */
export function undoTexts(record: RunRecord, { chain, carried: all, now, refused }: Undoing): readonly Said[] {
  const carried = all.filter(({ name }) => !isOfOneWay(name));
  const writers = record.wrote.toReversed().flatMap((id) => chain.find((stage) => stage.id === id) ?? []);
  const row = undoRow(
    record,
    writers.flatMap(({ reaches }) => reaches ?? []),
  );
  const isTakenBack = row?.by === 'rollback' && refused === undefined;
  const wayOf = ({ id, undoneBy: of }: AnyStage): readonly Said[] => {
    if (of === undefined) return [];
    return of === 'copy' ? [`the row of ${id} has the command that creates it again`] : [text`${oursWith(of, carried)}`];
  };
  const standing = writers.filter((stage) => !isUndone(record, stage));
  const ways = standing.flatMap(wayOf);
  const lacked = lackedBy((name) => isOfOneWay(name) || carried.some((one) => one.name === name), record);
  const without = lacked.length === 0 ? '' : ` (refused without ${typedAgain(lacked)})`;
  const { noReturn, progress, intent } = record;
  if (intent.takesBack)
    return [
      text`this run goes back itself; forward again, once you accept NS-012 by name: ${oursWith('run', carried).without('release').with('--release', intent.takesBack.to)}${without}`,
    ];
  if (noReturn) {
    const since = progress?.noReturn ? `since step ${progress.noReturn.step} of ${progress.of}` : `since ${agoText(noReturn.at, now)}`;
    return [`not possible any more ${since} (${PAGE})`, NO_RETURNS[noReturn.point].long, ...ways.map(alone)];
  }
  if (row?.by === 'forward') return [`not possible any more (${PAGE})`, row.because, ...ways.map(alone)];
  if (row?.by === 'rollback' && refused !== undefined) {
    if (row.paths.some((path) => isOperated({ path }))) return [`not possible any more (${PAGE})`, refused, ...ways.map(alone)];
    return [`only as a manual step, rollback refuses: ${refused}`, filesText(record), ...ways.map(alone)];
  }
  if (ways.length === 0 && !isTakenBack) return [standing.length < writers.length ? ALL_UNDONE : UNCHANGED];
  const until = progress?.noReturn ? ` until step ${progress.noReturn.step} of ${progress.of}` : '';
  const how = isTakenBack ? [text`${oursWith('rollback', carried)}${without}`] : ways;
  const [only] = how;
  return only !== undefined && how.length === 1 ? [text`possible${until}: ${only}`] : [`possible${until}, in this order:`, ...how];
}
