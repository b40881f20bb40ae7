import type { Action } from '../../kernel/action.ts';
import { counted } from '../../kernel/counted.ts';
import { isPending, type PreviewedObject } from './outcome.ts';

/** Far more than the server needs: what takes longer is refused for good, and the condition says why. */
const ESTABLISHED_MS = 60_000;

/** Until the server serves what was just defined: what comes next is of those kinds, or starts what watches them. Nothing where none is. */
export function waitForCrds(id: string, ref: string, previews: readonly PreviewedObject[]): readonly Action[] {
  const applied = previews.filter((one) => one.document.kind === 'CustomResourceDefinition' && isPending(one));
  const names = applied.map(({ document }) => document.metadata.name);
  if (names.length === 0) return [];
  const title = `wait until ${counted(names.length, 'CRD')} ${names.length === 1 ? 'is' : 'are'} established`;
  return [
    { id, title, ref, undo: 'full', effect: { type: 'wait', until: { type: 'crds-established', names }, timeoutMs: ESTABLISHED_MS } },
  ];
}
