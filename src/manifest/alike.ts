import { isRecord, jsonAt } from '../kernel/json.ts';
import type { FieldChange } from '../kernel/plan.ts';
import { parseRelease } from '../kernel/release.ts';
import { imageKey, parseImage } from './images.ts';
import { itemsOf, sameMeaning } from './list-items.ts';

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

/** Shows no intent of the user: the same meaning written differently, or another tag of the same image. */
export function isNoise({ before, after, path }: FieldChange): boolean {
  if (sameMeaning(before, after, isEntryPath(path))) return true;
  if (!isImage(path, before, after)) return false;
  return repositoryOf(String(before)) === repositoryOf(String(after)) && isReleaseTag(String(before)) && isReleaseTag(String(after));
}

function isImage(path: string, ...values: readonly unknown[]): boolean {
  return path.endsWith('.image') && values.every((value) => typeof value === 'string');
}

/** `docker.io/calico/node:v3.27.5` → `calico/node`: the default registry need not be written. */
function repositoryOf(image: string): string {
  return image
    .replace(/@.*$/, '')
    .replace(/:[^/:]*$/, '')
    .replace(/^(docker\.io|index\.docker\.io)\//, '');
}

function isReleaseTag(image: string): boolean {
  const tag = /:([^/:@]+)$/.exec(image)?.[1];
  return tag !== undefined && !image.includes('@') && parseRelease(tag)?.suffix === '';
}

/** Maps whose keys users choose. An entry without text is an entry all the same: `node-role.kubernetes.io/control-plane: ""`. */
const OPEN_MAPS = new Set(['labels', 'annotations', 'matchLabels', 'nodeSelector', 'selector', 'data', 'stringData', 'binaryData']);

const WITHIN = new RegExp(`(^|\\.)(${[...OPEN_MAPS].join('|')})[.[]`);

/** True for the field of this name: what it holds are entries, not fields that Kubernetes knows. */
export const isOpenMap = (name: string | undefined): boolean => name !== undefined && OPEN_MAPS.has(name);

/** True for a path into such a map. */
const isEntryPath = (path: string): boolean => WITHIN.test(path);
