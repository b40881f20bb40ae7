import type { Action } from '../kernel/action.ts';
import { counted, firstOf } from '../kernel/counted.ts';
import type { Edit } from '../kernel/edit.ts';
import type { ActionText } from '../kernel/effect-type.ts';
import { type ObjectRef, refText } from '../kernel/object.ts';
import { type PlannedObject, type PlannedStage, planSteps } from '../kernel/plan.ts';
import { NO_RETURNS } from '../kernel/undo.ts';
import type { Palette } from './colour.ts';
import { columns, rowsWithin } from './columns.ts';
import { headLine, type PlanHead } from './head-line.ts';
import { maskedEdit, maskedObject } from './mask.ts';
import { fieldLines, LEGEND } from './plan-fields.ts';
import { editLines, isYoursRemoved, keptNote, takenRows } from './plan-rows.ts';

export interface PlanView {
  readonly palette: Palette;
  /** Every field with its values, unchanged objects too. */
  readonly wide: boolean;
  readonly textOf: ActionText;
  /** Columns of the terminal; absent where the lines go elsewhere. */
  readonly columns?: number;
  /** Lists only objects of this namespace (and cluster-wide ones). */
  readonly namespace?: string;
}

/** The whole plan for the user: objects, what kubectl would not show, and every step in order. */
export function planLines(head: PlanHead, stages: readonly PlannedStage[], view: PlanView): readonly string[] {
  const objects = stages
    .flatMap((stage) => stage.objects)
    .map(maskedObject)
    .filter(({ ref }) => inNamespace(ref, view));
  const edits = stages
    .flatMap((stage) => stage.edits ?? [])
    .map(maskedEdit)
    .filter(({ ref }) => inNamespace(ref, view));
  const sections = [
    hiddenRows(objects, view, head.release),
    takenRows(objects, edits, view),
    leftRows(objects),
    noteRows(stages, view.palette),
  ].flat();
  const warn = (line: string, index: number) => (index < sections.length ? view.palette.warn(line) : view.palette.bad(line));
  return [
    headLine(head, view.palette),
    ...objectLines(objects, edits, view),
    ...editLines(edits, view.wide, view.columns),
    ...columns([...sections, ...returnRows(stages)]).map(warn),
    ...stepLines(stages, view),
  ];
}

export function inNamespace(ref: ObjectRef, { namespace }: Pick<PlanView, 'namespace'>): boolean {
  return namespace === undefined || ref.namespace === undefined || ref.namespace === namespace;
}

function objectLines(objects: readonly PlannedObject[], edits: readonly Edit[], view: PlanView): readonly string[] {
  const shown = view.wide ? objects : objects.filter((object) => object.change !== 'unchanged');
  const quiet = objects.length - shown.length;
  const rest =
    quiet > 0
      ? [view.palette.dim(`${quiet} more ${quiet === 1 ? 'object does not change' : 'objects do not change'} (listed with -o wide)`)]
      : [];
  if (shown.length === 0) return rest;
  const definitions = view.wide ? [] : shown.filter(isDefinition);
  const folded = definitions.length > FOLDED ? definitionRows(definitions) : [];
  const listed = folded.length > 0 ? shown.filter((object) => !isDefinition(object)) : shown;
  const rows = listed.map((object) => [
    refText(object.ref),
    object.change,
    object.fields.length > 0 ? String(object.fields.length) : '',
    [view.palette.said(object.note ?? ''), keptNote(edits, object.ref)].filter((note) => note !== '').join('; '),
  ]);
  const [title = [], ...body] = rowsWithin([['KIND/NAME', 'ACTION', 'FIELDS', 'NOTE'], ...folded, ...rows], view.columns);
  const fields = listed.map((object) => fieldLines(object, edits, view.wide));
  // Rows of folded definitions come first, and have no fields.
  const lines = body.flatMap((row, index) => [...row, ...(fields[index - folded.length] ?? [])]);
  return [...(fields.some(({ length }) => length > 0) ? [view.palette.dim(LEGEND)] : []), ...title, ...lines, ...rest];
}

/** More definitions than these are not listed: a release has thirty of them, and nobody reads their fields. */
const FOLDED = 3;

const isDefinition = ({ ref, change }: PlannedObject): boolean =>
  ref.kind === 'CustomResourceDefinition' && (change === 'create' || change === 'update');

