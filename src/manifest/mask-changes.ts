import { HIDDEN } from '../kernel/hidden.ts';
import type { KubeObject } from '../kernel/object.ts';
import type { FieldChange } from '../kernel/plan.ts';

/** Changes of an object as they may be shown: that a Secret's value differs, not what it is. */
export function maskChanges(object: Pick<KubeObject, 'kind'>, changes: readonly FieldChange[]): readonly FieldChange[] {
  if (object.kind !== 'Secret') return changes;
  return changes.map((change) => (/^(data|stringData|metadata\.annotations)\b/.test(change.path) ? masked(change) : change));
}

function masked({ path, ...values }: FieldChange): FieldChange {
  return { path, ...('before' in values ? { before: HIDDEN } : {}), ...('after' in values ? { after: HIDDEN } : {}) };
}
