import { visible } from '../kernel/visible.ts';
import { clip } from './columns.ts';

/** How much of each list is shown, and how long a text may be: the first that fits is taken. */
export interface Room {
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

export function moreLine(count: number): readonly string[] {
  return count > 0 ? [`and ${count} more, all in the JSON report`] : [];
}

/**
 * Text in a table or a line: no new cell, no new line, no markup of its own. What somebody might make a link, a picture or a mention of is code,
 * for that is the one place where no reader of Markdown does so.
 */
export function cell(text: string, room: Room): string {
  const line = clip(visible(text).replaceAll('\n', ' '), room.text);
  const words = line.split(/( +)/).map((word) => (LINKED.test(word) ? tableCode(word) : escaped(word)));
  return words.join('').replace(BEGINS, '$1\\$2');
}

/** Addresses, and what forges make links of: mentions and numbers of issues. */
const LINKED = /:\/\/|www\.|@|#\d/i;

/** At the start of a line it would begin a heading, a list or a quotation. */
const BEGINS = /^(\d*)([#+\-=>.)])(?=[ #=-]|$)/;

const escaped = (text: string) =>
  text
    .replace(/[\\`*[\]|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\$&')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;');

/** In a table a pipe ends a cell within code as well, unless a backslash stands before it that is not itself one of two. */
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
