import { elapsedText } from '../kernel/counted.ts';
import type { ActionText } from '../kernel/effect-type.ts';
import type { RolloutTrace } from '../kernel/history.ts';
import { visible } from '../kernel/visible.ts';
import { clip } from './columns.ts';
import { doneAt, nameOf, slowest } from './heat-map.ts';
import type { Cell, ReportFacts, Table, TableSection } from './model.ts';
import { sectionsOf } from './report-sections.ts';

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
  const parts = [
    `# ${cell(report.title, room)}`,
    report.facts.map(([name, value]) => `- ${name}: ${cell(value, room)}`).join('\n'),
    endingPart(report, room),
    ...sectionsOf(report, textOf).flatMap((section) =>
      section.kind === 'rollouts'
        ? [`## ${section.title}`, ...section.rollouts.map((one) => rolloutPart(one, room))]
        : [tablePart(section, room)],
    ),
    `Next: ${code(report.next, room)}`,
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function endingPart({ message, suggestions }: ReportFacts, room: Room): string {
  if (message === undefined) return '';
  return [`**${cell(message, room)}**`, ...suggestions.map((one) => `- ${cell(one, room)}`)].join('\n');
}

/** What needs no action is left out; what passed comes last, so that cutting loses it first. */
function tablePart({ title, lead, items = [], table, notes }: TableSection, room: Room): string {
  const parts = [
    `## ${title}`,
    lead ?? '',
    listPart(items, room),
    table === undefined ? '' : rowsPart(table, room),
    notes === undefined ? '' : `### ${notes.title}\n\n${listPart(notes.items, room)}`,
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function rowsPart({ head, rows, drawn, minor }: Table, room: Room): string {
  const columns = head.map((_, column) => column).filter((column) => column !== drawn);
  const shown = rows.filter(({ isMinor, isMoot }) => !isMinor || (minor?.only === undefined && !isMoot));
  if (shown.length === 0) return '';
  const lines = shown.map(({ cells }) => columns.map((column) => cellText(cells[column] ?? {})));
  return markdownTable(
    columns.map((column) => head[column] ?? ''),
    lines,
    room,
  );
}

function cellText({ text = '', code: value, small, output, fold }: Cell): string {
  const below = small === undefined ? '' : ` (${small})`;
  const main = [`${text}${below}`, value, output, fold?.items.some((one) => one.code) ? fold.title : undefined];
  return main.filter((one) => one !== undefined && one !== '').join(' — ');
}

function listPart(items: readonly string[], room: Room): string {
  return [...items.slice(0, room.rows).map((one) => `- ${cell(one, room)}`), ...moreLine(items.length - room.rows)].join('\n');
}

/** The slowest nodes; the whole of it is in the HTML and in the JSON report. */
function rolloutPart(trace: RolloutTrace, room: Room): string {
  const rows = slowest(trace.rows, 10).map((row) => {
    const last = row.marks.at(-1);
    const reason = row.marks.findLast((mark) => mark.phase === 'failed' || mark.phase === 'updating')?.why ?? '';
    return [nameOf(row), last?.phase ?? '', Number.isFinite(doneAt(row)) ? elapsedText(doneAt(row) * 1000) : '', reason];
  });
  const isNew = trace.rows.filter((row) => row.marks.at(-1)?.phase === 'new').length;
  const head = `${isNew} of ${trace.desired} new after ${elapsedText(trace.seconds * 1000)}${trace.done ? '' : ', not done'}; those that took longest:`;
  return `### Rollout of ${cell(trace.workload, room)}\n\n${head}\n\n${markdownTable(['Node', 'Ended as', 'After', 'Waited for'], rows, room)}`;
}

/** How much of each list is shown, and how long a text may be: the first that fits is taken. */
interface Room {
  readonly rows: number;
  readonly text: number;
}

/** A table whose further rows are only counted. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[], room: Room): string {
  const line = (cells: readonly string[]) => `| ${cells.map((text) => cell(text, room)).join(' | ')} |`;
  const more = moreLine(rows.length - room.rows);
  const table = [line(head), `| ${head.map(() => '---').join(' | ')} |`, ...rows.slice(0, room.rows).map(line)].join('\n');
  return more.length === 0 ? table : `${table}\n\n${more.join('')}`;
}

function moreLine(count: number): readonly string[] {
  return count > 0 ? [`and ${count} more, all in the JSON report`] : [];
}

/**
 * Text in a table or a line, without new cells, lines or markup. What could become a link, a picture or a mention is code, where no reader
 * of Markdown does that.
 */
export function cell(text: string, room: Room): string {
  const line = clip(visible(text).replaceAll('\n', ' '), room.text);
  return line.split(/( +)/).map(wordText).join('').replace(BEGINS, '$1\\$2');
}

/** The signs of the sentence stay outside of its code. */
function wordText(word: string): string {
  const [, before = '', inner = '', after = ''] = AROUND.exec(word) ?? [];
  if (LINKED.test(inner)) return `${escaped(before)}${tableCode(inner)}${escaped(after)}`;
  return LINKED.test(word) ? tableCode(word) : escaped(word);
}

const AROUND = /^(["'(]*)(.*?)([,.;:!?"')]*)$/;

/** Addresses, and what forges make links of: mentions and numbers of issues. */
const LINKED = /:\/\/|www\.|@|#\d/i;

/** At the start of a line it would begin a heading, a list or a quotation. */
const BEGINS = /^(\d*)([#+\-=>.)])(?=[ #=-]|$)/;

const escaped = (text: string) =>
  text
    .replace(/[\\`*[\]|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\$&')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;');

/** In a table a pipe ends a cell even within code, unless an unescaped backslash precedes it. */
const tableCode = (text: string) => fenced(text).replace(/(\\*)\|/g, '$1$1\\|');

/** Code that may have back quotes in it; not for tables. */
export function code(text: string, room: Room): string {
  return fenced(clip(visible(text).replaceAll('\n', ' '), room.text));
}

function fenced(line: string): string {
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return longest > 0 ? `${fence} ${line} ${fence}` : `${fence}${line}${fence}`;
}
