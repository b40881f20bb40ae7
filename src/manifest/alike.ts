import { isRecord, type JsonMap, jsonAt } from '../kernel/json.ts';
import type { FieldChange } from '../kernel/plan.ts';
import { itemsByKey, type SchemaRule } from '../kube/list-keys.ts';
import { canonicalRepository, imageKey, isReleaseOfSame, repositoryAndTag } from './images.ts';

/** What the server writes where the user wrote nothing. */
const DEFAULTS: Readonly<Record<string, unknown>> = { protocol: 'TCP', operator: 'Equal' };

export interface Comparison {
  /** Name of the field that holds the value. */
  readonly name?: string;
  /** An entry of a map whose keys users choose: empty is not absent. */
  readonly entry?: boolean;
  /** Types count too, as in JSON: `"1"` is not `1`. */
  readonly strict?: boolean;
  /** Tags and registries of images do not count. */
  readonly apartFromImages?: boolean;
}

/** True if two values mean the same to Kubernetes: order of keyed lists, defaults, spelling of numbers and quantities do not count. */
export function alike(a: unknown, b: unknown, how: Comparison = {}): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return alikeLists(a, b, how);
  if (isRecord(a) && isRecord(b)) {
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((name) =>
      alike(withDefault(name, jsonAt(a, name)), withDefault(name, jsonAt(b, name)), { ...how, name, entry: isOpenMap(how.name) }),
    );
  }
  if (typeof (a ?? '') === 'object' || typeof (b ?? '') === 'object') return false;
  return alikeScalars(a ?? undefined, b ?? undefined, how);
}

function withDefault(name: string, value: unknown): unknown {
  return (value ?? undefined) === undefined && Object.hasOwn(DEFAULTS, name) ? DEFAULTS[name] : (value ?? undefined);
}

function alikeScalars(a: unknown, b: unknown, { name, strict, apartFromImages, entry }: Comparison): boolean {
  if (strict) return a === b;
  if (apartFromImages && name === 'image' && typeof a === 'string' && typeof b === 'string') {
    return imageKey(repositoryAndTag(a).repository) === imageKey(repositoryAndTag(b).repository);
  }
  if (typeof a === 'string' && typeof b === 'string' && a.trimEnd() === b.trimEnd()) return true;
  return sameMeaning(a, b, entry);
}

function alikeLists(a: readonly unknown[], b: readonly unknown[], how: Comparison): boolean {
  if (a.length !== b.length) return false;
  const [left, right] = [itemsOf(how.name ?? '', a), itemsOf(how.name ?? '', b)];
  if (left && right)
    return [...left].every(([key, item]) => right.has(key) && alike(item, right.get(key), { ...how, name: '', entry: false }));
  return a.every((item, index) => alike(item, b[index], { ...how, name: '', entry: false }));
}

/** Shows no intent of the user: the same meaning written differently, or another tag of the same image. */
export function isNoise({ before, after, path }: FieldChange): boolean {
  return sameMeaning(before, after, isEntryPath(path)) || isReleaseOfSame(path, before, after, canonicalRepository);
}

/** Maps whose keys users choose. An entry without text is an entry all the same: `node-role.kubernetes.io/control-plane: ""`. */
const OPEN_MAPS = new Set(['labels', 'annotations', 'matchLabels', 'nodeSelector', 'selector', 'data', 'stringData', 'binaryData']);

const WITHIN = new RegExp(`(^|\\.)(${[...OPEN_MAPS].join('|')})[.[]`);

/** True for the field of this name: what it holds are entries, not fields that Kubernetes knows. */
export const isOpenMap = (name: string | undefined): boolean => name !== undefined && OPEN_MAPS.has(name);

/** True for a path into such a map. */
const isEntryPath = (path: string): boolean => WITHIN.test(path);

/**
 * True if two field values mean the same to Kubernetes: numbers and their text, absent and empty, quantities, JSON with other white space.
 * An `entry` of an open map is there or not, even if empty.
 */
