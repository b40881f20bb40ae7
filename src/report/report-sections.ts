import type { Finding } from '../kernel/check.ts';
import { counted, elapsedText } from '../kernel/counted.ts';
import type { ActionText } from '../kernel/effect-type.ts';
import type { ActionTrace } from '../kernel/history.ts';
import { refText } from '../kernel/object.ts';
import { type FieldChange, latestOf, type PlannedObject, type PlannedStage } from '../kernel/plan.ts';
import { plainText } from '../kernel/step.ts';
import type { ProbeTrace } from '../kernel/user-command.ts';
import type { ChangePacket } from './change-packet.ts';
import { clip } from './columns.ts';
import { tallyLine } from './findings.ts';
import type { Bar, Cell, FoldItem, ReportFacts, ReportStage, Row, Section } from './model.ts';
import { movedSections, valueText } from './moved-sections.ts';
import { networkSection } from './network-section.ts';
import { LEFT_TO_PERSON } from './progress-text.ts';

const VALUE_WIDTH = 160;

/** Everything that a report tells, in its order; `textOf` is asked for the steps of a plan that was not run. */
export function sectionsOf(report: Omit<ReportFacts, 'next'>, textOf: ActionText): readonly Section[] {
  const { plans, history, findings, stages } = report;
  const rollouts = history?.rollouts ?? [];
  const sections: readonly (Section | undefined)[] = [
    ...changeSections(report.change),
    manualSection(plans),
    stagesSection(stages),
    rollouts.length === 0
      ? undefined
      : { kind: 'rollouts', id: 'rollout', name: 'Rollout', title: 'Rolling update, node by node', rollouts },
    networkSection(history?.network, rollouts),
    probeSection(history?.probe),
    checksSection(findings),
    changesSection(plans),
    ...movedSections(plans),
    stepsSection(report, textOf),
  ];
  return sections.filter((one) => one !== undefined);
}

const CHANGE: readonly (readonly [keyof ChangePacket, string])[] = [
  ['risk', 'Risk'],
  ['impact', 'Impact'],
  ['order', 'Order'],
  ['duration', 'Duration'],
  ['backout', 'Backout'],
  ['questions', 'Questions'],
];

/** For a change board: one page that somebody reads on paper. */
function changeSections(change: ChangePacket | undefined): readonly Section[] {
  if (change === undefined) return [];
  return CHANGE.map(([id, name]) => ({ kind: 'table', id, name, title: name, items: change[id].map(plainText) }));
}

/** What only the user can do, as the last plan of each stage has it. */
function manualSection(plans: readonly PlannedStage[]): Section | undefined {
  const actions = latestOf(plans).flatMap((plan) => plan.actions);
  const steps = actions.flatMap(({ effect }) => (effect.type === 'ask' ? [effect.instruction] : []));
  if (steps.length === 0) return undefined;
  return { kind: 'table', id: 'manual', name: 'Manual steps', title: 'Manual steps', items: [...new Set(steps.map(plainText))] };
}

/** The stages on one axis of time. */
function stagesSection(stages: readonly ReportStage[]): Section | undefined {
  if (stages.length === 0) return undefined;
  const known = stages.flatMap(({ startedAt, endedAt }) => [startedAt, endedAt]).flatMap((text) => timeOf(text) ?? []);
  const [from, to] = [Math.min(...known), Math.max(...known)];
  return {
    ...{ kind: 'table', id: 'stages', name: 'When', title: 'What happened when' },
    table: {
      ...{ label: 'stages', layout: 'timeline', drawn: 4 },
      head: ['Stage', 'State', 'Began', 'Took', 'On the axis of time', 'Why'],
      rows: stages.map((stage) => stageRow(stage, from, Math.max(1, to - from))),
    },
  };
}

function stageRow(stage: ReportStage, from: number, whole: number): Row {
  const { id, state, startedAt, because = '', undo } = stage;
  const [began, took] = [timeOf(startedAt), tookOf(stage)];
  const tone = ['done', 'failed', 'skipped', 'running', 'interrupted', 'held'].includes(state) ? state : 'other';
  const cells: readonly Cell[] = [
    { text: id },
    { text: undo && state === 'done' ? 'undone' : state, tone: `s-${tone}` },
    { text: startedAt ?? '' },
    { text: took === undefined ? '' : elapsedText(took) },
    began === undefined ? {} : { bar: barOf(state, began - from, took ?? 0, whole) },
    { text: because },
  ];
  return { cells };
}

function barOf(state: string, offset: number, took: number, whole: number): Bar {
  const percent = (part: number) => Math.round(Math.min(1, Math.max(0, part / whole)) * 1000) / 10;
  const from = Math.min(99, percent(offset));
  const tone = ['failed', 'interrupted'].includes(state) ? 'failed' : state === 'skipped' ? 'skipped' : 'done';
  return { from, width: Math.min(Math.max(0.5, percent(took)), 100 - from), tone };
}

function timeOf(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? '');
  return Number.isFinite(time) ? time : undefined;
}

/** Milliseconds. */
function tookOf({ startedAt, endedAt, durationMs }: ReportStage): number | undefined {
  const [began, ended] = [timeOf(startedAt), timeOf(endedAt)];
  return began === undefined || ended === undefined ? undefined : (durationMs ?? Math.max(0, ended - began));
}

/** What the user's own probe said beside the run. */
function probeSection(probe: ProbeTrace | undefined): Section | undefined {
  if (probe === undefined || probe.runs === 0) return undefined;
  const { runs, medianMs, longestMs, failed, failures } = probe;
  const lead = `${counted(runs, 'run')}: ${failed} failed; median ${medianMs} ms, longest ${longestMs} ms.`;
  const rows = failures.map(({ at, durationMs, because }) => ({
    cells: [{ text: at }, { text: `${durationMs} ms` }, { text: because, tone: 's-failed' }],
  }));
  const table = rows.length === 0 ? {} : { table: { label: 'failures of the probe', head: ['When', 'Took', 'Why it failed'], rows } };
  return { kind: 'table', id: 'probe', name: 'Probe', title: 'Your probe', lead, ...table };
}

