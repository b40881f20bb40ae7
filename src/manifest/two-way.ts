import { counted } from '../kernel/counted.ts';
import type { KubeObject, ObjectRef } from '../kernel/object.ts';
import type { FieldChange, PlannedObject, TwoWayField } from '../kernel/plan.ts';
import { ownersOf } from '../kube/field-owners.ts';
import { isNoise } from './alike.ts';

/** What a comparison of two needs of an object. */
export interface Seen {
  readonly planned: PlannedObject;
  readonly live?: KubeObject;
}

/**
 * Live against target, field by field, for want of a base: whose wish a difference is, the release's or the user's, nobody can tell, so
 * it is shown with who owns the field. Another tag of the same image is no such question, and neither is another way to write the same.
 * A definition comes from the target whole: it is one row, and its texts are none.
 */
export function twoWayFields(objects: readonly Seen[]): readonly TwoWayField[] {
  return objects.flatMap(({ planned, live }) => {
    if (!live) return [];
    const fields = planned.fields.filter((field) => field.before !== undefined && !isNoise(field));
    const rowOf = ({ path, before, after }: FieldChange): TwoWayField => {
      const owners = [...new Set(ownersOf(live.metadata.managedFields, path).map(({ manager }) => manager))];
      return { ref: planned.ref, path, live: before, ...(after === undefined ? {} : { target: after }), owners };
    };
    if (live.kind !== 'CustomResourceDefinition') return fields.map(rowOf);
    const [own, whole] = [fields.filter(isOwnField), fields.filter((field) => !isOwnField(field) && !isText(field))];
    return [...own.map(rowOf), ...(whole.length > 0 ? [wholeRow(planned.ref, whole.map(rowOf))] : [])];
  });
}

/** Users put annotations and labels on definitions; nobody edits their schema with intent. */
const isOwnField = ({ path }: FieldChange): boolean => path.startsWith('metadata.');

/** A field that is called `description` has a schema there, not a text. */
const isText = ({ path, before, after }: FieldChange): boolean =>
  /\.description$/.test(path) && [before, after].every((value) => value === undefined || typeof value === 'string');

function wholeRow(ref: ObjectRef, rows: readonly TwoWayField[]): TwoWayField {
  const live = rows.length === 1 ? '1 field differs' : `${counted(rows.length, 'field')} ${rows.length === 1 ? 'differs' : 'differ'}`;
  return { ref, path: '', live, target: 'the target’s own', owners: [...new Set(rows.flatMap(({ owners }) => owners))] };
}
