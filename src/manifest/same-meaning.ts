import { quantityOf } from '../kube/quantity.ts';

/**
 * True if two field values mean the same to Kubernetes: numbers and their text, absent and empty (but for an `entry` of an open
 * map, which is there or is not), quantities written differently, JSON text with other white space.
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
