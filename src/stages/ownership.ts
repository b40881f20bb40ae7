import type { Action } from '../core/action.ts';
import { refOf, refText } from '../core/object.ts';
import type { PreviewedObject } from './preview.ts';

/**
 * Objects first applied client-side: their ownership goes to server-side apply before the apply, one patch each that
 * changes no spec. kubectl would do it afterwards, with four writes, two rollouts and a last step that can fail in silence.
 * Cut off in the middle it is safe: each object is either taken over or not.
 */
export function takeOverOwnership(previews: readonly PreviewedObject[]): readonly Action[] {
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
