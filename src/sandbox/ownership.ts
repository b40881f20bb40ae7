import { apiVersionOf, type FieldsV1, type Kind, type KubeObject, type ManagedFieldsEntry } from '../kernel/object.ts';
import { union } from '../kube/fields-v1.ts';
import { claimed, differenceOf, isLeaf, without } from './field-sets.ts';

export interface Writer {
  readonly manager: string;
  readonly now: Date;
}

/**
 * managedFields after a create, replace or patch: the writer owns what it changed, and nobody else does any more.
 * `wanted` may have managedFields of its own (kubectl's migration does): these count instead of the live ones.
 */
export function ownedByUpdate(kind: Kind, before: KubeObject | undefined, wanted: KubeObject, writer: Writer): KubeObject {
  const { changed, removed } = differenceOf(before, wanted);
  const entries = wanted.metadata.managedFields ?? before?.metadata.managedFields ?? [];
  const isOwn = (entry: ManagedFieldsEntry) => entry.manager === writer.manager && entry.operation === 'Update' && !entry.subresource;
  const own = entries.find(isOwn);
  const others = entries.filter((entry) => entry !== own && entry.fieldsV1);
  const mine = union(without(own?.fieldsV1 ?? {}, removed), changed);
  const gone = union(changed, removed);
  const kept = others.map((entry) => ({ ...entry, fieldsV1: without(entry.fieldsV1 ?? {}, gone) }));
  const entry = entryOf(kind, 'Update', mine, writer);
  return withManagers(wanted, [...kept, entry]);
}

export function entryOf(kind: Kind, operation: 'Apply' | 'Update', fieldsV1: FieldsV1, { manager, now }: Writer): ManagedFieldsEntry {
  const time = now.toISOString().replace(/\.\d+/, '');
  return { manager, operation, apiVersion: apiVersionOf(kind), time, fieldsType: 'FieldsV1', fieldsV1 };
}

/** Entries without fields go; applying managers stand first, as the server orders them. */
export function withManagers(object: KubeObject, entries: readonly ManagedFieldsEntry[]): KubeObject {
  const full = entries.filter(({ fieldsV1 }) => !isLeaf(fieldsV1 ?? {}));
  const applying = full.filter(({ operation }) => operation === 'Apply');
  const managedFields = [...applying, ...full.filter(({ operation }) => operation !== 'Apply')];
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

/** Who owned the fields of an object that nobody has been booked for (server-side apply's own name for it). */
export function bookedManagers(kind: Kind, live: KubeObject, now: Date): readonly ManagedFieldsEntry[] {
  const entries = (live.metadata.managedFields ?? []).filter(({ fieldsV1 }) => fieldsV1);
  return entries.length > 0 ? entries : [entryOf(kind, 'Update', claimed(live), { manager: 'before-first-apply', now })];
}