const OPEN: readonly Finding['outcome'][] = ['error', 'warning', 'accepted', 'expected', 'cured'];

/** What was found: open checks first. */
function checksSection(findings: readonly Finding[]): Section | undefined {
  if (findings.length === 0) return undefined;
  const open = OPEN.flatMap((outcome) => findings.filter((finding) => finding.outcome === outcome));
  const passed = ['ok', 'not-applicable'].flatMap((outcome) => findings.filter((finding) => finding.outcome === outcome));
  return {
    ...{
      kind: 'table',
      id: 'checks',
      name: 'Checks',
      title: 'What was found',
      lead: tallyLine(findings, { wide: false }),
    },
    table: {
      ...{ label: 'checks', heading: 1, minor: { title: `${counted(passed.length, 'check')} that passed or do not apply here` } },
      head: ['Outcome', 'Check', 'Fact', 'What to do'],
      rows: [...open, ...passed].map((one) => ({
        cells: findingCells(one),
        isMinor: !OPEN.includes(one.outcome),
        isMoot: one.outcome === 'not-applicable',
      })),
    },
  };
}

function findingCells({ id, title, outcome, was, message, hint, next, evidence }: Finding): readonly Cell[] {
  const pieces = `${evidence.length} ${evidence.length === 1 ? 'piece' : 'pieces'} of evidence`;
  const items = evidence.map(({ text, detail }): FoldItem => ({ text: detail === undefined ? text : `${text}: ${detail}` }));
  return [
    { text: was === undefined ? outcome : `${outcome} (was: ${was})`, tone: `o-${outcome}` },
    { text: id, small: title },
    { text: message, ...(items.length === 0 ? {} : { fold: { title: pieces, items } }) },
    { text: hint ?? '', ...(next === undefined ? {} : { code: next.plain }) },
  ];
}

/** What was planned for each object: fields, what stays behind. */
function changesSection(plans: readonly PlannedStage[]): Section | undefined {
  const objects = plans.flatMap((plan) => plan.objects);
  const changed = objects.filter(({ change }) => change !== 'unchanged');
  const items = plans.flatMap((plan) => plan.notes.map((note) => `${plan.id}: ${plainText(note)}`));
  if (objects.length === 0 && items.length === 0) return undefined;
  return {
    ...{ kind: 'table', id: 'changes', name: 'Objects', title: 'What was planned for each object', items },
    lead: `${changed.length} to change, ${objects.length - changed.length} as they are.`,
    table: { label: 'objects', head: ['Object', 'Change', 'Fields'], rows: changed.map(objectRow) },
  };
}

function objectRow({ ref, change, fields, hidden, note = '' }: PlannedObject): Row {
  const gone = hidden.map((path): FoldItem => ({ code: path, text: 'will be removed; kubectl’s dry run does not show it' }));
  const items = [...fields.map(fieldItem), ...gone];
  const fold = items.length === 0 ? {} : { fold: { title: counted(items.length, 'field'), items } };
  return { cells: [{ text: refText(ref) }, { text: change }, { text: plainText(note), ...fold }] };
}

function fieldItem({ path, before, after }: FieldChange): FoldItem {
  const short = (value: unknown) => (value === undefined ? undefined : clip(valueText(value), VALUE_WIDTH));
  return { code: path, before: short(before), after: short(after) };
}

/** Every command and patch: what was run with its result, or, where nothing was, what the plan has. */
function stepsSection({ plans, history }: Pick<ReportFacts, 'plans' | 'history'>, textOf: ActionText): Section | undefined {
  const ran = history?.actions ?? [];
  const planned = () =>
    plans.flatMap(({ id, actions }) =>
      actions.map((action) => stepRow(id, action.title, textOf(action), { text: 'planned', tone: 's-other' })),
    );
  const rows = ran.length > 0 ? ran.map(ranRow) : planned();
  if (rows.length === 0) return undefined;
  const notes = (history?.notes ?? []).map(({ at, stage, level, text }) => `${at} ${stage} ${level}: ${text}`);
  return {
    ...{ kind: 'table', id: 'steps', name: 'Commands', title: ran.length > 0 ? 'Commands as they were run' : 'Commands of the plan' },
    table: { label: 'commands', head: ['Stage', 'Step', 'Result'], rows },
    ...(notes.length === 0 ? {} : { notes: { title: 'Said on the way', items: notes } }),
  };
}

/** Of the cell; a kept report is text of others. */
const TONES: Readonly<Record<ActionTrace['outcome'], string>> = {
  running: 'running',
  done: 'done',
  failed: 'failed',
  'left-to-person': 'left',
};

function ranRow({ stage, title, startedAt, durationMs, command = '', detail = '', ...trace }: ActionTrace): Row {
  const { outcome } = trace;
  const text = outcome === 'left-to-person' ? LEFT_TO_PERSON : outcome;
  const tone = Object.hasOwn(TONES, outcome) ? TONES[outcome] : 'other';
  const small = `${startedAt} ${durationMs === undefined ? '' : elapsedText(durationMs)}`.trim();
  return stepRow(stage, title, command, { text, tone: `s-${tone}`, small, ...(detail === '' ? {} : { output: detail }) });
}

function stepRow(stage: string, title: string, command: string, result: Cell): Row {
  return { cells: [{ text: stage }, { text: title, ...(command === '' ? {} : { code: command }) }, result] };
}
