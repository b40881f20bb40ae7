import type { Conflict, Edit, EditSource } from '../kernel/edit.ts';
import { HIDDEN } from '../kernel/hidden.ts';
import type { KubeObject, ObjectRef } from '../kernel/object.ts';
import { overlaps } from '../kube/field-paths.ts';
import { fieldAt } from './definition-differences.ts';
import { withoutMarks } from './json-text.ts';
import type { LiveChange } from './lay-live.ts';
import type { MergeInput, MergeResult } from './merge-input.ts';
import type { NotedField } from './own-file.ts';
import { identityOf, identityOfRef } from './prepare.ts';
import type { Difference, Three } from './walk.ts';

/** A difference with the object it was found in. */
export interface ObjectDifference extends Difference {
  readonly ref: ObjectRef;
}

/** Where edits were found; what is in neither list, in the user's file. */
interface Sources {
  readonly live: readonly LiveChange[];
  readonly noted: readonly NotedField[];
}

/** What the merge found, as the user may see it: no Secret's values, no marks of ours. */
export function resultOf(
  { documents, found, notes }: Pick<MergeResult, 'documents' | 'notes'> & { readonly found: readonly ObjectDifference[] },
  sources: Sources,
  input: MergeInput,
): MergeResult {
  const asked = new Set(found.filter(({ because }) => because !== undefined).map(({ field }) => field));
  const gone = new Set(found.filter(({ path }) => path === '').map(({ field }) => field));
  return {
    documents,
    edits: [
      ...found.map((one) => ({
        ...editOf(one, sourceOf(one, sources, input.file ? 'file' : (input.mineIs ?? 'file'))),
        ...resultAt(one, documents),
      })),
      ...sources.live.flatMap(leftEdits),
    ],
    conflicts: conflictsOf(found),
    notes: [...new Set(notes)],
    unused: Object.keys(input.resolutions ?? {}).filter((field) => !asked.has(field) && !gone.has(field)),
  };
}

function editOf(found: ObjectDifference, source: EditSource): Edit {
  const { ref, path, outcome, decided, note, because, base, mine } = found;
  const change = mine === undefined ? 'remove' : base === undefined ? 'add' : 'change';
  const told = note ?? because ?? (source.writer === undefined || outcome !== 'kept' ? undefined : `Set by ${source.writer}.`);
  return { ref, path, change, ...values(found), source, outcome, ...(decided ? { decided } : {}), ...(told ? { note: told } : {}) };
}

/** Of an image that is kept: its repository is the user's, its tag the target's. */
function resultAt({ ref, path, outcome, mine }: ObjectDifference, documents: readonly KubeObject[]): Pick<Edit, 'result'> {
  if (outcome !== 'kept' || !path.endsWith('.image')) return {};
  const document = documents.find((one) => identityOf(one) === identityOfRef(ref));
  const result = fieldAt(document, path);
  return result === undefined || result === mine ? {} : { result };
}

/** A controller's field that the target does not set is no edit, but listed so that it can be found. */
function leftEdits({ path, manager, writer, left }: LiveChange): readonly Edit[] {
  if (!left || !writer) return [];
  const { ref, base, mine } = left;
  const source = { kind: 'live', ...(manager === undefined ? {} : { manager }), writer: writer.name } as const;
  const note = `Set by ${writer.name}: it stays in the cluster, and is not in the file.`;
  const change = base === undefined ? 'add' : 'change';
  return [{ ref, path, change, ...values({ ref, base, mine, theirs: undefined }), source, outcome: 'left', note }];
}

function values({ ref, ...found }: Three & { readonly ref: ObjectRef }): { base?: unknown; mine?: unknown; theirs?: unknown } {
  const { base, mine, theirs } = found;
  const shown = Object.entries({ base, mine, theirs }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(shown.map(([side, value]) => [side, ref.kind === 'Secret' ? HIDDEN : withoutMarks(value)]));
}

function sourceOf({ ref, path }: ObjectDifference, { live, noted }: Sources, file: 'file' | 'last-applied'): EditSource {
  const object = identityOfRef(ref);
  const change = live.find((one) => one.object === object && !one.left && overlaps(one.path, path));
  if (!change)
    return { kind: noted.some((one) => one.object === object && (one.path === '' || overlaps(one.path, path))) ? 'last-applied' : file };
  const { manager, writer } = change;
  return { kind: 'live', ...(manager === undefined ? {} : { manager }), ...(writer ? { writer: writer.name } : {}) };
}

/** One per field; images of one repository are decided together. */
function conflictsOf(found: readonly ObjectDifference[]): readonly Conflict[] {
  const conflicts = new Map<string, Conflict>();
  for (const one of found) {
    if (one.outcome !== 'conflict' || conflicts.has(one.field)) continue;
    conflicts.set(one.field, { field: one.field, ref: one.ref, path: one.path, ...values(one), because: one.because ?? '' });
  }
  return [...conflicts.values()];
}
