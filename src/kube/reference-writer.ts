import type { ManagedFieldsEntry } from '../kernel/object.ts';

/** A field manager, as the server books its last change of an object. */
export interface FieldWriter {
  readonly manager: string;
  /** `Apply` or `Update`. */
  readonly operation?: string;
  /** RFC 3339, by the server's clock. */
  readonly time?: string;
}

/**
 * The field manager that wrote last among those that own the reference with this UID. Removing an item removes it from every manager, so an
 * owner of a once removed one has written it since. Undefined without managedFields.
 */
export function referenceWriter(managedFields: readonly ManagedFieldsEntry[] | undefined, uid: string): FieldWriter | undefined {
  // The API's list of owner references is a map by UID.
  const item = `k:${JSON.stringify({ uid })}`;
  const owners = (managedFields ?? []).filter(
    ({ manager, fieldsV1 }) => manager && fieldsV1?.['f:metadata']?.['f:ownerReferences']?.[item],
  );
  const [last] = owners.toSorted((one, other) => momentOf(other) - momentOf(one));
  if (!last?.manager) return undefined;
  const { manager, operation, time } = last;
  return { manager, ...(operation ? { operation } : {}), ...(time ? { time } : {}) };
}

/** The user or a pipeline with kubectl, or `ownerrefs restore` writing as kubectl: nothing that writes again on its own. */
export function isPerson(manager: string): boolean {
  return manager.startsWith('kubectl');
}

/** An entry without a time counts as the oldest. */
function momentOf({ time }: ManagedFieldsEntry): number {
  const moment = Date.parse(time ?? '');
  return Number.isNaN(moment) ? 0 : moment;
}

/** `kustomize-controller (Apply) at 2026-11-22T13:00:00Z` */
export function writerText({ manager, operation, time }: FieldWriter): string {
  return `${manager}${operation ? ` (${operation})` : ''}${time ? ` at ${time}` : ''}`;
}
