import type { Outcome, Trace } from '../kernel/edit-trace.ts';
import { type ObjectRef, refText } from '../kernel/object.ts';
import { clip, columns } from './columns.ts';

/** The words for what becomes of an edit (docs/merge.md). */
export const OUTCOME_WORDS: Readonly<Record<Outcome, string>> = {
  kept: 'kept',
  already: 'already in the target',
  obsolete: 'obsolete',
  conflict: 'to be decided',
  target: 'as the target has it',
  left: 'left to its writer',
};

const VALUE_WIDTH = 40;

/** What a person changed in the installed manifest, and what becomes of it: what the target has already only with `wide`. */
export function editLines(edits: readonly Trace[], wide: boolean): readonly string[] {
  const shown = wide ? edits : edits.filter(({ outcome }) => outcome !== 'already');
  if (shown.length === 0) return [];
  const rows = shown.map((edit) => [
    `${refText(edit.ref)} ${edit.path}`.trim(),
    edit.decided === undefined ? OUTCOME_WORDS[edit.outcome] : `${OUTCOME_WORDS[edit.outcome]} (decided: ${edit.decided})`,
    valueText(edit.mine, wide),
    valueText(edit.theirs, wide),
    edit.source.manager ?? edit.source.kind,
    edit.note ?? '',
  ]);
  return columns([['EDIT', 'OUTCOME', 'INSTALLED', 'TARGET', 'FROM', 'NOTE'], ...rows]);
}

/** `2 edits of yours kept`, for the row of an object; empty if there are none. */
export function keptNote(edits: readonly Trace[], ref: ObjectRef): string {
  const count = edits.filter((edit) => edit.outcome === 'kept' && refText(edit.ref) === refText(ref)).length;
  return count === 0 ? '' : `${count} ${count === 1 ? 'edit' : 'edits'} of yours kept`;
}

function valueText(value: unknown, wide: boolean): string {
  if (value === undefined) return '-';
  const text = (typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('\n', '⏎');
  return wide ? text : clip(text, VALUE_WIDTH);
}