export function sameMeaning(a: unknown, b: unknown, entry = false): boolean {
  if (entry && isAbsent(a) !== isAbsent(b)) return false;
  if (isEmpty(a) && isEmpty(b)) return true;
  if (typeof a === 'object' || typeof b === 'object') return canonical(a) === canonical(b);
  const [left, right] = [String(a), String(b)];
  return left === right || sameQuantity(left, right) || sameJson(left, right);
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

const isEmpty = (value: unknown): boolean => isAbsent(value) || value === '';

function sameQuantity(a: string, b: string): boolean {
  const [left, right] = [quantityOf(a), quantityOf(b)];
  if (!left || !right || (left.unit ?? right.unit) === undefined) return false;
  return Math.abs(left.value - right.value) < 1e-9;
}

const isJsonLike = (text: string): boolean => /^\s*(?:\{[\s\S]*\}|\[[\s\S]*\])\s*$/.test(text) && !/^\s*\[\w/.test(text);

function sameJson(a: string, b: string): boolean {
  if (!isJsonLike(a) || !isJsonLike(b)) return false;
  // White space between tokens has no meaning; within quotes it has. Placeholders keep such text from being parsed as JSON.
  const squeeze = (text: string) => text.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');
  return squeeze(a) === squeeze(b);
}

/** JSON with sorted keys. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, one]) => `${JSON.stringify(key)}:${canonical(one)}`)
    .join(',')}}`;
}

/** Lists of scalars whose order says nothing. */
const SETS = new Set(['add', 'drop', 'finalizers', 'accessModes', 'verbs', 'resources', 'apiGroups', 'resourceNames', 'nonResourceURLs']);

/** Lists that the API replaces whole and in which the user nevertheless edits single items. */
const KEYS: Readonly<Record<string, (item: JsonMap) => string | undefined>> = {
  tolerations: (item) => wholeKey({ operator: 'Equal', ...item }, item.key ?? '*', item.effect ?? '*'),
  envFrom: (item) => envFromKey(item),
  plugins: ({ type }) => (typeof type === 'string' ? type : undefined),
};

/** Items by key, in order, by the server's rule if known. Undefined if the list is one value, or keys are missing or shared. */
export function itemsOf(listName: string, list: readonly unknown[], rule?: SchemaRule): ReadonlyMap<string, unknown> | undefined {
  const byKey = rule === undefined || list.length === 0 ? itemsByKey(listName, list) : undefined;
  if (byKey && (byKey.size > 0 || list.length === 0)) return byKey;
  const keys = list.map((item) => (rule === undefined || rule === 'atomic' ? keyOf(listName, item) : keyBy(rule, item)));
  if (keys.includes(undefined) || new Set(keys).size < keys.length) return undefined;
  return new Map(list.map((item, index) => [keys[index] ?? '', item]));
}

/** As the server merges: by its keys, or each scalar once. */
function keyBy(rule: Exclude<SchemaRule, 'atomic'>, item: unknown): string | undefined {
  if (rule === 'set') return isRecord(item) || Array.isArray(item) ? undefined : String(item);
  const parts = isRecord(item) ? rule.keys.map((key) => item[key] ?? rule.defaults[key]) : [];
  return parts.length > 0 && parts.every((part) => ['string', 'number', 'boolean'].includes(typeof part)) ? parts.join('/') : undefined;
}

function keyOf(listName: string, item: unknown): string | undefined {
  if (SETS.has(listName)) return isRecord(item) || Array.isArray(item) ? undefined : String(item);
  if (!isRecord(item)) return undefined;
  return Object.hasOwn(KEYS, listName) ? KEYS[listName]?.(item) : undefined;
}

/** Readable, yet different for every different item. */
function wholeKey(item: JsonMap, ...shown: readonly unknown[]): string {
  const rest = Object.entries(item).filter(
    ([name, value]) => !(name === 'operator' && value === 'Equal') && name !== 'key' && name !== 'effect',
  );
  return shown.map(String).join(':') + (rest.length > 0 ? `:${canonical(Object.fromEntries(rest))}` : '');
}

function envFromKey(item: JsonMap): string | undefined {
  const [kind, source] = Object.entries(item).find(([field]) => field !== 'prefix') ?? [];
  return isRecord(source) && typeof source.name === 'string' ? `${item.prefix ?? ''}${kind}/${source.name}` : undefined;
}

const QUANTITY = /^(\d+(?:\.\d+)?)(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/;
const FACTORS: Readonly<Record<string, number>> = {
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** `250m` as 0.25, with the unit that it is written in; undefined if it is no quantity. */
export function quantityOf(text: string): { readonly value: number; readonly unit?: string } | undefined {
  const [, number, unit] = QUANTITY.exec(text) ?? [];
  if (number === undefined) return undefined;
  return unit === undefined ? { value: Number(number) } : { value: Number(number) * (FACTORS[unit] ?? 1), unit };
}
