import { isRecord, parsedJson, sameValue } from '../kernel/json.ts';
import type { FieldsV1 } from '../kernel/object.ts';
import { KEY_DEFAULTS } from './list-keys.ts';

/** Sets of fields in the notation of managedFields: `f:` field, `k:` list item by keys, `v:` item by value, `i:` by place. */
const EMPTY: FieldsV1 = {};

export function union(a: FieldsV1, b: FieldsV1): FieldsV1 {
  const both: Record<string, FieldsV1> = { ...a };
  for (const [element, below] of Object.entries(b)) {
    const present = both[element];
    // `{}` stands for the element itself; together with children of it that becomes `.`.
    both[element] = present === undefined ? below : union(asParent(present, below), asParent(below, present));
  }
  return both;
}

function asParent(node: FieldsV1, other: FieldsV1): FieldsV1 {
  return isLeaf(node) && !isLeaf(other) ? { '.': EMPTY } : node;
}

export function isLeaf(node: FieldsV1): boolean {
  return Object.keys(node).length === 0;
}

/** Is the very element in the set, not only something below it? */
function isMember(node: FieldsV1): boolean {
  return isLeaf(node) || '.' in node;
}

export function hasPath(set: FieldsV1, elements: readonly string[]): boolean {
  let node: FieldsV1 | undefined = set;
  for (const element of elements) node = node && Object.hasOwn(node, element) ? node[element] : undefined;
  return node !== undefined && isMember(node);
}

/** The set in two: what it has at a path or below, and the rest. */
export function cut(
  set: FieldsV1,
  [element, ...below]: readonly string[],
): { readonly there: FieldsV1 | undefined; readonly rest: FieldsV1 } {
  const node = element !== undefined && Object.hasOwn(set, element) ? set[element] : undefined;
  if (element === undefined || node === undefined) return { there: undefined, rest: set };
  const { [element]: _, ...others } = set;
  if (below.length === 0) return { there: node, rest: others };
  const { there, rest } = cut(node, below);
  // A field with nothing below it would count as owned itself.
  return { there, rest: there && isLeaf(rest) ? others : { ...others, [element]: rest } };
}

/** The set of one element and of what lies below it. */
export function setAt(path: readonly string[], below: FieldsV1): FieldsV1 {
  return path.reduceRight((inner: FieldsV1, element) => ({ [element]: inner }), below);
}

/** The value without the element at a path. */
export function dropAt(value: unknown, [element, ...below]: readonly string[]): unknown {
  if (element === undefined) return value;
  return below.length === 0 ? drop(value, element) : descend(value, element, (inner) => dropAt(inner, below));
}

/** Fields whose owner is the parent struct: an element with children counts as owned. Map keys do not. */
const isStruct = (element: string): boolean => element.startsWith('f:');

/**
 * The value without what is in `last` and not in `owned`, as the server prunes after an apply. This is structured-merge-diff's removal
 * without its schema: every field with fields below counts as a struct's.
 */
export function prune(value: unknown, last: FieldsV1, owned: FieldsV1, parentOwned = true): unknown {
  let rest = value;
  for (const [element, below] of Object.entries(last)) {
    if (element === '.') continue;
    const theirs = Object.hasOwn(owned, element) ? owned[element] : undefined;
    const inLast = isMember(below) || isStruct(element);
    const ownedHere = parentOwned && theirs !== undefined && (isMember(theirs) || isStruct(element));
    rest = inLast && !ownedHere ? drop(rest, element) : descend(rest, element, (inner) => prune(inner, below, theirs ?? EMPTY, ownedHere));
  }
  return rest;
}

function drop(value: unknown, element: string): unknown {
  if (Array.isArray(value)) {
    const kept = value.filter((item, index) => !matches(item, index, element));
    return kept.length === value.length ? value : kept;
  }
  const field = fieldOf(element);
  if (field === undefined || !isRecord(value) || !Object.hasOwn(value, field)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== field));
}

function descend(value: unknown, element: string, into: (inner: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item, index) => (matches(item, index, element) ? into(item) : item));
  const field = fieldOf(element);
  if (field === undefined || !isRecord(value) || !Object.hasOwn(value, field)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, name === field ? into(inner) : inner]));
}

function fieldOf(element: string): string | undefined {
  return element.startsWith('f:') ? element.slice(2) : undefined;
}

/** An item of a list. A key field that is left out has its default. */
export function matches(item: unknown, index: number, element: string): boolean {
  const text = element.slice(2);
  if (element.startsWith('i:')) return Number(text) === index;
  if (element.startsWith('v:')) return sameValue(item, parsedJson(text));
  const keys = element.startsWith('k:') ? parsedJson(text) : undefined;
  return isRecord(keys) && isRecord(item) && Object.entries(keys).every(([key, value]) => sameValue(item[key] ?? KEY_DEFAULTS[key], value));
}
