import { isRecord, parsedJson } from '../kernel/json.ts';
import type { FieldsV1, ManagedFieldsEntry } from '../kernel/object.ts';
import { keyOfItem } from './list-keys.ts';

export interface FieldOwner {
  readonly manager: string;
  /** `Apply` or `Update`. */
  readonly operation: string;
  readonly subresource?: string;
}

/** Who owns a field, by its path in the notation of `changedFields`. A list owned as one value is owned in all its parts. */
export function ownersOf(managedFields: readonly ManagedFieldsEntry[] | undefined, path: string): readonly FieldOwner[] {
  const steps = stepsOf(path);
  const owners = new Map<string, FieldOwner>();
  for (const { manager = '', operation = '', subresource, fieldsV1 } of managedFields ?? []) {
    if (fieldsV1 && owns(fieldsV1, steps))
      owners.set(`${operation} ${manager} ${subresource ?? ''}`, { manager, operation, ...(subresource ? { subresource } : {}) });
  }
  return [...owners.values()];
}

function owns(set: FieldsV1, steps: readonly string[]): boolean {
  let [node, name] = [set, ''];
  for (const step of steps) {
    const below = find(node, name, step);
    if (!below) return false;
    if (Object.keys(below).length === 0) return true;
    [node, name] = [below, step];
  }
  return '.' in node;
}

function find(node: FieldsV1, listName: string, step: string): FieldsV1 | undefined {
  if (Object.hasOwn(node, `f:${step}`)) return node[`f:${step}`];
  for (const [element, below] of Object.entries(node)) {
    if (element.startsWith('k:') && isItem(listName, parsedJson(element.slice(2)), step)) return below;
  }
  return undefined;
}

/** The server may know keys that the table does not; it writes them in an order of its own. */
function isItem(listName: string, key: unknown, step: string): boolean {
  const known = keyOfItem(listName, key);
  if (known !== undefined) return known === step;
  const inOrder = (text: string) => text.split('/').sort().join('/');
  return isRecord(key) && inOrder(Object.values(key).join('/')) === inOrder(step);
}

/**
 * Paths of fields as users write them: `spec.template.spec.containers[calico-node].env[IP].value`,
 * `metadata.annotations[example.org/owner]`. Brackets hold an item's key, or a map key that is no plain word.
 */
const PLAIN = /^[\w-]+$/;

/** One more step, into a map (`a.b`) or, with `item`, into a list (`a[b]`). */
export function stepInto(path: string, step: string, item = false): string {
  if (item || !PLAIN.test(step)) return `${path}[${step.replace(/[\\\]]/g, '\\$&')}]`;
  return path === '' ? step : `${path}.${step}`;
}

/** True if one of two places is the other, or within it; '' is the whole object and within nothing else. */
export function overlaps(a: string, b: string): boolean {
  return isWithin(a, b) || isWithin(b, a);
}

function isWithin(path: string, outer: string): boolean {
  return outer !== '' && path.startsWith(outer) && /^($|[.[])/.test(path.slice(outer.length));
}

/** Throws RangeError if the text is no such path. */
export function stepsOf(path: string): readonly string[] {
  const steps: string[] = [];
  const pattern = /(?:^|\.)([\w-]+)|\[((?:[^\\\]]|\\.)*)\]/suy;
  while (pattern.lastIndex < path.length) {
    const at = pattern.lastIndex;
    const match = pattern.exec(path);
    if (!match) throw new RangeError(`"${path}" is no path of a field (at character ${at + 1})`);
    steps.push(match[1] ?? (match[2] ?? '').replace(/\\(.)/gsu, '$1'));
  }
  return steps;
}
