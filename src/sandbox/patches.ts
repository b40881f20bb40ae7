import { isRecord } from '../kernel/json.ts';
import type { JsonPatchOp, KubeObject } from '../kernel/object.ts';
import { ApiFailure } from '../kernel/ports.ts';
import { applyJsonPatch, PatchFailure } from '../manifest/json-patch.ts';

/** RFC 6902. Throws 422 if a test fails or a path is not there. */
export function patched(live: KubeObject, ops: readonly JsonPatchOp[]): KubeObject {
  try {
    return applyJsonPatch(live, ops);
  } catch (thrown) {
    if (thrown instanceof PatchFailure)
      throw new ApiFailure(422, 'Invalid', `the server rejected our request due to an error in our request: ${thrown.message}`);
    throw thrown;
  }
}

/** RFC 7386: `null` removes. */
export function mergePatched(live: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const fields = Object.entries(patch).map(([field, value]) => [field, mergePatched(isRecord(live) ? live[field] : undefined, value)]);
  const all = { ...(isRecord(live) ? live : {}), ...Object.fromEntries(fields) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}
