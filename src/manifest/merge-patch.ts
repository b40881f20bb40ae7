import { isRecord, ownField, sameValue } from '../kernel/json.ts';

/** `live` after a JSON merge patch (RFC 7386) of what differs between two other states: maps by key, lists as a whole. */
export function mergePatched(live: unknown, before: unknown, after: unknown): unknown {
  if (!isRecord(before) || !isRecord(after)) return sameValue(before, after) ? live : after;
  const result = new Map(Object.entries(isRecord(live) ? live : {}));
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [ownField(before, key), ownField(after, key)];
    if (sameValue(was, is)) continue;
    const value = mergePatched(result.get(key), was, is);
    if (value === undefined || value === null) result.delete(key);
    else result.set(key, value);
  }
  // A key may be called `__proto__`: no assignment to a member by its name.
  return Object.fromEntries(result);
}
