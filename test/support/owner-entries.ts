import fc from 'fast-check';
import { entryOf, type JournalObject, type LiveReferences } from '../../src/features/ownerrefs/journal-entries.ts';
import type { JournalEntry } from '../../src/kernel/journal.ts';
import type { OwnerReference } from '../../src/kernel/object.ts';
import { applyJsonPatch } from '../../src/manifest/json-patch.ts';

export const V3 = 'projectcalico.org/v3';

export const DEPENDENT: JournalObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  namespace: 'shop',
  name: 'dependent',
  uid: 'd0d0d0d0-0000-4000-8000-000000000000',
  plural: 'configmaps',
};

/** `v3:set-1`, `apps:web`: an owner reference whose UID follows from its name. */
export function reference(text: string, more: Partial<OwnerReference> = {}): OwnerReference {
  const [group = '', name = ''] = text.split(':');
  const v3 = group === 'v3';
  return { apiVersion: v3 ? V3 : `${group}/v1`, kind: v3 ? 'NetworkSet' : 'Deployment', name, uid: `uid-of-${text}`, ...more };
}

/** The entry in which every v3 reference goes. */
export function entryFor(references: readonly OwnerReference[], object: JournalObject = DEPENDENT): JournalEntry {
  const places = references.flatMap((one, place) => (one.apiVersion === V3 ? [place] : []));
  return entryOf(object, references, new Map(places.map((place) => [place, { namespace: 'shop', name: references[place]?.name ?? '' }])));
}

export function live(references: readonly OwnerReference[], uid = DEPENDENT.uid): LiveReferences {
  return { uid, references };
}

/** The references after a patch; a list that became empty is absent, as the API server stores it. */
export function patched(state: LiveReferences, ops: Parameters<typeof applyJsonPatch>[1], resourceVersion = '7'): LiveReferences {
  const { uid, references } = state;
  const object = { metadata: { uid, resourceVersion, ...(references.length > 0 ? { ownerReferences: references } : {}) } };
  const after: { readonly metadata: { readonly ownerReferences?: readonly OwnerReference[] } } = applyJsonPatch(object, ops);
  return { ...state, references: after.metadata.ownerReferences ?? [] };
}

/** Lists as they occur: v3 and other owners mixed, flags, at most one controller, each owner once. */
export const referenceLists: fc.Arbitrary<readonly OwnerReference[]> = fc
  .uniqueArray(
    fc.record({
      text: fc.constantFrom('v3:a', 'v3:b', 'v3:c', 'v3:d', 'apps:a', 'apps:b', 'apps:c'),
      block: fc.constantFrom(undefined, true, false),
    }),
    { selector: ({ text }) => text },
  )
  .chain((rows) =>
    fc.integer({ min: 0, max: rows.length }).map((controller) =>
      rows.map(({ text, block }, place) => ({
        ...reference(text),
        ...(block === undefined ? {} : { blockOwnerDeletion: block }),
        ...(place === controller ? { controller: true } : {}),
      })),
    ),
  );
