import { isRecord, ownField } from '../kernel/json.ts';
import { imageKey, parseImage } from './images.ts';
import { itemsOf } from './list-items.ts';
import { isOpenMap } from './open-maps.ts';
import { sameMeaning } from './same-meaning.ts';

/** What the server writes where a person wrote nothing. */
const DEFAULTS: Readonly<Record<string, unknown>> = { protocol: 'TCP', operator: 'Equal' };

export interface Comparison {
  /** Name of the field that holds the value. */
  readonly name?: string;
  /** An entry of a map whose keys people choose: empty is not absent. */
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
      alike(withDefault(name, ownField(a, name)), withDefault(name, ownField(b, name)), { ...how, name, entry: isOpenMap(how.name) }),
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
    return imageKey(parseImage(a).repository) === imageKey(parseImage(b).repository);
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
