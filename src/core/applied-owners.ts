import type { ObjectMeta } from './object.ts';

/** What client-side `kubectl apply` wrote last: the same manifest, applied again, writes it once more. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** UIDs of the owners that the object's manifest names, as kubectl noted it; empty if it names none, or cannot be read. */
export function appliedOwnerUids({ annotations }: Pick<ObjectMeta, 'annotations'>): readonly string[] {
  const text = annotations?.[LAST_APPLIED];
  if (!text?.includes('"ownerReferences"')) return [];
  const { metadata } = parsed(text) as { readonly metadata?: { readonly ownerReferences?: unknown } };
  const references = metadata?.ownerReferences;
  if (!Array.isArray(references)) return [];
  return references.flatMap((one: { readonly uid?: unknown } | null) => (typeof one?.uid === 'string' ? [one.uid] : []));
}

function parsed(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
