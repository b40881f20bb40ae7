import { isRecord } from '../kernel/json.ts';
import type { FieldsV1, KubeObject, ManagedFieldsEntry } from '../kernel/object.ts';
import { prune, union } from '../kube/fields-v1.ts';
import { KEY_DEFAULTS, mergeKeys } from '../kube/list-keys.ts';
import { isApplyOf, KUBECTL } from '../kube/managed-fields.ts';
import { asObject } from './prepare.ts';

/** Maps that the API replaces whole. */
const ATOMIC_MAPS = new Set([
  'nodeSelector',
  'selector',
  'labelSelector',
  'configMapKeyRef',
  'secretKeyRef',
  'fieldRef',
  'resourceFieldRef',
  'roleRef',
]);

/**
 * What an apply makes of a live object owned as in `entries` (`adoptedOwnership`), by the built-in merge keys, without the server's
 * defaults. Undefined if kubectl has applied nothing of it.
 */
export function applyAfterAdoption(live: KubeObject, document: KubeObject, entries: readonly ManagedFieldsEntry[]): KubeObject | undefined {
  const own = entries.find(isApplyOf(KUBECTL));
  if (!own) return undefined;
  const others = entries.filter((entry) => entry !== own).map(({ fieldsV1 }) => fieldsV1 ?? {});
  const pruned = prune(live, own.fieldsV1 ?? {}, [fieldsOf(document, ''), ...others].reduce(union, {}));
  const merged = asObject(mergeApplied(pruned, document, ''), document);
  const { resourceVersion } = live.metadata;
  return resourceVersion ? { ...merged, metadata: { ...merged.metadata, resourceVersion } } : merged;
}

/** The fields that a document sets, in the notation of managedFields. */
export function fieldsOf(value: unknown, name: string): FieldsV1 {
  const set: Record<string, FieldsV1> = {};
  if (isRecord(value) && !ATOMIC_MAPS.has(name)) {
    for (const [field, inner] of Object.entries(value)) set[`f:${field}`] = fieldsOf(inner, field);
  } else if (Array.isArray(value)) {
    for (const item of value) {
      const element = elementOf(name, item);
      if (element === undefined) return {};
      set[element] = element.startsWith('v:') ? {} : { '.': {}, ...fieldsOf(item, '') };
    }
  }
  return set;
}

/** The element of an item in a list that is merged; undefined if the list is one value. */
function elementOf(listName: string, item: unknown): string | undefined {
  const rule = mergeKeys(listName, item);
  if (rule === 'atomic') return undefined;
  if (rule === 'set') return `v:${JSON.stringify(item)}`;
  const fields = isRecord(item) ? item : {};
  return `k:${JSON.stringify(Object.fromEntries(rule.map((key) => [key, fields[key] ?? KEY_DEFAULTS[key]])))}`;
}

/** A live value with a document over it: maps member by member, lists by the built-in merge keys. */
export function mergeApplied(live: unknown, document: unknown, name: string): unknown {
  if (isRecord(live) && isRecord(document) && !ATOMIC_MAPS.has(name)) {
    const fields = Object.entries(document).map(([field, value]) => [field, mergeApplied(live[field], value, field)]);
    return { ...live, ...Object.fromEntries(fields) };
  }
  return Array.isArray(live) && Array.isArray(document) ? mergeList(live, document, name) : document;
}

/** Items of the document first, in its order; what others own comes behind. */
function mergeList(live: readonly unknown[], document: readonly unknown[], name: string): unknown {
  if ([...live, ...document].some((item) => elementOf(name, item) === undefined)) return document;
  const there = new Map(live.map((item) => [elementOf(name, item), item]));
  const items = document.map((item) => mergeApplied(there.get(elementOf(name, item)), item, ''));
  const said = new Set(document.map((item) => elementOf(name, item)));
  return [...items, ...live.filter((item) => !said.has(elementOf(name, item)))];
}
