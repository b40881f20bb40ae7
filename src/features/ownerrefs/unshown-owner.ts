import { groupOf, type Kind } from '../../kernel/object.ts';
import { type OwnedObject, type OwnersOfKind, ownerPlace } from './owner-fate.ts';

/**
 * An owner of the v3 group, `NAMESPACE/NAME`, that is stored and that the v3 API does not show. The service's API server lists only
 * what the account may see (it asks for permission on each tier), without a word about the rest; undefined if there is none.
 */
export function unshownOwner(
  { apiGroup, kind }: { readonly apiGroup: string; readonly kind: Kind['kind'] },
  { namespaced, served, stored }: OwnersOfKind,
  objects: readonly Pick<OwnedObject, 'object' | 'references'>[],
): string | undefined {
  if (!served || !stored) return undefined;
  for (const { object, references } of objects)
    for (const reference of references) {
      if (groupOf(reference.apiVersion) !== apiGroup || reference.kind !== kind) continue;
      const place = ownerPlace(namespaced ? object.namespace : undefined, reference.name);
      if (stored.has(place) && !served.has(place)) return `${kind}${place.startsWith('/') ? '' : '/'}${place}`;
    }
  return undefined;
}
