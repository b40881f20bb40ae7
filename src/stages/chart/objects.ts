import { type KubeObject, objectKey, refOf, refText } from '../../core/object.ts';
import type { PlannedObject } from '../../core/plan.ts';
import { changedFields } from '../../merge/fields.ts';
import { comparable } from '../../merge/normalise.ts';
import { maskChanges } from '../../merge/secrets.ts';
import { withRestarts } from '../preview/restarts.ts';

/** What the new revision differs in from the old one, object by object: by this difference the chart tool acts. */
export interface ChartDifference {
  readonly objects: readonly PlannedObject[];
  /** Objects that the chart tool deletes: the old revision has them and the new one does not. */
  readonly removed: readonly string[];
}

export function chartDifference(before: readonly KubeObject[], after: readonly KubeObject[]): ChartDifference {
  const old = new Map(before.map((one) => [objectKey(one), one]));
  const removed = removedObjects(before, after).map((one) => refText(refOf(one)));
  return { objects: after.map((one) => planned(old.get(objectKey(one)), one)), removed };
}

/** Objects of the old revision that the new one does not have, but for those that are marked to stay. */
export function removedObjects(before: readonly KubeObject[], after: readonly KubeObject[]): readonly KubeObject[] {
  const kept = new Set(after.map(objectKey));
  return before.filter((one) => !kept.has(objectKey(one)) && !marked(one));
}

function marked({ metadata }: KubeObject): boolean {
  return metadata.annotations?.['helm.sh/resource-policy'] === 'keep';
}

function planned(before: KubeObject | undefined, after: KubeObject): PlannedObject {
  const none = { ref: refOf(after), hidden: [], taken: [] };
  if (!before) return { ...none, change: 'create', fields: [] };
  const fields = changedFields(comparable(before), comparable(after));
  const change = fields.length > 0 ? 'update' : 'unchanged';
  return withRestarts({ ...none, change, fields: maskChanges(after, fields) }, before, after);
}
