import type { KubeObject } from '../core/object.ts';
import type { PlannedObject, TwoWayField } from '../core/plan.ts';
import { ownersOf } from './field-owners.ts';
import { isNoise } from './noise.ts';

/** What a comparison of two needs of an object. */
export interface Seen {
  readonly planned: PlannedObject;
  readonly live?: KubeObject;
}

/**
 * Live against target, field by field, for want of a base: whose wish a difference is, the release's or a person's, nobody can tell, so
 * it is shown with who owns the field. Another tag of the same image is no such question, and neither is another way to write the same.
 */
export function twoWayFields(objects: readonly Seen[]): readonly TwoWayField[] {
  return objects.flatMap(({ planned, live }) => {
    if (!live) return [];
    return planned.fields
      .filter((field) => field.before !== undefined && !isNoise(field))
      .map(({ path, before, after }): TwoWayField => {
        const owners = [...new Set(ownersOf(live.metadata.managedFields, path).map(({ manager }) => manager))];
        return { ref: planned.ref, path, live: before, ...(after === undefined ? {} : { target: after }), owners };
      });
  });
}
