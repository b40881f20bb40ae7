import type { Outcome, Trace } from '../kernel/edit-trace.ts';
import { type ObjectRef, refText } from '../kernel/object.ts';
import { columns } from './columns.ts';
import { differingTexts, valueText } from './value-text.ts';

/** The words for what becomes of an edit (docs/reference/merge.md). */
export const OUTCOME_WORDS: Readonly<Record<Outcome, string>> = {
  kept: 'kept',
  already: 'already in the target',
  obsolete: 'obsolete',
  conflict: 'to be decided',
  target: 'as the target has it',
  left: 'left to its writer',
};

const VALUE_WIDTH = 60;

/** A terminal narrower than this would break the rows of the table. */
const TABLE_COLUMNS = 120;

/**
 * What the user changed in the installed manifest, and what each field will be: what the target has already only with `wide`.
 * A table, or a block for each edit where the terminal is narrow.
 */
export function editLines(edits: readonly Trace[], wide: boolean, terminalColumns = TABLE_COLUMNS): readonly string[] {
  const shown = wide ? edits : edits.filter(({ outcome }) => outcome !== 'already');
  if (shown.length === 0) return [];
  const width = wide ? Number.POSITIVE_INFINITY : VALUE_WIDTH;
  const rows = shown.map((edit) => [
    `${refText(edit.ref)} ${edit.path}`.trim(),
    edit.decided === undefined ? OUTCOME_WORDS[edit.outcome] : `${OUTCOME_WORDS[edit.outcome]} (decided: ${edit.decided})`,
    resultText(edit, width),
    edit.source.manager ?? edit.source.kind,
    edit.note ?? '',
  ]);
  if (terminalColumns < TABLE_COLUMNS) return rows.flatMap(blockOf);
  return columns([['EDIT', 'OUTCOME', 'RESULT', 'FROM', 'NOTE'], ...rows]);
}

function blockOf([field = '', outcome = '', result = '', from = '', note = '']: readonly string[]): readonly string[] {
  return [`EDIT  ${field}`, `      ${outcome}: ${result}`, `      from ${from}${note === '' ? '' : `: ${note}`}`];
}

/** What the field will be; while the user has to decide, both values. */
export function resultText(edit: Trace, width: number): string {
  const { outcome, decided, mine, theirs } = edit;
  const text = (value: unknown) => (value === undefined ? 'absent' : valueText(value, width));
  if (outcome === 'conflict' && decided === undefined) {
    const [own, released] = differingTexts(mine, theirs, width);
    return `mine: ${mine === undefined ? 'absent' : own}, theirs: ${theirs === undefined ? 'absent' : released}`;
  }
  if (edit.result !== undefined) return `${text(edit.result)} (your registry, new release)`;
  return text(outcome === 'kept' || outcome === 'left' ? mine : theirs);
}

/** `2 edits of yours kept`, for the row of an object; empty if there are none. */
export function keptNote(edits: readonly Trace[], ref: ObjectRef): string {
  const count = edits.filter((edit) => edit.outcome === 'kept' && refText(edit.ref) === refText(ref)).length;
  return count === 0 ? '' : `${count} ${count === 1 ? 'edit' : 'edits'} of yours kept`;
}
