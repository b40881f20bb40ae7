/** A JSON object of unknown content. */
export type JsonMap = Readonly<Record<string, unknown>>;

/** Not a list. */
export function isRecord(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const isText = (value: unknown): value is string => typeof value === 'string';

export const isTextOrAbsent = (value: unknown): value is string | undefined => value === undefined || isText(value);

export const areTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);

/** A list of objects that are all so. */
export function isListOf(value: unknown, is: (item: JsonMap) => boolean): value is readonly JsonMap[] {
  return Array.isArray(value) && value.every((item) => isRecord(item) && is(item));
}

/** Undefined where the text is no JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What stands at the path; undefined if any part of it is missing. Of fields of its own: `constructor` is a key that a ConfigMap may have, too. */
export function jsonAt(value: unknown, ...path: readonly string[]): unknown {
  let at = value;
  for (const key of path) {
    if (!isRecord(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key];
  }
  return at;
}

/** A JSON pointer (RFC 6901). */
export function pointerTo(...steps: readonly string[]): string {
  return steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The steps of a JSON pointer; none of `''`, which is the whole value. */
export function pointerSteps(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Empty where there is no object. */
export function mapAt(value: unknown, ...path: readonly string[]): JsonMap {
  const at = jsonAt(value, ...path);
  return isRecord(at) ? at : {};
}

/** Undefined where there is no text. */
export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const at = jsonAt(value, ...path);
  return typeof at === 'string' ? at : undefined;
}

/** Deep equality of JSON values, whatever the order of keys. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameValue(item, b[index]));
  if (!isRecord(a) || !isRecord(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameValue(a[key], b[key]));
}

/** True if `whole` says everything that `part` says; lists must be alike as a whole. */
export function contains(whole: unknown, part: unknown): boolean {
  if (isRecord(part)) return isRecord(whole) && Object.entries(part).every(([key, value]) => contains(jsonAt(whole, key), value));
  if (Array.isArray(part)) {
    return Array.isArray(whole) && whole.length === part.length && part.every((item, index) => isAlike(whole[index], item));
  }
  return whole === part || (whole === undefined && part === null);
}

function isAlike(one: unknown, other: unknown): boolean {
  return contains(one, other) && contains(other, one);
}
