import { stripVTControlCharacters } from 'node:util';
import { MARK, oneLine, unmarked } from '../kernel/visible.ts';

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

/** Cuts a text to a width, with an ellipsis where something was cut. No number is cut: half of it would be another one. */
export function clip(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = '';
  let used = 1;
  for (const character of text) {
    used += widthOf(character.codePointAt(0) ?? 0);
    if (used > width) break;
    kept += character;
  }
  return `${kept.replace(CUT_NUMBER, '')}…`;
}

/** At the end, alone or as in `120/5000`. */
const CUT_NUMBER = /(?<=\S)[ ,(]+\d+(?:\/\d*)?$/;

/** Less room than this makes a column of words unreadable: the text then continues at the left. */
const COLUMN_ROOM = 16;

/** Of what has no room in a column. */
const INDENT = 4;

/** A long path, list or field can be parted there. */
const PARTS = /(?<=[/,=:@])(?=[^/])|(?=\[)/;

/**
 * The lines of a text for a terminal, wrapped between words; continued lines start at their column. What is marked as whole, such as a
 * command, stays one line, so it can be copied: the terminal itself wraps it.
 */
export function fitted(text: string, width: number): string {
  return text
    .split('\n')
    .flatMap((line) => (displayWidth(line) <= width ? [unmarked(line)] : wrapped(line, width)))
    .join('\n');
}

function wrapped(line: string, width: number): readonly string[] {
  const words = wordsOf(line);
  const hang = hangOf(line, width, words);
  const lines: string[] = [];
  let current = '';
  const put = (piece: string, isWhole: boolean) => {
    const room = lines.length === 0 ? width : width - hang;
    const fits = displayWidth(current) + displayWidth(piece.trimEnd()) <= room;
    if (displayWidth(current.trim()) === 0 || fits || (isWhole && isLabel(current) && displayWidth(piece.trim()) > width - hang))
      current += piece;
    else {
      lines.push(current);
      current = piece.trimStart();
    }
  };
  for (const { text, isWhole } of words) {
    const isLong = !isWhole && displayWidth(text.trim()) > width - hang;
    for (const part of isLong ? partsOf(text) : [text]) put(part, isWhole);
  }
  return [...lines, current].map((one, index) => (index === 0 ? '' : ' '.repeat(hang)) + one.trimEnd());
}

/** `Next:`, `    next:`, `  look   `: what a command follows in the same row, even if it has no room there. */
function isLabel(text: string): boolean {
  return /^ *\S+(?: \S+)? *$/.test(stripVTControlCharacters(text));
}

const MARKS = new RegExp(`(${[MARK.whole, MARK.piece, MARK.end].map((mark) => mark.replace('[', '\\[')).join('|')})`);

interface Word {
  /** With the blanks before it. */
  readonly text: string;
  readonly isWhole: boolean;
}

function wordsOf(line: string): readonly Word[] {
  // What stands between dots stays together: `about 4 min`.
  const pieces = line.includes(' · ') ? / *\S.*?(?: ·(?= )|$)/g : / *[^ ]+| +$/g;
  const words: Word[] = [];
  let [begun, blanks] = ['', ''];
  for (const part of line.split(MARKS)) {
    if (part === MARK.end) begun = '';
    else if (part === MARK.whole || part === MARK.piece) begun = part;
    else if (begun !== '') {
      words.push({ text: blanks + unmarked(part), isWhole: begun === MARK.whole });
      blanks = '';
    } else {
      const [free, before] = [unmarked(part), unmarked(part).trimEnd()];
      words.push(...((blanks + before).match(pieces) ?? []).map((text) => ({ text, isWhole: false })));
      blanks = free.slice(before.length);
    }
  }
  return blanks === '' ? words : [...words, { text: blanks, isWhole: false }];
}

function partsOf(text: string): readonly string[] {
  return text.split(text.trim().includes(' ') ? /(?= )/ : PARTS);
}

/** Where the second line begins: where the line says it, else below the last column with room, else a little further right. */
function hangOf(marked: string, width: number, words: readonly Word[]): number {
  const [before = '', after] = marked.split(MARK.column);
  if (after !== undefined) return displayWidth(before);
  if (marked.includes(MARK.piece)) return 2;
  const line = stripVTControlCharacters(marked);
  const columns = [...line.matchAll(/(?<=\S) {2,}(?=\S)/g)].map((gap) => gap.index + gap[0].length);
  const longest = Math.max(
    0,
    ...words.flatMap(({ text, isWhole }) => (isWhole ? [] : partsOf(text).map((part) => displayWidth(part.trim())))),
  );
  const roomy = columns.filter((start) => start <= width - COLUMN_ROOM);
  const column = roomy.findLast((start) => start + longest <= width);
  if (column !== undefined) return column;
  if (roomy.length > 0) return INDENT + longest <= width ? INDENT : (roomy.at(-1) ?? INDENT);
  const indent = /^ *(?:[-+~] )?/.exec(line)?.[0].length ?? 0;
  return indent === 0 ? 2 : indent;
}
