import { counted, firstOf } from '../kernel/counted.ts';
import type { Edit, EditOutcome } from '../kernel/edit.ts';
import { isRecord } from '../kernel/json.ts';
import { type ObjectRef, refText } from '../kernel/object.ts';
import type { PlannedObject, PlannedStage, Taker } from '../kernel/plan.ts';
import { plainText, type Said } from '../kernel/step.ts';
import type { Palette } from './colour.ts';
import { clip, columns } from './columns.ts';
import { maskedTwoWay } from './mask.ts';

/** The words for what becomes of an edit (docs/reference/merge.md). */
export const OUTCOME_WORDS: Readonly<Record<EditOutcome, string>> = {
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
export function editLines(edits: readonly Edit[], wide: boolean, terminalColumns = TABLE_COLUMNS): readonly string[] {
  const shown = wide ? edits : edits.filter(({ outcome }) => outcome !== 'already');
  if (shown.length === 0) return [];
  const width = wide ? Number.POSITIVE_INFINITY : VALUE_WIDTH;
  const rows = (wide ? shown.map((edit) => [edit]) : sameEdits(shown)).map(([edit, ...others]) => [
    `${refText(edit.ref)} ${others.length > 0 ? inContainers([edit, ...others]) : edit.path}`.trim(),
    edit.decided === undefined ? OUTCOME_WORDS[edit.outcome] : `${OUTCOME_WORDS[edit.outcome]} (decided: ${edit.decided})`,
    resultText(edit, width),
    edit.source.manager ?? edit.source.kind,
    edit.note ?? '',
  ]);
  if (terminalColumns < TABLE_COLUMNS) return rows.flatMap(blockOf);
  return columns([['YOUR CHANGE', 'OUTCOME', 'RESULT', 'FROM', 'NOTE'], ...rows]);
}

/** `spec.template.spec.containers[agent].env[A]`: the container and what is edited in it. */
const IN_CONTAINER = /ontainers\[([^\]]+)\]\.(.+)$/;

type Same = readonly [first: Edit, ...others: Edit[]];

/** An edit that somebody made alike in several containers (`kubectl set env` does) is read once. */
function sameEdits(edits: readonly Edit[]): readonly Same[] {
  const groups = Map.groupBy(edits, ({ ref, path, outcome, decided, source, note, mine, theirs, result }, place) => {
    const field = IN_CONTAINER.exec(path)?.[2];
    if (field === undefined || (outcome === 'conflict' && decided === undefined)) return place;
    return JSON.stringify([refText(ref), field, outcome, decided, source, note, outcome === 'target' ? theirs : mine, result]);
  });
  return [...groups.values()].flatMap(([first, ...others]) => (first ? [[first, ...others] as const] : []));
}

function inContainers(edits: Same): string {
  const names = edits.map(({ path }) => IN_CONTAINER.exec(path)?.[1] ?? path);
  return `${IN_CONTAINER.exec(edits[0].path)?.[2] ?? ''} of containers ${names.join(', ')}`;
}

function blockOf([field = '', outcome = '', result = '', from = '', note = '']: readonly string[]): readonly string[] {
  return [`EDIT  ${field}`, `      ${outcome}: ${result}`, `      from ${from}${note === '' ? '' : `: ${note}`}`];
}

/** What the field will be; while the user has to decide, both values. */
export function resultText(edit: Edit, width: number): string {
  const { outcome, decided, mine, theirs } = edit;
  const text = (value: unknown) => (value === undefined ? 'absent' : shortValue(value, width));
  if (outcome === 'conflict' && decided === undefined) {
    const [own, released] = differingTexts(mine, theirs, width);
    return `mine: ${mine === undefined ? 'absent' : own}, theirs: ${theirs === undefined ? 'absent' : released}`;
  }
  if (edit.result !== undefined) return `${text(edit.result)} (your registry, new release)`;
  return text(outcome === 'kept' || outcome === 'left' ? mine : theirs);
}

/** `2 changes of yours kept`, for the row of an object; empty if there are none. */
export function keptNote(edits: readonly Edit[], ref: ObjectRef): string {
  const { length } = sameEdits(edits.filter((edit) => edit.outcome === 'kept' && refText(edit.ref) === refText(ref)));
  return length === 0 ? '' : `${counted(length, 'change')} of yours kept`;
}

type Row = readonly [label: string, text: string];

const LABEL = 'OWNERSHIP TAKEN';
/** Objects or fields named in one line. */
const NAMED = 3;

/**
 * One line for each overruled manager, with what it will do; with `wide` every field as well. Values in the edits above are not repeated.
 */
export function takenRows(
  objects: readonly PlannedObject[],
  edits: readonly Edit[],
  { wide, palette }: { readonly wide: boolean; readonly palette: Palette },
): readonly Row[] {
  const told = new Set(edits.map(({ ref, path }) => `${refText(ref)} ${path}`));
  const found = objects.flatMap((object) => (object.takers ?? []).flatMap((taker) => takingsOf(object, taker, told)));
  const groups = Map.groupBy(
    found.filter(({ taker, paths }) => taker.fields === 0 || paths.length > 0),
    ({ taker, gone }) => [taker.name, taker.manager, plainText(taker.hint), gone].join('|'),
  );
  const unnamed = objects.filter(({ takers }) => takers === undefined);
  return [...[...groups.values()].flatMap((group) => takerRow(group, palette)), ...fieldRows(wide ? objects : unnamed)];
}

