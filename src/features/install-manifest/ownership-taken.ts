import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { refOf, refText } from '../../kernel/object.ts';
import type { PreviewedObject } from './outcome.ts';

/**
 * Objects first applied client-side: their ownership goes to server-side apply before the apply, one patch each that
 * changes no spec. kubectl would do it afterwards, with four writes, two rollouts and a last step that can fail in silence.
 * Cut off in the middle it is safe: each object is either taken over or not. With `--ownership=kubectl` it is left to kubectl.
 */
export function takeOverOwnership(previews: readonly PreviewedObject[], { options }: Context): readonly Action[] {
  if (options.ownership === 'kubectl') return [];
  const mine = previews.flatMap(({ live, adopted }) => (live && adopted ? [{ live, adopted }] : []));
  // All originals are kept with the first patch: one durable write instead of one per object.
  const originals = mine.map(({ live }) => ({ ref: refOf(live), managedFields: live.metadata.managedFields }));
  return mine.map(({ live, adopted }, index) => {
    const { uid = '', resourceVersion } = live.metadata;
    const ref = refOf(live);
    return {
      id: index === 0 ? 'ownership' : `ownership-${refText(ref)}`,
      title: `take over field ownership of ${refText(ref)}`,
      ref: '§4.4/2',
      undo: 'full',
      ...(index === 0 ? { keep: originals } : {}),
      effect: {
        type: 'patch',
        target: ref,
        patch: [{ op: 'replace', path: '/metadata/managedFields', value: adopted }],
        precondition: { uid, ...(resourceVersion ? { resourceVersion } : {}) },
      },
    };
  });
}

/** What becomes of the fields of objects that were applied client-side, for a person to read before. */
export function ownershipNote(objects: number, { options }: Context): string {
  return options.ownership === 'kubectl'
    ? `kubectl takes over field ownership of ${objects} objects after its first write: four writes each or more, and pods whose template loses fields are rolled twice`
    : `field ownership of ${objects} objects is taken over first, so that each is written once and rolled once`;
}
