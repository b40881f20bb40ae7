import type { Finding } from '../kernel/check.ts';
import type { ActionText } from '../kernel/effect-type.ts';
import { refText } from '../kernel/object.ts';
import type { PlannedStage } from '../kernel/plan.ts';
import type { RolloutTrace } from '../kernel/run-history.ts';
import { elapsedText } from '../kernel/time-text.ts';
import { LEFT_TO_PERSON } from './action-text.ts';
import { tallyLine } from './findings.ts';
import { doneAt, nameOf } from './heat-map.ts';
import { cell, code, markdownTable, moreLine, type Room } from './markdown.ts';
import { movedSections } from './markdown-moved.ts';
import type { ReportFacts } from './report-facts.ts';
import type { ReportFailure } from './report-failure.ts';

/** What a comment on a pull request takes, with room for the words around it. Bytes. */
export const MARKDOWN_BYTES = 60_000;

const ROOMS: readonly Room[] = [
  { rows: Number.POSITIVE_INFINITY, text: Number.POSITIVE_INFINITY },
  { rows: 500, text: 1000 },
  { rows: 100, text: 400 },
  { rows: 40, text: 200 },
  { rows: 15, text: 120 },
  { rows: 5, text: 60 },
];

/** A report as it can be pasted into a ticket or a comment: below 60 kB, whatever it is about. Lists that were cut say so. */
export function markdownText(report: ReportFacts, textOf: ActionText): string {
  let text = '';
  for (const room of ROOMS) {
    text = inRoom(report, textOf, room);
    if (Buffer.byteLength(text) < MARKDOWN_BYTES) return text;
  }
  const bytes = Buffer.from(text)
    .subarray(0, MARKDOWN_BYTES - 200)
    .toString('utf8');
  return `${bytes.slice(0, bytes.lastIndexOf('\n'))}\n\nThe rest did not fit here; it is in the JSON report.\n`;
}

function inRoom(report: ReportFacts, textOf: ActionText, room: Room): string {
  const sections = [
    `# ${cell(report.title, room)}`,
    report.facts.map(([name, value]) => `- ${name}: ${cell(value, room)}`).join('\n'),
    endingSection(report, room),
    findingsSection(report.findings, room),
    stagesSection(report, room),
    ...(report.history?.rollouts ?? []).map((one) => rolloutSection(one, room)),
    ...movedSections(report.plans, room),
    objectsSection(report.plans, room),
    stepsSection(report, textOf, room),
    `Next: ${code(report.next, room)}`,
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

/** The same for a command that ended before it had anything to report. */
export function failureMarkdown({ command, exit, message, suggestions }: ReportFailure): string {
  const room = { rows: 20, text: 2000 };
  const next = suggestions.map((one) => `- ${cell(one, room)}`).join('\n');
  return [
    `# ${cell(command, room)}`,
    `- result: ${exit}\n- error: ${cell(message, room)}`,
    ...(next === '' ? [] : [`## Next\n\n${next}`]),
    '',
  ].join('\n\n');
}

function endingSection({ message, suggestions }: ReportFacts, room: Room): string {
  if (message === undefined) return '';
  return [`**${cell(message, room)}**`, ...suggestions.map((one) => `- ${cell(one, room)}`)].join('\n');
}

function findingsSection(findings: readonly Finding[], room: Room): string {
  if (findings.length === 0) return '';
  const shown = findings.filter((finding) => finding.outcome !== 'not-applicable');
  const rows = shown.map((one) => [
    one.outcome,
    one.id,
    one.message,
    [one.hint, one.next].filter((text) => text !== undefined).join(' — '),
  ]);
  // What needs somebody must not fall off the end.
  const ordered = Number.isFinite(room.rows) ? [...rows].sort((a, b) => Number(a[0] === 'ok') - Number(b[0] === 'ok')) : rows;
  return `## Checks\n\n${tallyLine(findings)}\n\n${markdownTable(['Outcome', 'Check', 'Fact', 'Next'], ordered, room)}`;
}

function stagesSection({ stages }: ReportFacts, room: Room): string {
  if (stages.length === 0) return '';
  const rows = stages.map(({ id, state, startedAt = '', endedAt = '', because = '' }) => {
    const took = Date.parse(endedAt) - Date.parse(startedAt);
    return [id, state, startedAt, Number.isFinite(took) ? elapsedText(Math.max(0, took)) : '', because];
  });
  return `## Stages\n\n${markdownTable(['Stage', 'State', 'Began', 'Took', 'Because'], rows, room)}`;
}

/** The slowest nodes; the whole of it is in the HTML and in the JSON report. */
function rolloutSection(trace: RolloutTrace, room: Room): string {
  const slow = [...trace.rows].sort((one, other) => doneAt(other) - doneAt(one) || (nameOf(one) < nameOf(other) ? -1 : 1)).slice(0, 10);
  const rows = slow.map((row) => {
    const last = row.marks.at(-1);
    const reason = row.marks.findLast((mark) => mark.phase === 'failed' || mark.phase === 'updating')?.why ?? '';
    return [nameOf(row), last?.phase ?? '', Number.isFinite(doneAt(row)) ? elapsedText(doneAt(row) * 1000) : '', reason];
  });
  const isNew = trace.rows.filter((row) => row.marks.at(-1)?.phase === 'new').length;
  const head = `${isNew} of ${trace.desired} new after ${elapsedText(trace.seconds * 1000)}${trace.done ? '' : ', not done'}; those that took longest:`;
  return `## Rollout of ${cell(trace.workload, room)}\n\n${head}\n\n${markdownTable(['Node', 'Ended as', 'After', 'Waited for'], rows, room)}`;
}

function objectsSection(plans: readonly PlannedStage[], room: Room): string {
  const objects = plans.flatMap((plan) => plan.objects).filter((object) => object.change !== 'unchanged');
  if (objects.length === 0) return '';
  const rows = objects.map((object) => [refText(object.ref), object.change, String(object.fields.length), object.note ?? '']);
  return `## Objects\n\n${markdownTable(['Object', 'Action', 'Fields', 'Note'], rows, room)}`;
}

/** What was run, or, where nothing was, what the plan has. */
function stepsSection({ plans, history }: ReportFacts, textOf: ActionText, room: Room): string {
  const ran = history?.actions ?? [];
  const steps =
    ran.length > 0
      ? ran.map(
          ({ stage, command = '', outcome, durationMs = 0 }) =>
            `1. ${cell(stage, room)}: ${code(command, room)} ${outcome === 'left-to-person' ? LEFT_TO_PERSON : `${cell(outcome, room)}, ${elapsedText(durationMs)}`}`,
        )
      : plans.flatMap((plan) => plan.actions.map((action) => `1. ${plan.id}: ${code(textOf(action), room)}`));
  if (steps.length === 0) return '';
  return `## Steps\n\n${[...steps.slice(0, room.rows), ...moreLine(steps.length - room.rows)].join('\n')}`;
}
