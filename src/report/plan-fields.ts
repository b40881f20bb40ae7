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
  /** It removes something, or takes something from the user or from another manager. */
  readonly isLoss: boolean;
}

/** The fields of an object as lines: with `wide` all; else those of workloads, the first ones and every loss. */
export function fieldLines(object: PlannedObject, edits: readonly Edit[], wide: boolean): readonly string[] {
  if (!wide && !WORKLOADS.has(object.ref.kind)) return [];
  const lines = object.fields.map((field) => fieldLine(field, object, edits, wide));
  const shown = wide ? lines : firstLines(lines);
  const rest = lines.length - shown.length;
  return [...shown.map(({ text }) => `    ${text}`), ...(rest > 0 ? [`    … and ${counted(rest, 'more field')} (see -o wide)`] : [])];
}

/** In their order: each loss, and of the others as many as there is room for. */
function firstLines(lines: readonly FieldLine[]): readonly FieldLine[] {
  let room = LINES - lines.filter(({ isLoss }) => isLoss).length;
  return lines.filter(({ isLoss }) => {
    if (!isLoss) room -= 1;
    return isLoss || room >= 0;
  });
}

function fieldLine(field: FieldChange, object: PlannedObject, edits: readonly Edit[], wide: boolean): FieldLine {
  const managers = new Set(object.taken.filter(({ path }) => isWithin(path, field)).map(({ manager }) => `"${manager}"`));
  const lost = edits.some((edit) => isWithin(edit.path, field) && refText(edit.ref) === refText(object.ref) && isLost(edit));
  const notes = [...(lost ? ['your change is lost'] : []), ...(managers.size > 0 ? [`taken from ${[...managers].join(', ')}`] : [])];
  return {
    text: `${changeText(wide ? field : { ...field, path: field.path.replace(OF_PODS, '') })}${notes.length === 0 ? '' : `   (${notes.join('; ')})`}`,
    isLoss: field.after === undefined || notes.length > 0,
  };
}

/** A change is told at the place where it begins: what is below it changes too. */
function isWithin(path: string, { path: changed }: FieldChange): boolean {
  return path === changed || path.startsWith(`${changed}.`) || path.startsWith(`${changed}[`);
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
