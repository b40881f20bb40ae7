import type { KubeObject } from '../core/object.ts';
import type { FieldChange, PlannedObject, TakenChange } from '../core/plan.ts';
import { ownersOf } from './field-owners.ts';
import { clientSideManagers, KUBECTL } from './managed-fields.ts';
import { isNoise } from './noise.ts';

/** Managers behind which nobody stands but earlier applies. */
const OWN = [KUBECTL, 'kubectl-client-side-apply', 'before-first-apply'];

/** Changes of fields that another manager owns now, each with that manager: the apply takes them by force. */
export function takenFields(live: KubeObject, changes: readonly FieldChange[]): PlannedObject['taken'] {
  const { managedFields } = live.metadata;
  const own = new Set([...OWN, ...clientSideManagers(managedFields)]);
  return changes.flatMap(({ path }) => {
    const others = ownersOf(managedFields, path).filter(({ manager, subresource }) => subresource !== undefined || !own.has(manager));
    const unique = new Map(others.map((owner) => [`${owner.manager} ${owner.subresource ?? ''}`, owner]));
    return [...unique.values()].map(({ manager, subresource }) => ({ path, manager, ...(subresource ? { subresource } : {}) }));
  });
}

/** Fields of other managers that the upgrade will change, with both values. */
export function takenChanges(planned: PlannedObject): readonly TakenChange[] {
  const values = new Map(planned.fields.map((field) => [field.path, field]));
  return planned.taken.flatMap(({ path, manager }) => {
    const field = values.get(path);
    if (!field || isNoise(field)) return [];
    return [{ ref: planned.ref, path, mine: field.before, theirs: field.after, manager }];
  });
}
