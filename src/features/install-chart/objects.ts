import { type KubeObject, type ObjectRef, objectKey, refOf, refText } from '../../kernel/object.ts';
import type { PlannedObject } from '../../kernel/plan.ts';
import { changedFields, maskChanges } from '../../manifest/definition-differences.ts';
import { comparable } from '../../manifest/prepare.ts';
import { withRestarts } from '../install-manifest/index.ts';
import type { FieldConflict } from './chart-facts.ts';

/** What the new revision differs in from the old one and from what others made of it in the cluster, object by object. */
export interface ChartDifference {
  readonly objects: readonly PlannedObject[];
  /** Objects that the chart tool deletes: the old revision has them and the new one does not. */
  readonly removed: readonly string[];
}

export function chartDifference(
  before: readonly KubeObject[],
  after: readonly KubeObject[],
  conflicts: readonly FieldConflict[],
): ChartDifference {
  const old = new Map(before.map((one) => [objectKey(one), one]));
  const removed = removedObjects(before, after).map((one) => refText(refOf(one)));
  const of = (one: KubeObject) => conflicts.filter(({ ref }) => isOf(ref, one));
  return { objects: after.map((one) => planned(old.get(objectKey(one)), one, of(one))), removed };
}

/** Objects of the old revision that the new one does not have, but for those that are marked to stay. */
export function removedObjects(before: readonly KubeObject[], after: readonly KubeObject[]): readonly KubeObject[] {
  const kept = new Set(after.map(objectKey));
  return before.filter((one) => !kept.has(objectKey(one)) && !marked(one));
}

function marked({ metadata }: KubeObject): boolean {
  return metadata.annotations?.['helm.sh/resource-policy'] === 'keep';
}

/** A chart may leave the namespace out, and means the release's. */
function isOf(ref: ObjectRef, { apiVersion, kind, metadata }: KubeObject): boolean {
  const { name, namespace = ref.namespace } = metadata;
  return ref.apiVersion === apiVersion && ref.kind === kind && ref.name === name && ref.namespace === namespace;
}

function planned(before: KubeObject | undefined, after: KubeObject, conflicts: readonly FieldConflict[]): PlannedObject {
  const taken = conflicts.flatMap(({ change: { path }, manager }) => (manager === undefined ? [] : [{ path, manager }]));
  const none = { ref: refOf(after), hidden: [], taken };
  if (!before || conflicts.some(({ change }) => change.path === '')) return { ...none, change: 'create', fields: [], bodies: { after } };
  const own = changedFields(comparable(before), comparable(after));
  // If somebody else has changed the field as well, it changes from the live value.
  const fields = [...new Map([...own, ...conflicts.map(({ change }) => change)].map((change) => [change.path, change])).values()];
  const change = fields.length > 0 ? 'update' : 'unchanged';
  const bodies = { before, after, isOfRelease: true } as const;
  return withRestarts({ ...none, change, fields: maskChanges(after, fields), bodies }, before, after);
}
