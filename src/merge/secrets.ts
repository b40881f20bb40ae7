import type { KubeObject } from '../core/object.ts';
import type { FieldChange } from '../core/plan.ts';
import { isRecord } from './json.ts';
import { LAST_APPLIED } from './normalise.ts';

/** What is shown instead of a Secret's value. */
export const HIDDEN = '(hidden)';

const VALUES = ['data', 'stringData'];

/** The object as it may be shown or stored: a Secret keeps its keys and loses its values. */
export function maskSecrets(object: KubeObject): KubeObject {
  if (object.kind !== 'Secret') return object;
  const masked: Record<string, unknown> = {};
  for (const field of VALUES) {
    const values = object[field];
    if (isRecord(values)) masked[field] = Object.fromEntries(Object.keys(values).map((key) => [key, HIDDEN]));
  }
  // The annotation holds the whole Secret once more.
  const { [LAST_APPLIED]: _, ...annotations } = object.metadata.annotations ?? {};
  return { ...object, ...masked, metadata: { ...object.metadata, ...(object.metadata.annotations ? { annotations } : {}) } };
}

/** Changes of an object as they may be shown: that a Secret's value differs, not what it is. */
export function maskChanges(object: Pick<KubeObject, 'kind'>, changes: readonly FieldChange[]): readonly FieldChange[] {
  if (object.kind !== 'Secret') return changes;
  return changes.map((change) => (/^(data|stringData|metadata\.annotations)\b/.test(change.path) ? masked(change) : change));
}

function masked({ path, ...values }: FieldChange): FieldChange {
  return { path, ...('before' in values ? { before: HIDDEN } : {}), ...('after' in values ? { after: HIDDEN } : {}) };
}
