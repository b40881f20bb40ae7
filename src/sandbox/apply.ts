import { isRecord } from '../kernel/json.ts';
import { apiVersionOf, type FieldsV1, type Kind, type KubeObject, type ManagedFieldsEntry } from '../kernel/object.ts';
import { isLeaf, prune, union } from '../kube/fields-v1.ts';
import { isApplyOf, KUBECTL, LAST_APPLIED, withoutManagers } from '../kube/managed-fields.ts';
import { mergeApplied } from '../manifest/apply-document.ts';
import { asObject } from '../manifest/prepare.ts';
import { claimed, differenceOf, without } from './field-sets.ts';

/** Server-side apply with force: document's fields become the manager's; dropped fields that nobody else owns are removed. */
export function appliedServerSide(kind: Kind, live: KubeObject | undefined, said: KubeObject, writer: Writer): KubeObject {
  const now = claimed(said);
  const document = withoutNulls(said) as KubeObject;
  const entry = entryOf(kind, 'Apply', now, writer);
  if (!live) return withManagers(document, [entry]);
  const entries = bookedManagers(kind, live, writer.now);
  const own = entries.find(isApplyOf(writer.manager));
  const others = entries.filter((one) => one !== own);
  const owned = others.map(({ fieldsV1 }) => fieldsV1 ?? {}).reduce(union, now);
  const pruned = prune(withoutManagers(live), own?.fieldsV1 ?? {}, owned);
  const merged = asObject(mergeApplied(pruned, withoutManagers(document), ''), live);
  const managed = withManagers(merged, [entry, ...withoutTaken(others, live, merged)]);
  // After the managers have been settled: kubectl's annotation stays with whoever owns it.
  return withLastApplied(managed, document, writer);
}

/** A field without a value is claimed, and others' content stays: `data:` of a release's empty Secret (cli notes §2). */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutNulls(field)]));
}

/** Every field that now differs, named in the document or not, loses its other owners. */
function withoutTaken(others: readonly ManagedFieldsEntry[], live: KubeObject, merged: KubeObject) {
  const { changed, removed } = differenceOf(live, merged);
  const taken = union(changed, removed);
  return others.map((entry) => ({ ...entry, fieldsV1: without(entry.fieldsV1 ?? {}, taken) }));
}

/** kubectl's annotation, where there is one, is kept up to date by the server for kubectl alone. */
function withLastApplied(object: KubeObject, document: KubeObject, { manager }: Writer): KubeObject {
  const { annotations } = object.metadata;
  if (manager !== KUBECTL || annotations?.[LAST_APPLIED] === undefined) return object;
  return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, [LAST_APPLIED]: `${JSON.stringify(document)}\n` } } };
}

/** A document as `kubectl apply` without `--server-side` sends it the first time: with itself in an annotation. */
export function clientSideDocument(document: KubeObject): KubeObject {
  const { annotations = {} } = document.metadata;
  const said = { ...document, metadata: { annotations: {}, ...document.metadata } };
  const text = `${JSON.stringify(said)}\n`;
  return { ...document, metadata: { ...document.metadata, annotations: { ...annotations, [LAST_APPLIED]: text } } };
}

export const CLIENT_SIDE = 'kubectl-client-side-apply';

interface Writer {
  readonly manager: string;
  readonly now: Date;
}

/**
 * managedFields after a create, replace or patch: the writer owns what it changed, alone. managedFields in `wanted` (as of kubectl's
 * migration) replace the live ones.
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

function entryOf(kind: Kind, operation: 'Apply' | 'Update', fieldsV1: FieldsV1, { manager, now }: Writer): ManagedFieldsEntry {
  const time = now.toISOString().replace(/\.\d+/, '');
  return { manager, operation, apiVersion: apiVersionOf(kind), time, fieldsType: 'FieldsV1', fieldsV1 };
}

/** Entries without fields go; applying managers stand first, as the server orders them. */
function withManagers(object: KubeObject, entries: readonly ManagedFieldsEntry[]): KubeObject {
  const full = entries.filter(({ fieldsV1 }) => !isLeaf(fieldsV1 ?? {}));
  const applying = full.filter(({ operation }) => operation === 'Apply');
  const managedFields = [...applying, ...full.filter(({ operation }) => operation !== 'Apply')];
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

/** Who owned the fields of an object that nobody has been booked for (server-side apply's own name for it). */
function bookedManagers(kind: Kind, live: KubeObject, now: Date): readonly ManagedFieldsEntry[] {
  const entries = (live.metadata.managedFields ?? []).filter(({ fieldsV1 }) => fieldsV1);
  return entries.length > 0 ? entries : [entryOf(kind, 'Update', claimed(live), { manager: 'before-first-apply', now })];
}
