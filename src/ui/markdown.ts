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
  const table = [line(head), line(head.map(() => '---')), ...rows.slice(0, room.rows).map(line)].join('\n');
  return more.length === 0 ? table : `${table}\n\n${more.join('')}`;
}

export function moreLine(count: number): readonly string[] {
  return count > 0 ? [`and ${count} more, all in the JSON report`] : [];
}

/** Text in a table: no new cell, no new line, no markup of its own. */
export function cell(text: string, room: Room): string {
  return clip(text, room.text).replaceAll('|', '\\|').replace(/\r?\n/g, ' ').replaceAll('<', '&lt;');
}

/** Code that may have back quotes in it. */
export function code(text: string, room: Room): string {
  const line = clip(text, room.text).replace(/\r?\n/g, ' ');
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return longest > 0 ? `${fence} ${line} ${fence}` : `${fence}${line}${fence}`;
}
