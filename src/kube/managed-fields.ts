import { isRecord, jsonAt, mapAt, parsedJson, sameValue, textAt } from '../kernel/json.ts';
import { type FieldsV1, groupOf, type KubeObject, type ManagedFieldsEntry, type ObjectMeta } from '../kernel/object.ts';
import { cut, hasPath, prune, setAt, union } from './fields-v1.ts';

/** What client-side `kubectl apply` wrote last: applying the same manifest again writes it once more. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** UIDs of the owners that the object's manifest names, as kubectl noted it; empty if it names none, or cannot be read. */
export function appliedOwnerUids({ annotations }: Pick<ObjectMeta, 'annotations'>): readonly string[] {
  const text = annotations?.[LAST_APPLIED];
  if (!text?.includes('"ownerReferences"')) return [];
  const references = jsonAt(parsedJson(text), 'metadata', 'ownerReferences');
  return Array.isArray(references) ? references.flatMap((one) => textAt(one, 'uid') ?? []) : [];
}

/** Names of labels or annotations that kubectl noted as applied: the next file without one removes it. */
export function appliedNames({ annotations }: Pick<ObjectMeta, 'annotations'>, what: 'labels' | 'annotations'): readonly string[] {
  return Object.keys(mapAt(parsedJson(annotations?.[LAST_APPLIED] ?? ''), 'metadata', what));
}

type Entries = readonly ManagedFieldsEntry[];

/** The field manager of kubectl's server-side apply. */
export const KUBECTL = 'kubectl';

/** Field manager of what this program creates by itself: its lock, its records, policies under the names of an older release. */
export const OWN_MANAGER = 'netsvc-upgrade';

const LAST_APPLIED_PATH = ['f:metadata', 'f:annotations', `f:${LAST_APPLIED}`];
const LAST_APPLIED_SET: FieldsV1 = { 'f:metadata': { 'f:annotations': { [`f:${LAST_APPLIED}`]: {} } } };

/** The element itself, with nothing below it. */
const MEMBER: FieldsV1 = { '.': {} };

/** Groups whose kinds the server knows by itself: there every field below a field belongs to a struct. */
const BUILT_IN =
  /^(|apps|batch|autoscaling|policy|extensions|(apiextensions|apiregistration|rbac\.authorization|networking|storage|scheduling|admissionregistration|coordination|discovery|node|certificates|events|flowcontrol\.apiserver)\.k8s\.io)$/;

/** Managers that applied the object client-side: whose Update entry owns the last-applied annotation. */
export function clientSideManagers(managedFields: Entries | undefined): readonly string[] {
  const owners = (managedFields ?? []).filter((entry) => entry.operation === 'Update' && hasPath(entry.fieldsV1 ?? {}, LAST_APPLIED_PATH));
  return [...new Set(owners.map(({ manager }) => manager ?? ''))];
}

export interface PredictedApply {
  /** What the apply leaves behind; only if `migrates` it differs from the dry run's answer, and then defaults are still to be set by the server. */
  readonly object: KubeObject;
  /** kubectl will take over the fields of a client-side apply; what the document no longer has is removed. */
  readonly migrates: boolean;
  /** The takeover removes something that the dry run's answer still has; else the object is stored as answered. */
  readonly removes: boolean;
  /** False if the server's own rule cannot be known here: another apiVersion, or a custom resource that loses fields. */
  readonly exact: boolean;
}

/**
 * What `kubectl apply --server-side --force-conflicts` makes of an object, from the answer `r1` to one dry-run apply. The dry run alone
 * does not show what kubectl removes when it takes over client-side applied fields.
 */
export function predictApply(r1: KubeObject, document: KubeObject, fieldManager = KUBECTL): PredictedApply {
  const entries = r1.metadata.managedFields ?? [];
  const names = clientSideManagers(entries);
  const migrated = migrate(entries, names, fieldManager);
  const target = migrated.find(isApplyOf(fieldManager));
  if (names.length === 0 || !target) return { object: r1, migrates: false, removes: false, exact: true };
  const now = entries.find(isApplyOf(fieldManager))?.fieldsV1 ?? {};
  const others = migrated.filter((entry) => entry !== target).map(({ fieldsV1 }) => fieldsV1 ?? {});
  const keepsLastApplied = fieldManager === KUBECTL && r1.metadata.annotations?.[LAST_APPLIED] !== undefined;
  const owned = [now, ...others, ...(keepsLastApplied ? [LAST_APPLIED_SET] : [])].reduce(union, {});
  const object = withIdentity(prune(withoutManagers(r1), target.fieldsV1 ?? {}, owned), r1, document);
  const removes = !sameValue(object, withoutManagers(r1));
  const known = BUILT_IN.test(groupOf(r1.apiVersion)) || !removes;
  return { object, migrates: true, removes, exact: known && target.apiVersion === document.apiVersion };
}

/** managedFields after kubectl's migration to server-side apply, made before its first write. Undefined if none is needed. */
export function adoptedOwnership(live: KubeObject, fieldManager = KUBECTL): Entries | undefined {
  const entries = live.metadata.managedFields ?? [];
  const names = clientSideManagers(entries);
  return names.length === 0 ? undefined : migrate(entries, names, fieldManager);
}

