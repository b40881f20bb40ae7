import { isRecord, type JsonMap } from '../kernel/json.ts';

/** Lists whose items all carry an `id` are merged item by item; every other list is taken whole. */
function idOf(item: unknown): string | undefined {
  return isRecord(item) && typeof item.id === 'string' ? item.id : undefined;
}

function hasIds(list: unknown): list is readonly JsonMap[] {
  return Array.isArray(list) && list.every((item) => idOf(item) !== undefined);
}

/**
 * The user's profile laid over a shipped one: maps key by key, lists of items with an `id` item by item (new ones at the end),
 * everything else replaced. `null` removes what the shipped profile has.
 */
export function extend(base: unknown, own: unknown): unknown {
  if (own === undefined) return base;
  if (isRecord(base) && isRecord(own)) {
    const keys = [...new Set([...Object.keys(base), ...Object.keys(own)])].filter((key) => own[key] !== null);
    return Object.fromEntries(keys.map((key) => [key, extend(base[key], own[key])]));
  }
  if (hasIds(base) && hasIds(own) && own.length > 0) {
    const changed = base.map((item) =>
      extend(
        item,
        own.find((mine) => mine.id === item.id),
      ),
    );
    return [...changed, ...own.filter((mine) => !base.some((item) => item.id === mine.id))];
  }
  return own;
}

/** A path into the merged profile as a path into the user's own text: items with an `id` stand elsewhere there. */
export function ownPath(merged: unknown, own: unknown, path: readonly string[]): readonly (string | number)[] {
  const [step, ...rest] = path;
  if (step === undefined || typeof merged !== 'object' || merged === null) return [];
  const next = (merged as JsonMap)[step];
  if (!Array.isArray(merged)) return [step, ...ownPath(next, isRecord(own) ? own[step] : undefined, rest)];
  const index = Array.isArray(own) && idOf(next) !== undefined ? own.findIndex((item) => idOf(item) === idOf(next)) : Number(step);
  return [index, ...ownPath(next, Array.isArray(own) ? own[index] : undefined, rest)];
}
