import { counted } from '../kernel/counted.ts';
import type { Edit } from '../kernel/edit.ts';
import { refText } from '../kernel/object.ts';
import type { FieldChange, PlannedObject } from '../kernel/plan.ts';
import { differingTexts, shortValue } from './plan-rows.ts';

/** What the signs before a field mean. */
export const LEGEND = 'fields: + added   ~ changed   - removed';

/** Lines of one object where not every field is asked for; what the user has to see may need more. */
const LINES = 20;
const VALUE_WIDTH = 60;

const WORKLOADS: ReadonlySet<string> = new Set(['DaemonSet', 'Deployment', 'StatefulSet']);

/** Where almost every field of a workload is, so that it says nothing. */
const OF_PODS = /^spec\.template\.spec\.(?=.)/;

interface FieldLine {
  readonly text: string;
  /** It removes something, takes something from the user or from another manager, or is an image: never left out. */
  readonly isKept: boolean;
}

/** The fields of an object as lines: with `wide` all; else those of workloads, the first ones and every loss. */
export function fieldLines(object: PlannedObject, edits: readonly Edit[], wide: boolean): readonly string[] {
  if (!wide && !WORKLOADS.has(object.ref.kind)) return [];
  const managers = managersByChange(object);
  const own = edits.filter(({ ref }) => refText(ref) === refText(object.ref));
  const lines = object.fields.map((field) => fieldLine(field, { managers: [...(managers.get(field.path) ?? [])], edits: own }, wide));
  const shown = wide ? lines : firstLines(lines);
  const rest = lines.length - shown.length;
  return [...shown.map(({ text }) => `    ${text}`), ...(rest > 0 ? [`    … and ${counted(rest, 'more field')} (see -o wide)`] : [])];
}

/** In their order: what is never left out, and of the others as many as there is room for. */
function firstLines(lines: readonly FieldLine[]): readonly FieldLine[] {
  let room = LINES - lines.filter(({ isKept }) => isKept).length;
  return lines.filter(({ isKept }) => {
    if (!isKept) room -= 1;
    return isKept || room >= 0;
  });
}

/** A change is told at the place where it begins: what is below it changes too. By its path, from whom something is taken there. */
function managersByChange({ fields, taken }: PlannedObject): ReadonlyMap<string, ReadonlySet<string>> {
  const changes = new Map(fields.map(({ path }) => [path, new Set<string>()]));
  for (const { path, manager } of taken) for (const place of placesTo(path)) changes.get(place)?.add(`"${manager}"`);
  return changes;
}

/** `a.b[c]`, `a.b` and `a` of `a.b[c]`. */
function placesTo(path: string): readonly string[] {
  return [...path.matchAll(/[.[]|$/g)].map(({ index }) => path.slice(0, index));
}

/** What others say of a field: those it is taken from, and the user's edits of its object. */
interface Others {
  readonly managers: readonly string[];
  readonly edits: readonly Edit[];
}

function fieldLine(field: FieldChange, { managers, edits }: Others, wide: boolean): FieldLine {
  const lost = edits.some((edit) => isLost(edit) && placesTo(edit.path).includes(field.path));
  const notes = [...(lost ? ['your change is lost'] : []), ...(managers.length > 0 ? [`taken from ${managers.join(', ')}`] : [])];
  return {
    text: `${changeText(wide ? field : { ...field, path: field.path.replace(OF_PODS, '') })}${notes.length === 0 ? '' : `   (${notes.join('; ')})`}`,
    isKept: field.after === undefined || notes.length > 0 || /\.image$/.test(field.path),
  };
}

/** The field gets another value than the user's. */
function isLost({ outcome, decided }: Edit): boolean {
  return outcome === 'target' || outcome === 'obsolete' || (outcome === 'conflict' && decided !== 'mine');
}

function changeText({ path, before, after }: FieldChange): string {
  if (before === undefined) return `+ ${path}: ${shortValue(after, VALUE_WIDTH)}`;
  if (after === undefined) return `- ${path}: ${shortValue(before, VALUE_WIDTH)}`;
  return `~ ${path}: ${differingTexts(before, after, VALUE_WIDTH).join(' → ')}`;
}
