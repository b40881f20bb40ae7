import type { Action } from '../../kernel/action.ts';
import { serverSideApply } from '../../kernel/argv.ts';
import type { Context } from '../../kernel/context.ts';
import { documentsText, type Manifest } from '../../manifest/manifest.ts';
import { isPending, type PreviewedObject } from './outcome.ts';
import { takeOverOwnership } from './ownership-taken.ts';

/** A manifest that is applied whole, as one file. */
export interface WholeFile {
  readonly id: string;
  readonly file: string;
  readonly title: string;
  readonly ref: string;
  readonly manifest: Manifest;
  readonly previews: readonly PreviewedObject[];
}

/** Whether applying the file would change anything. */
export function changes({ previews }: Pick<WholeFile, 'previews'>): boolean {
  return previews.some(isPending);
}

/** Ownership, the file itself, and the procedure's command; nothing where all is as the file says. */
export function applyWhole(whole: WholeFile, context: Context): readonly Action[] {
  if (!changes(whole)) return [];
  const { id, file, title, ref, manifest, previews } = whole;
  const content = documentsText(manifest.documents);
  const ownership = takeOverOwnership(previews, context).map((action) => ({ ...action, id: `${id}-${action.id}`, ref }));
  return [
    { id: `${id}-file`, title: `save ${file}`, ref, undo: 'full', effect: { type: 'write', file, content } },
    ...ownership,
    { id, title, ref, undo: 'partial', effect: { type: 'exec', run: serverSideApply(`${context.workFolder}/${file}`) } },
  ];
}
