import type { KubeObject } from '../kernel/object.ts';
import type { FieldChange, PlannedObject, TakenChange } from '../kernel/plan.ts';
import { ownersOf } from '../kube/field-paths.ts';
import { clientSideManagers, KUBECTL } from '../kube/managed-fields.ts';
import { isNoise } from './alike.ts';

/** Managers behind which nobody stands but earlier applies. */
const OWN = [KUBECTL, 'kubectl-client-side-apply', 'before-first-apply'];

/** Those of a run: its applies and patches, and what the server books at the first of them. */
const OF_THE_RUN = [KUBECTL, 'before-first-apply'];

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
    return field && counts(planned, field) ? [{ ref: planned.ref, path, mine: field.before, theirs: field.after, manager }] : [];
  });
}

/** Of a Secret both values are hidden, and so look alike. */
function counts({ ref }: PlannedObject, field: FieldChange): boolean {
  return ref.kind === 'Secret' || !isNoise(field);
}

/** A change with the moment in which its manager wrote last, and through what. */
export type LaterChange = TakenChange & { readonly time: string; readonly subresource?: string };

/**
 * Fields set since a run began that the upgrade will change; kubectl's server-side writes are the run's, client-side applies are not.
 * Entries without a time and removed fields show nothing.
 */
export function changesSince(live: KubeObject, planned: PlannedObject, since: string): readonly LaterChange[] {
  // The server writes whole seconds.
  const from = Math.floor(Date.parse(since) / 1000) * 1000;
  const later = (live.metadata.managedFields ?? []).filter(
    ({ manager = '', subresource, time = '' }) => Date.parse(time) >= from && (subresource !== undefined || !OF_THE_RUN.includes(manager)),
  );
  return planned.fields.flatMap((field) => {
    if (!counts(planned, field)) return [];
    const entry = later.find((one) => ownersOf([one], field.path).length > 0);
    if (!entry) return [];
    const { manager = '', subresource, time = '' } = entry;
    const by = { manager, time, ...(subresource ? { subresource } : {}) };
    return [{ ref: planned.ref, path: field.path, mine: field.before, theirs: field.after, ...by }];
  });
}
