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
 * Who put an owner reference where it is: of the field managers that own the item with this UID the one that wrote last. Whoever takes an
 * item off takes it from every manager, so what owns one that was off has written it since. Undefined where the server keeps no such book.
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

/** The user or a pipeline at kubectl, or what `ownerrefs restore` writes as kubectl: nothing that writes again by itself. */
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
