import Table from 'cli-table3';
import type { StageRecord } from '../kernel/run-record.ts';
import { oneLine, visible } from '../kernel/visible.ts';

/** Above this many rows cli-table3 gets slow out of proportion; `columns` takes over there. */
export const SUMMARY_LIMIT = 200;

const BORDERS = ['top', 'bottom', 'left', 'mid', 'right'].flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`]);
const NO_BORDERS = { ...Object.fromEntries(BORDERS.map((border) => [border, ''])), middle: '  ' };

/** A small summary; but for the first, cells may hold several lines, which stay in their column. Without borders and without colour. */
export function summaryTable(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  if (rows.length > SUMMARY_LIMIT) throw new RangeError(`a summary has at most ${SUMMARY_LIMIT} rows, not ${rows.length}`);
  const table = new Table({ head: [...head], chars: NO_BORDERS, style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 } });
  table.push(...rows.map((row) => row.map((text, column) => (column === 0 ? oneLine(text) : visible(text)))));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
}

/** The state of a stage for a table: one with nothing to do was not skipped by anybody, and one with manual steps left is not done. */
export function stateText({ state, undo, manual = 0 }: Pick<StageRecord, 'state' | 'undo' | 'manual'>): string {
  if (state === 'skipped') return 'not needed';
  if (state === 'done' && manual > 0) return 'manual';
  return undo && state === 'done' ? 'undone' : state;
}
