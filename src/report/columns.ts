import { stripVTControlCharacters } from 'node:util';
import { oneLine } from '../kernel/visible.ts';

/** Columns that a terminal needs for a text: colour codes take none, wide letters take two. */
export function displayWidth(text: string): number {
  if (/^[\u0020-\u007e]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of stripVTControlCharacters(text)) width += widthOf(character.codePointAt(0) ?? 0);
  return width;
}

const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1f64f],
  [0x1f900, 0x1f9ff],
  [0x20000, 0x3fffd],
];

function widthOf(code: number): number {
  if (code < 0x20 || (code >= 0x300 && code <= 0x36f) || code === 0x200d || (code >= 0xfe00 && code <= 0xfe0f)) return 0;
  return WIDE.some(([from, to]) => code >= from && code <= to) ? 2 : 1;
}

const GAP = 2;

/** kubectl's table: left-aligned, two spaces between, none trailing. A cell is one line; linear in the rows. */
export function columns(texts: readonly (readonly string[])[]): readonly string[] {
  return aligned(texts).lines;
}

/** With less room than this for the last column, its texts would have a few words a line. */
const LAST_COLUMN = 16;

/** The lines of each row; on a narrow terminal the first cell has its own line, with the others aligned below. */
export function rowsWithin(texts: readonly (readonly string[])[], width = Number.POSITIVE_INFINITY): readonly (readonly string[])[] {
  const { lines, widths } = aligned(texts);
  const last = widths.slice(0, -1).reduce((sum, one) => sum + one + GAP, 0);
  if (widths.length < 3 || last + Math.min(LAST_COLUMN, widths.at(-1) ?? 0) <= width) return lines.map((line) => [line]);
  const below = columns(texts.map((row) => row.slice(1)));
  return texts.map(([first = ''], index) => [oneLine(first), ...(below[index] ? [`    ${below[index]}`] : [])]);
}

function aligned(texts: readonly (readonly string[])[]) {
  const rows = texts.map((row) => row.map(oneLine));
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, displayWidth(cell));
  }
  const lines = rows.map((row) =>
    row
      .map((cell, index) => cell + ' '.repeat(Math.max(0, (widths[index] ?? 0) + GAP - displayWidth(cell))))
      .join('')
      .trimEnd(),
  );
  return { lines, widths };
}

/** Cuts a text to a width, with an ellipsis where something was cut. */
export function clip(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = '';
  let used = 1;
  for (const character of text) {
    used += widthOf(character.codePointAt(0) ?? 0);
    if (used > width) break;
    kept += character;
  }
  return `${kept}…`;
}