/** One row for updated definitions and one for new ones: both actions in one cell would widen the column. */
function definitionRows(objects: readonly PlannedObject[]): readonly (readonly string[])[] {
  return [...Map.groupBy(objects, ({ change }) => change)].map(([change, all]) => [
    counted(all.length, 'CustomResourceDefinition'),
    change,
    '',
    'see -o wide',
  ]);
}

type Row = readonly [label: string, text: string];

function hiddenRows(objects: readonly PlannedObject[], { wide }: PlanView, release: string): readonly Row[] {
  return objects.flatMap((object) =>
    (wide ? object.hidden.map((path) => [path, [path]] as const) : byItem(object.hidden)).map(
      ([name, paths]): Row => [
        'HIDDEN BY KUBECTL DRY RUN',
        `${refText(object.ref)} ${name} will be removed${yoursText(object, paths)}: ${release} does not have it`,
      ],
    ),
  );
}

/** ` with what you have set there (env[A])`: it goes with what it belongs to. */
function yoursText(object: PlannedObject, paths: readonly string[]): string {
  const yours = object.taken.filter((one) => paths.includes(one.path) && isYoursRemoved(object, one)).map(({ path }) => path);
  const names = [...new Set(yours)].map((path) => path.slice(path.indexOf('].') + 1).replace(/^\./, ''));
  return names.length === 0 ? '' : ` with what you have set there (${firstOf(names, 3)})`;
}

/** Many fields of one list item as one: `…initContainers[mount-bpffs] (13 fields)`, each with its paths. */
function byItem(paths: readonly string[]): readonly (readonly [name: string, paths: readonly string[]])[] {
  const groups = Map.groupBy(paths, (path) => (path.includes(']') ? path.slice(0, path.indexOf(']') + 1) : path));
  return [...groups].flatMap(([item, members]): readonly (readonly [string, readonly string[]])[] =>
    members.length > 2 ? [[`${item} (${counted(members.length, 'field')})`, members]] : members.map((one) => [one, [one]]),
  );
}

function leftRows(objects: readonly PlannedObject[]): readonly Row[] {
  return objects.filter((object) => object.change === 'left-behind').map((object): Row => ['LEFT BEHIND', refText(object.ref)]);
}

function noteRows(stages: readonly PlannedStage[], { said }: Palette): readonly Row[] {
  return stages.flatMap((stage) => stage.notes.map((note): Row => ['NOTE', said(note)]));
}

function returnRows(stages: readonly PlannedStage[]): readonly Row[] {
  const { noReturn } = planSteps(stages);
  return noReturn === undefined ? [] : [['POINT OF NO RETURN', `step ${noReturn.step}: ${NO_RETURNS[noReturn.point].short}`]];
}

/** Those of the steps that are shown; each keeps its number in the whole plan. */
export function someStepLines(stages: readonly PlannedStage[], view: PlanView, isShown: (action: Action) => boolean): readonly string[] {
  let step = 0;
  const rows = stages.flatMap(({ id, actions }) =>
    actions.flatMap((action) => {
      step += 1;
      return isShown(action) ? [[String(step), id, stepText(action, view)]] : [];
    }),
  );
  return rows.length === 0 ? [] : columns([['STEP', 'STAGE', 'DOES'], ...rows]);
}

/** Every command and patch in order; a stage that has nothing to do says why. */
function stepLines(stages: readonly PlannedStage[], view: PlanView): readonly string[] {
  let step = 0;
  const rows = stages.flatMap((stage) => {
    if (stage.skip !== undefined) return [['', stage.id, `nothing to do: ${stage.skip}`]];
    const first = step + 1;
    step += stage.actions.length;
    return stage.actions.map((action, index) => [String(first + index), stage.id, stepText(action, view)]);
  });
  return rows.length === 0 ? [] : columns([['STEP', 'STAGE', 'DOES'], ...rows]);
}

function stepText(action: PlannedStage['actions'][number], view: PlanView): string {
  const { effect } = action;
  // What it waits for is in no field of it.
  if (effect.type === 'wait' && effect.until.type === 'time-passed') return action.title;
  const text = view.textOf(action);
  if (!view.wide || effect.type !== 'patch-all') return text;
  const patched = effect.patches.map(({ target }) => refText(target));
  return `${text}: ${firstOf(patched, PATCHED)}`;
}

/** A search of a large cluster finds more than anybody reads. */
const PATCHED = 100;
