import { HIDDEN } from '../kernel/hidden.ts';
import { isRecord, sameValue } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';
import type { FieldChange } from '../kernel/plan.ts';
import { stepInto, stepsOf } from '../kube/field-paths.ts';
import { itemsByKey, keyFields } from '../kube/list-keys.ts';
import { prepared } from './prepare.ts';

/** Fields in which a live definition differs from a release's, except defaults and texts. Undefined between API versions. */
export function definitionDifferences(released: KubeObject, state: KubeObject): readonly FieldChange[] | undefined {
  if (released.apiVersion !== state.apiVersion) return undefined;
  return changedFields(prepared(withoutTexts(released)), prepared(withoutTexts(state))).filter((change) => !isFilledIn(change));
}

const FILLED_IN = /^spec\.(conversion|preserveUnknownFields|names\.(singular|listKind|categories|shortNames))\b/;

function isFilledIn({ path, before, after }: FieldChange): boolean {
  if (isNothing(before) && isNothing(after)) return true;
  return before === undefined && FILLED_IN.test(path);
}

/** What the server stores as absent. */
function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}

/** A value taken apart: its members, or the items of a list by key; undefined if it is one value. */
type Taken = ReadonlyMap<string, unknown> | undefined;

/** Differences, leaf by leaf: lists with keys item by item in any order, other lists as one value. `null` counts as absent. */
export function changedFields(before: unknown, after: unknown): readonly FieldChange[] {
  return [...changes(before ?? undefined, after ?? undefined, '', '')];
}

/** The value at a path of `changedFields`; undefined if there is none. Throws RangeError for a malformed path. */
export function fieldAt(object: unknown, path: string): unknown {
  let [value, name] = [object, ''];
  for (const step of stepsOf(path)) {
    if (Array.isArray(value)) value = itemsByKey(name, value)?.get(step);
    else value = isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
    name = step;
  }
  return value ?? undefined;
}

function* changes(before: unknown, after: unknown, path: string, name: string): Generator<FieldChange> {
  const [was, is] = [take(name, before), take(name, after)];
  if (!comparableParts(before, was, after, is)) {
    if (!isSameLeaf(before, was, after, is))
      yield { path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
    return;
  }
  const list = Array.isArray(before ?? after);
  for (const member of new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])])) {
    const [left, right] = [was?.get(member), is?.get(member)];
    const inside = stepInto(path, member, list);
    yield* list ? itemChanges(name, left, right, inside, member) : changes(left, right, inside, member);
  }
}

function isSameLeaf(before: unknown, was: Taken, after: unknown, is: Taken): boolean {
  return was && is ? Array.isArray(before) === Array.isArray(after) && was.size + is.size === 0 : sameValue(before, after);
}

/** Both sides have the same kind of parts, and some are there; an absent side fits anything. */
function comparableParts(before: unknown, was: Taken, after: unknown, is: Taken): boolean {
  if (!was?.size && !is?.size) return false;
  if (before === undefined) return is !== undefined;
  if (after === undefined) return was !== undefined;
  return was !== undefined && is !== undefined && Array.isArray(before) === Array.isArray(after);
}

function take(name: string, value: unknown): Taken {
  if (Array.isArray(value)) return itemsByKey(name, value);
  if (!isRecord(value)) return undefined;
  return new Map(Object.entries(value).filter(([, member]) => member !== null && member !== undefined));
}

/** The key is in the path already; it counts as a leaf only in an item without other fields. */
function itemChanges(name: string, left: unknown, right: unknown, path: string, member: string): Generator<FieldChange> {
  const [before, after] = [withoutKey(name, left), withoutKey(name, right)];
  const isNothing = [before, after].every((item) => item === undefined || (isRecord(item) && Object.keys(item).length === 0));
  return isNothing && (left === undefined || right === undefined)
    ? changes(left, right, path, member)
    : changes(before, after, path, member);
}

function withoutKey(name: string, item: unknown): unknown {
  if (!isRecord(item)) return item;
  const told = keyFields(name, item);
  return Object.fromEntries(Object.entries(item).filter(([field]) => !told.includes(field)));
}

/** A definition without its descriptions: they are text for users, and releases reword them without changing anything. */
export function withoutTexts<T extends KubeObject>(definition: T): T {
  return definition.kind === 'CustomResourceDefinition' ? (bare(definition) as T) : definition;
}

function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  if (!isRecord(value)) return value;
  // A field that is called `description` has a schema there, not a text.
  const fields = Object.entries(value).filter(([name, field]) => name !== 'description' || typeof field !== 'string');
  return Object.fromEntries(fields.map(([name, field]) => [name, bare(field)]));
}

/** Changes of an object as they may be shown: that a Secret's value differs, not what it is. */
export function maskChanges(object: Pick<KubeObject, 'kind'>, changes: readonly FieldChange[]): readonly FieldChange[] {
  if (object.kind !== 'Secret') return changes;
  return changes.map((change) => (/^(data|stringData|metadata\.annotations)\b/.test(change.path) ? masked(change) : change));
}

function masked({ path, ...values }: FieldChange): FieldChange {
  return { path, ...('before' in values ? { before: HIDDEN } : {}), ...('after' in values ? { after: HIDDEN } : {}) };
}
