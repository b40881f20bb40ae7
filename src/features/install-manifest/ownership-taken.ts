import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { refOf, refText } from '../../kernel/object.ts';
import { changeTo, patchOf, putOp } from '../../kernel/object-change.ts';
import { clientSideManagers } from '../../kube/managed-fields.ts';
import type { PreviewedObject } from './outcome.ts';

/** `first`: a patch of ours before kubectl's apply; `kubectl`: its apply alone, which does it afterwards. */
export type OwnershipMode = 'first' | 'kubectl';

declare module '../../kernel/context.ts' {
  interface Options {
    /** Who takes over fields that were applied client-side; `first` unless said. */
    readonly ownership?: OwnershipMode;
  }
}

/**
 * Hands client-side objects over before the apply, one safe patch each; kubectl does it after, with four writes, two rollouts and a step
 * that may fail silently. `--ownership=kubectl` leaves it to kubectl, except pod template leftovers that kubectl never removes.
 */
export function takeOverOwnership(previews: readonly PreviewedObject[], { options }: Context): readonly Action[] {
  const mine = previews.flatMap(({ live, adopted, adoptedLeftovers }) => {
    const entries = options.ownership === 'kubectl' ? adoptedLeftovers : adopted;
    return live && entries ? [{ live, entries }] : [];
  });
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
export function ownershipNotes(previews: readonly PreviewedObject[], { options }: Context): readonly string[] {
  const clientSide = previews.filter(({ live }) => clientSideManagers(live?.metadata.managedFields).length > 0).length;
  const left = previews.flatMap(({ live, adoptedLeftovers }) => (live && adoptedLeftovers ? [refText(refOf(live))] : []));
  return [
    ...(clientSide > 0 ? [clientSideText(clientSide, options.ownership)] : []),
    ...(left.length > 0 ? [`${left.join(', ')}: ${LEFT}`] : []),
  ];
}

const LEFT = 'another field manager owns fields that the old release left. They are taken over first, and removed with the same write.';

function clientSideText(objects: number, ownership: OwnershipMode | undefined): string {
  return ownership === 'kubectl'
    ? `kubectl takes over field ownership of ${objects} objects after its first write: four writes each or more, and pods whose template loses fields are rolled twice`
    : `field ownership of ${objects} objects is taken over first, so that each is written once and its pods restart once`;
}
