import type { RolloutMark, RolloutRow, RolloutTrace } from '../kernel/history.ts';

type Phase = RolloutMark['phase'];

/** One square: the nodes of its row at the end of its span of time. */
export interface HeatCell {
  /** The phase that needs the most attention: failed, then updating, then old, then new. */
  readonly phase: Phase;
  /** Part of the row's nodes that are new (or gone), 0 to 1. */
  readonly share: number;
  /** The commonest reason among those that need attention. */
  readonly why: string;
}

export interface HeatRow {
  readonly label: string;
  readonly cells: readonly HeatCell[];
}

export interface HeatMap {
  readonly rows: readonly HeatRow[];
  /** Nodes per row; the last row may have fewer. */
  readonly group: number;
  /** Seconds per column. */
  readonly span: number;
  readonly columns: number;
}

const MOST_ROWS = 60;
const MOST_COLUMNS = 72;

/** Node × time in at most 60 rows and 72 columns: nodes in the order in which they were done, this many to a row as it takes. */
export function heatMap(trace: RolloutTrace): HeatMap {
  const sorted = [...trace.rows].sort((one, other) => doneAt(one) - doneAt(other) || (nameOf(one) < nameOf(other) ? -1 : 1));
  const group = Math.max(1, Math.ceil(sorted.length / MOST_ROWS));
  const span = Math.max(1, Math.ceil((trace.seconds + 1) / MOST_COLUMNS));
  const columns = Math.ceil((trace.seconds + 1) / span);
  const groups = Array.from({ length: Math.ceil(sorted.length / group) }, (_, index) => sorted.slice(index * group, (index + 1) * group));
  const rows = groups.map((members) => ({ label: labelOf(members), cells: cellsOf(members, columns, span) }));
  return { rows, group, span, columns };
}

export function nameOf({ node, pod }: RolloutRow): string {
  const place = node === '' ? 'no node yet' : node;
  return pod === undefined ? place : `${pod} on ${place}`;
}

/** Seconds until the row was new for good (or its pod gone); Infinity if it never was. */
export function doneAt({ marks }: RolloutRow): number {
  const last = marks.at(-1);
  return last && (last.phase === 'new' || last.phase === 'gone') ? last.at : Number.POSITIVE_INFINITY;
}

/** The rows that took longest: the others went as they should. */
export function slowest(rows: readonly RolloutRow[], count: number): readonly RolloutRow[] {
  const later = (one: RolloutRow, other: RolloutRow) => doneAt(other) - doneAt(one) || (nameOf(one) < nameOf(other) ? -1 : 1);
  return rows.toSorted(later).slice(0, count);
}

/** The state of a row at a time. */
function stateAt({ marks }: RolloutRow, second: number): RolloutMark | undefined {
  return marks.findLast((mark) => mark.at <= second);
}

function labelOf(members: readonly RolloutRow[]): string {
  const [first, last] = [members[0], members.at(-1)];
  if (!first || !last) return '';
  return members.length === 1 ? nameOf(first) : `${members.length}: ${nameOf(first)} … ${nameOf(last)}`;
}

const URGENCY: readonly Phase[] = ['failed', 'updating', 'old', 'new', 'gone'];

function cellsOf(members: readonly RolloutRow[], columns: number, span: number): readonly HeatCell[] {
  return Array.from({ length: columns }, (_, column) => cellAt(members, column * span + span - 1));
}

function cellAt(members: readonly RolloutRow[], second: number): HeatCell {
  const states = members.map((row) => stateAt(row, second));
  const there = states.filter((state) => state !== undefined);
  const phase = URGENCY.find((one) => there.some((state) => state.phase === one)) ?? 'gone';
  const done = states.filter((state) => state?.phase === 'new' || state?.phase === 'gone').length;
  const urgent = there.filter((state) => state.phase === phase && state.why !== undefined && state.why !== '');
  return { phase, share: members.length === 0 ? 0 : done / members.length, why: commonest(urgent.map((state) => state.why ?? '')) };
}

function commonest(texts: readonly string[]): string {
  const counts = [...Map.groupBy(texts, (text) => text)].map(([text, all]) => ({ text, count: all.length }));
  return counts.sort((one, other) => other.count - one.count)[0]?.text ?? '';
}