/** managedFields in which `fieldManager` alone owns these paths: its next apply removes them. Undefined if that is so already. */
export function ownedAlone(
  { apiVersion, metadata: { managedFields = [] } }: Pick<KubeObject, 'apiVersion' | 'metadata'>,
  paths: readonly (readonly string[])[],
  fieldManager = KUBECTL,
): Entries | undefined {
  const isOwn = isApplyOf(fieldManager);
  const own = managedFields.find(isOwn) ?? { manager: fieldManager, operation: 'Apply', apiVersion, fieldsType: 'FieldsV1' };
  const others = managedFields.filter((entry) => !isOwn(entry));
  const taken = paths.map((path) => setAt(path, others.map(({ fieldsV1 = {} }) => cut(fieldsV1, path).there ?? {}).reduce(union, MEMBER)));
  const fieldsV1 = [own.fieldsV1 ?? {}, ...taken].reduce(union);
  const left = others.map((entry) => {
    const rest = paths.reduce((set, path) => cut(set, path).rest, entry.fieldsV1 ?? {});
    return { ...entry, ...(entry.fieldsV1 ? { fieldsV1: rest } : {}) };
  });
  const isSame = sameValue([left, fieldsV1], [others, own.fieldsV1]);
  return paths.length === 0 || isSame ? undefined : [{ ...own, fieldsV1 }, ...left];
}

/** One manager's entry for whole objects. */
export type Owner = Required<Pick<ManagedFieldsEntry, 'manager' | 'operation'>>;

/** Who owns this very path. */
export function ownersAt({ metadata: { managedFields = [] } }: KubeObject, path: readonly string[]): readonly Owner[] {
  return managedFields.flatMap(({ manager = '', operation = '', subresource, fieldsV1 = {} }) =>
    !subresource && hasPath(fieldsV1, elementsOf(path)) ? [{ manager, operation }] : [],
  );
}

/**
 * managedFields without a manager's Update entries; what they have at or below a path goes to these owners, where they have an entry.
 * Undefined if it has none, or is alone.
 */
export function handedBack(
  { metadata: { managedFields = [] } }: KubeObject,
  from: string,
  path: readonly string[],
  to: readonly Owner[],
): Entries | undefined {
  const isFrom = ({ manager, operation, subresource }: ManagedFieldsEntry) => manager === from && operation === 'Update' && !subresource;
  const own = managedFields.filter(isFrom);
  const others = managedFields.filter((entry) => !isFrom(entry));
  if (own.length === 0 || others.length === 0) return undefined;
  const elements = elementsOf(path);
  const theirs = setAt(elements, own.map(({ fieldsV1 = {} }) => cut(fieldsV1, elements).there ?? {}).reduce(union, {}));
  const isTo = ({ manager, operation, subresource }: ManagedFieldsEntry) =>
    !subresource && to.some((one) => one.manager === manager && one.operation === operation);
  return others.map((entry) => (isTo(entry) ? { ...entry, fieldsV1: union(entry.fieldsV1 ?? {}, theirs) } : entry));
}

const elementsOf = (path: readonly string[]): readonly string[] => path.map((name) => `f:${name}`);

/** Each client-side manager's fields go to the Apply entry of `fieldManager`; as kubectl does it, other API versions are lost. */
function migrate(entries: Entries, names: readonly string[], fieldManager: string): Entries {
  return names.reduce((list, name) => migrateOne(list, name, fieldManager), entries);
}

function migrateOne(entries: Entries, name: string, fieldManager: string): Entries {
  const isOld = (entry: ManagedFieldsEntry) => entry.manager === name && entry.operation === 'Update' && !entry.subresource;
  const target = entries.find(isApplyOf(fieldManager)) ?? entries.find(isOld);
  if (!target) return entries;
  const source = entries.find((entry) => isOld(entry) && entry.apiVersion === target.apiVersion);
  const fieldsV1 = union(target.fieldsV1 ?? {}, source?.fieldsV1 ?? {});
  const joined: ManagedFieldsEntry = { ...target, manager: fieldManager, operation: 'Apply', fieldsV1 };
  return entries.flatMap((entry) => (entry === target ? [joined] : isOld(entry) ? [] : [entry]));
}

/** True if ownership was handed over and not yet applied: the next apply removes kubectl's last-applied note. */
export function isHandedOver({ metadata: { managedFields = [] } }: KubeObject, fieldManager = KUBECTL): boolean {
  const isApply = isApplyOf(fieldManager);
  return managedFields.some((entry) => isApply(entry) && hasPath(entry.fieldsV1 ?? {}, LAST_APPLIED_PATH));
}

/** Selects a manager's own entry of server-side apply. */
export function isApplyOf(fieldManager: string): (entry: ManagedFieldsEntry) => boolean {
  return (entry) => entry.manager === fieldManager && entry.operation === 'Apply' && !entry.subresource;
}

/** managedFields are the larger half of most objects. */
export function withoutManagers(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

const IDENTITY = ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp'];

/** The removal may take all of metadata with it; a Secret's stringData is never answered and must be sent again. */
function withIdentity(pruned: unknown, r1: KubeObject, document: KubeObject): KubeObject {
  const fields = isRecord(pruned) ? pruned : {};
  const identity = Object.fromEntries(Object.entries(r1.metadata).filter(([field]) => IDENTITY.includes(field)));
  const metadata = { ...(isRecord(fields.metadata) ? fields.metadata : {}), ...identity, name: r1.metadata.name };
  const { stringData } = document;
  const again = document.kind === 'Secret' && stringData !== undefined ? { stringData } : {};
  return { ...fields, apiVersion: r1.apiVersion, kind: r1.kind, metadata, ...again };
}

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
const momentOf = ({ time }: ManagedFieldsEntry): number => Date.parse(time ?? '') || 0;

/** `kustomize-controller (Apply) at 2026-11-22T13:00:00Z` */
export function writerText({ manager, operation, time }: FieldWriter): string {
  return `${manager}${operation ? ` (${operation})` : ''}${time ? ` at ${time}` : ''}`;
}
