import { isRecord, sameValue } from '../kernel/json.ts';
import type { FieldsV1, KubeObject } from '../kernel/object.ts';
import { isLeaf, matches } from '../kube/fields-v1.ts';
import { fieldsOf } from '../manifest/apply-document.ts';
import { SERVER_METADATA } from '../manifest/prepare.ts';

const IDENTITY = new Set(['name', 'namespace', ...SERVER_METADATA]);

/** What of an object managers can own: all but its identity. */
export function ownable({ apiVersion: _, kind: __, metadata, ...fields }: KubeObject): Readonly<Record<string, unknown>> {
  const rest = Object.fromEntries(Object.entries(metadata).filter(([field]) => !IDENTITY.has(field)));
  return { ...(Object.keys(rest).length > 0 ? { metadata: rest } : {}), ...fields };
}

/** Every field that an object sets. */
export function claimed(object: KubeObject): FieldsV1 {
  return fieldsOf(ownable(object), '');
}

/** What is at an element (`f:` field, `k:` item by keys, `v:` item by value) of a value. */
function valueAt(value: unknown, element: string): unknown {
  if (element.startsWith('f:')) return isRecord(value) ? value[element.slice(2)] : undefined;
  return Array.isArray(value) ? value.find((item, index) => matches(item, index, element)) : undefined;
}

export interface Difference {
  /** New fields, and fields with another value. */
  readonly changed: FieldsV1;
  readonly removed: FieldsV1;
}

/** Parts of built-in kinds that are there even in an empty object: nobody adds them. */
const ALWAYS_THERE = new Set(['f:metadata', 'f:spec', 'f:template', 'f:containers', 'f:strategy', 'f:updateStrategy']);

/** Whoever adds a map or list with its first members owns it as well: a `.` beside them. */
function withParents(set: FieldsV1, element: string): FieldsV1 {
  if (isLeaf(set)) return set;
  const below = Object.entries(set).map(([inner, deeper]) => [inner, withParents(deeper, inner)] as const);
  return { ...(ALWAYS_THERE.has(element) ? {} : { '.': {} }), ...Object.fromEntries(below) };
}

/** The fields in which two states of an object differ. */
export function differenceOf(before: KubeObject | undefined, after: KubeObject): Difference {
  const [was, is] = [before ? ownable(before) : {}, ownable(after)];
  const [wasSet, isSet] = [fieldsOf(was, ''), fieldsOf(is, '')];
  return { changed: changedIn(isSet, wasSet, is, was), removed: missingIn(isSet, wasSet) };
}

function changedIn(set: FieldsV1, other: FieldsV1, value: unknown, otherValue: unknown): FieldsV1 {
  const result: Record<string, FieldsV1> = {};
  for (const [element, below] of Object.entries(set)) {
    if (element === '.') continue;
    const [was, is] = [valueAt(otherValue, element), valueAt(value, element)];
    const there = other[element];
    if (!there) {
      result[element] = withParents(below, element);
      continue;
    }
    // What was emptied, or gets its first members, is still the same map or list: only the members differ.
    const sameContainer = isContainer(was) && isContainer(is) && isLeaf(below) !== isLeaf(there);
    if (!sameContainer && (isLeaf(below) || isLeaf(there))) {
      if (!sameValue(was, is)) result[element] = below;
      continue;
    }
    const inside = changedIn(below, there, is, was);
    if (!isLeaf(inside)) result[element] = inside;
  }
  return result;
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function missingIn(set: FieldsV1, other: FieldsV1): FieldsV1 {
  const result: Record<string, FieldsV1> = {};
  for (const [element, below] of Object.entries(other)) {
    if (element === '.') continue;
    const there = set[element];
    const inside = there ? missingIn(there, below) : withParents(below, element);
    if (!there || !isLeaf(inside)) result[element] = inside;
  }
  return result;
}

/** The first set without the members of the second. */
export function without(set: FieldsV1, taken: FieldsV1): FieldsV1 {
  const result: Record<string, FieldsV1> = {};
  for (const [element, below] of Object.entries(set)) {
    const other = taken[element];
    const rest = other ? withoutMember(below, other) : below;
    if (rest) result[element] = rest;
  }
  return result;
}

/** Undefined if nothing of the element is left. */
function withoutMember(set: FieldsV1, taken: FieldsV1): FieldsV1 | undefined {
  if (isLeaf(set)) return isLeaf(taken) || '.' in taken ? undefined : set;
  // `{}` stands for the member itself, which beside children is written `.`.
  const rest = without(set, isLeaf(taken) ? { '.': {} } : taken);
  if (isLeaf(rest)) return undefined;
  return Object.keys(rest).length === 1 && '.' in rest ? {} : rest;
}
