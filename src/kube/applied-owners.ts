import { mapAt, parsedJson } from '../kernel/json.ts';
import type { ObjectMeta } from '../kernel/object.ts';

/** What client-side `kubectl apply` wrote last: applying the same manifest again writes it once more. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** UIDs of the owners that the object's manifest names, as kubectl noted it; empty if it names none, or cannot be read. */
export function appliedOwnerUids({ annotations }: Pick<ObjectMeta, 'annotations'>): readonly string[] {
  const text = annotations?.[LAST_APPLIED];
  if (!text?.includes('"ownerReferences"')) return [];
  const { metadata } = mapAt(parsedJson(text)) as { readonly metadata?: { readonly ownerReferences?: unknown } };
  const references = metadata?.ownerReferences;
  if (!Array.isArray(references)) return [];
  return references.flatMap((one: { readonly uid?: unknown } | null) => (typeof one?.uid === 'string' ? [one.uid] : []));
}

/** Names of labels or annotations that kubectl noted as applied: the next file without one removes it. */
export function appliedNames({ annotations }: Pick<ObjectMeta, 'annotations'>, what: 'labels' | 'annotations'): readonly string[] {
  const { metadata } = mapAt(parsedJson(annotations?.[LAST_APPLIED] ?? '')) as {
    readonly metadata?: Readonly<Record<string, object>> | null;
  };
  return Object.keys(metadata?.[what] ?? {});
}