interface Taking {
  readonly object: PlannedObject;
  readonly taker: Taker;
  /** Its fields that no edit tells. */
  readonly paths: readonly string[];
  /** True of those that the upgrade removes. */
  readonly gone: boolean;
}

function takingsOf(object: PlannedObject, taker: Taker, told: ReadonlySet<string>): readonly Taking[] {
  const paths = object.taken
    .filter((one) => one.manager === taker.manager && one.subresource === taker.subresource && !isYoursRemoved(object, one))
    .map(({ path }) => path)
    .filter((path) => !told.has(`${refText(object.ref)} ${path}`));
  const { gone = [], set = [] } = Object.groupBy(paths, (path) => (isFieldGone(object, path) ? 'gone' : 'set'));
  return [{ object, taker, paths: set, gone: false }, ...(gone.length > 0 ? [{ object, taker, paths: gone, gone: true }] : [])];
}

/** True if the upgrade removes a field: it sets nothing there. */
export function isFieldGone({ fields }: PlannedObject, path: string): boolean {
  return fields.some((field) => field.path === path && field.after === undefined);
}

/** True of a field that you set and that goes with what the new release does not have: the row of that removal counts it. */
export function isYoursRemoved(object: PlannedObject, { path, manager, subresource }: PlannedObject['taken'][number]): boolean {
  const isYours = object.takers?.some((one) => one.kind === 'person' && one.manager === manager && one.subresource === subresource);
  return isYours === true && object.hidden.includes(path) && isFieldGone(object, path);
}

/** The hint; who set a field manually is not told to keep it if it is removed. */
export function hintOf({ kind, hint }: Taker, gone: boolean): Said {
  return gone && kind === 'person' ? '' : hint;
}

function takerRow(group: readonly Taking[], { said }: Palette): readonly Row[] {
  const [first] = group;
  if (!first) return [];
  const { name, manager } = first.taker;
  const paths = group.flatMap((one) => one.paths);
  const where = firstOf(
    group.map(({ object }) => refText(object.ref)),
    NAMED,
  );
  const who = manager === undefined || manager === name ? name : `${name} (field manager "${manager}")`;
  const what =
    paths.length === 0
      ? `owns ${where}, which ${group.length === 1 ? 'changes' : 'change'}`
      : `no longer manages ${counted(paths.length, 'field')} of ${where}, which the upgrade ${first.gone ? 'removes' : 'sets'}: ${firstOf([...new Set(paths)], NAMED)}`;
  return [[LABEL, `${who} ${what}. ${said(hintOf(first.taker, first.gone))}`.trim()]];
}

function fieldRows(objects: readonly PlannedObject[]): readonly Row[] {
  return objects.flatMap((object) =>
    object.taken
      .filter((one) => !isYoursRemoved(object, one))
      .map(({ path, manager }): Row => [LABEL, `${path} of ${refText(object.ref)} from "${manager}"`]),
  );
}

const TWO_WAY_WIDTH = 40;

/** What is installed against the target where no base tells edits: the user reads it and says whether it may go. */
export function twoWayLines(stages: readonly PlannedStage[], wide: boolean, namespace?: string): readonly string[] {
  const fields = stages
    .flatMap(({ twoWay }) => twoWay ?? [])
    .filter(({ ref }) => namespace === undefined || ref.namespace === undefined || ref.namespace === namespace)
    .map(maskedTwoWay);
  if (fields.length === 0) return [];
  const shown = (value: unknown) => {
    if (value === undefined) return '(goes)';
    return wide ? wholeText(value) : clip(wholeText(value), TWO_WAY_WIDTH);
  };
  const rows = fields.map(({ ref, path, live, target, owners }) => [
    `${refText(ref)} ${path}`.trim(),
    shown(live),
    shown(target),
    owners.join(', ') || 'nobody',
  ]);
  return [
    'no base tells your changes from the release: every field that differs',
    ...columns([['FIELD', 'LIVE', 'TARGET', 'OWNER'], ...rows]),
  ];
}

/** Characters kept before and behind the part that differs. */
const AROUND = 12;

/** A value as one short line. */
export function shortValue(value: unknown, width: number): string {
  const text = wholeText(value);
  return text.length > width ? `${text.slice(0, width - 1)}…` : text;
}

/** Two values as short lines around their difference, which long texts with the same beginning would hide. */
export function differingTexts(before: unknown, after: unknown, width: number): readonly [before: string, after: string] {
  const [a, b] = [wholeText(before), wholeText(after)];
  if (a.length <= width && b.length <= width) return [a, b];
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same += 1;
  const from = Math.max(0, same - AROUND);
  const part = (text: string) => {
    const start = from === 0 ? '' : '…';
    const rest = text.slice(from);
    return rest.length + start.length > width ? `${start}${rest.slice(0, width - 1 - start.length)}…` : `${start}${rest}`;
  };
  return [part(a), part(b)];
}

function wholeText(value: unknown): string {
  const variables = [value].flat().map(variableText);
  if (variables.length > 0 && !variables.includes(undefined)) return variables.join(', ');
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).replaceAll('\n', '⏎');
}

/** An environment variable as it is typed: `NAME=value`; undefined for anything else. */
function variableText(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const { name, value: set, ...rest } = value;
  return typeof name === 'string' && typeof set === 'string' && Object.keys(rest).length === 0 ? `${name}=${set}` : undefined;
}
