import type { Action } from '../../kernel/action.ts';
import { counted } from '../../kernel/counted.ts';
import { refOf, refText } from '../../kernel/object.ts';
import { changeTo, patchOf, putOp } from '../../kernel/object-change.ts';
import { clientSideManagers } from '../../kube/managed-fields.ts';
import type { PreviewedObject } from './outcome.ts';

/**
 * Hands client-side objects over before the apply, one safe patch each; kubectl alone does it after, with four writes, two rollouts and a
 * step that may fail silently.
 */
export function takeOverOwnership(previews: readonly PreviewedObject[]): readonly Action[] {
  const mine = previews.flatMap(({ live, adopted }) => (live && adopted ? [{ live, entries: adopted }] : []));
  if (mine.length === 0) return [];
  return [
    {
      id: 'ownership',
      title: `take over field ownership of ${counted(mine.length, 'object')}`,
      ref: '§4.4/2',
      undo: 'full',
      keep: { changes: mine.map(({ live, entries }) => changeTo(live, { [MANAGED_FIELDS]: entries })) },
      effect: {
        type: 'patch-all',
        what: 'field ownership taken over',
        patches: mine.map(({ live, entries }) => patchOf(live, [putOp(live, MANAGED_FIELDS, entries)])),
      },
    },
  ];
}

const MANAGED_FIELDS = '/metadata/managedFields';

/** What becomes of the fields of others, for the user to read before. */
export function ownershipNotes(previews: readonly PreviewedObject[]): readonly string[] {
  const clientSide = previews.filter(({ live }) => clientSideManagers(live?.metadata.managedFields).length > 0).length;
  const left = previews.flatMap(({ live, adoptedLeftovers }) => (live && adoptedLeftovers ? [refText(refOf(live))] : []));
  return [...(clientSide > 0 ? [clientSideText(clientSide)] : []), ...(left.length > 0 ? [`${left.join(', ')}: ${LEFT}`] : [])];
}

const LEFT = 'another field manager owns fields that the old release left. They are taken over first, and removed with the same write.';

function clientSideText(objects: number): string {
  return `field ownership of ${objects} objects is taken over first, so that each is written once and its pods restart once`;
}
