import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import type { Edit } from '../../kernel/edit.ts';
import { Fault } from '../../kernel/fault.ts';
import type { KubeObject, ObjectRef } from '../../kernel/object.ts';
import type { FieldChange, PlannedObject, TwoWayField } from '../../kernel/plan.ts';
import { continues, isOfIntent, type Records, type RunRecord, resumedBackwards } from '../../kernel/run-record.ts';
import type { StagePlan } from '../../kernel/stage.ts';
import { or } from '../../kernel/step.ts';
import { ownersOf } from '../../kube/field-paths.ts';
import type { ListRules } from '../../kube/list-keys.ts';
import { sha256Of } from '../../kube/sha256.ts';
import { isNoise } from '../../manifest/alike.ts';
import {
  CARRIED_ID,
  type CarriedEdits,
  type CarriedFile,
  carriedText,
  differences,
  type ReleasedFile,
  readCarriedEdits,
} from '../../manifest/carried-file.ts';
import { type Manifest, objectsIn, parseManifest } from '../../manifest/manifest.ts';
import type { MergeResult } from '../../manifest/merge-input.ts';
import { keptRules, rulesToKeep } from '../../manifest/openapi-lists.ts';
import type { Target, TargetFile } from './identity.ts';
import { keptEdits, readCarriedThen } from './kept-edits.ts';

/**
 * What a merge made of the target, to be kept before the first write. `listRules`: how the server tells items of lists apart; what is not in
 * it, the table says.
 */
export function carriedEdits(
  target: Target,
  { documents, ...told }: Pick<MergeResult, 'documents'> & Pick<CarriedEdits, 'base' | 'edits' | 'resolutions'>,
  listRules: ListRules | undefined,
): CarriedEdits {
  const all = [target, ...target.addOns];
  const found = differences(all.map(released), documents);
  const changed = [...found.values()].flatMap((one) => one.changed);
  const lists = rulesToKeep(listRules, changed);
  const files = all.flatMap((file): readonly (readonly [string, CarriedFile])[] => {
    const difference = found.get(file.file);
    if (!difference) return [];
    const merged = sha256Of(carriedText(released(file), difference, keptRules(lists)));
    return [[file.file, { release: file.sha256, merged, ...difference }]];
  });
  const kept = Object.keys(lists).length > 0 ? { lists } : {};
  return { target: target.release, ...told, ...kept, files: Object.fromEntries(files) };
}

/** The user's edits, and what of them goes into the target. */
export interface Editing {
  readonly edits: readonly Edit[];
  /** What goes into the target; undefined where nothing is merged. */
  readonly carried?: CarriedEdits;
  /** It differs from what this run has kept, and counts from now on. */
  readonly anew?: boolean;
}

/** What the user changed, shown and kept: after the first write nothing else shows it. Without a base, what differs. */
export function carriedOf({
  edits,
  previews,
}: {
  readonly edits: Reading<Editing>;
  readonly previews: readonly Seen[];
}): Pick<Extract<StagePlan, { actions: unknown }>, 'edits' | 'keep' | 'twoWay'> {
  if (!('value' in edits)) return { twoWay: twoWayFields(previews) };
  const { carried, anew } = edits.value;
  return { edits: edits.value.edits, ...(carried ? { keep: { id: CARRIED_ID, content: carried, ...(anew ? { anew } : {}) } } : {}) };
}

/** Said before the first write: what is not kept then, no rollback can put back. */
export function unkeptNotes(
  { edits, record }: { readonly edits: Reading<Editing>; readonly record: RunRecord | undefined },
  context: Context,
): readonly string[] {
  const { goal, options } = context;
  const isKept = 'value' in edits && edits.value.carried !== undefined;
  const isUnknown = 'unread' in edits || options.upgradeFile !== undefined;
  const earlier = continues(record, context) ? record.kept : resumedBackwards(record, context)?.kept;
  if (goal.takesBack || isKept || !isUnknown || keptEdits(earlier ?? []).length > 0) return [];
  return ['rollback will refuse to take this upgrade back: it cannot keep what was yours (a finished file, or no base)'];
}

/** Writing a manifest again and reading it takes longer than anything else here, and every stage asks for the same one. */
const known = new WeakMap<Manifest, { readonly merged: string; readonly text: string; readonly manifest: Manifest }>();

/** The target with the carried edits in its files; their `sha256` stays the released file's. */
export function withCarried(target: Target, carried: CarriedEdits): Target {
  const edited = <File extends TargetFile>(file: File): File => {
    const difference = carried.files[file.file];
    if (!difference) return file;
    const before = known.get(file.manifest);
    if (before?.merged === difference.merged) return { ...file, text: before.text, manifest: before.manifest };
    const text = carriedText(released(file), difference, keptRules(carried.lists));
    const { notes } = file.manifest;
    const manifest = { ...parseManifest(text, file.file), ...(notes ? { notes } : {}) };
    known.set(file.manifest, { merged: difference.merged, text, manifest });
    return { ...file, text, manifest };
  };
  return { ...edited(target), addOns: target.addOns.map(edited), carried };
}

/** What the recorded run to this target carries, whether it is finished or not; undefined before its first write. */
export async function readCarried(records: Records, context: Context): Promise<CarriedEdits | undefined> {
  const record = await records.load();
  const resumed = resumedBackwards(record, context);
  if (resumed) return readCarriedThen(records, resumed);
  if (!isOfIntent(record, context)) return undefined;
  const id = keptEdits(record.kept).at(-1);
  if (id === undefined) return undefined;
  const carried = readCarriedEdits(await records.kept(id));
  // Part of the cluster may be new already, so nothing else shows the edits any more.
  if (!carried) throw lostEdits(id);
  return carried.target === context.goal.release ? carried : undefined;
}

function lostEdits(id: string): Fault {
  return new Fault('failed', `the changes that the unfinished run carries cannot be read: ${id} is gone from the state, or damaged`, [
    'restore the Secrets netsvc-upgrade-run and netsvc-upgrade-run-log-N of kube-system from a backup',
    or('give the finished target with your changes: --upgrade-file FILE'),
  ]);
}

function released({ file, text, manifest }: TargetFile): ReleasedFile {
  return { name: file, text, documents: objectsIn(manifest) };
}

/** What a comparison of two needs of an object. */
interface Seen {
  readonly planned: PlannedObject;
  readonly live?: KubeObject;
}

/**
 * Live against target, field by field, without a base: each difference is shown with the field's owner, as it may be the release's or the
 * user's. Other tags of one image and other spellings are none; a definition is one row without its texts.
 */
export function twoWayFields(objects: readonly Seen[]): readonly TwoWayField[] {
  return objects.flatMap(({ planned, live }) => {
    if (!live) return [];
    const fields = planned.fields.filter((field) => field.before !== undefined && !isNoise(field));
    const rowOf = ({ path, before, after }: FieldChange): TwoWayField => {
      const owners = [...new Set(ownersOf(live.metadata.managedFields, path).map(({ manager }) => manager))];
      return { ref: planned.ref, path, live: before, ...(after === undefined ? {} : { target: after }), owners };
    };
    if (live.kind !== 'CustomResourceDefinition') return fields.map(rowOf);
    const [own, whole] = [fields.filter(isOwnField), fields.filter((field) => !isOwnField(field) && !isText(field))];
    return [...own.map(rowOf), ...(whole.length > 0 ? [wholeRow(planned.ref, whole.map(rowOf))] : [])];
  });
}

/** Users put annotations and labels on definitions; nobody edits their schema with intent. */
const isOwnField = ({ path }: FieldChange): boolean => path.startsWith('metadata.');

/** A field that is called `description` has a schema there, not a text. */
const isText = ({ path, before, after }: FieldChange): boolean =>
  /\.description$/.test(path) && [before, after].every((value) => value === undefined || typeof value === 'string');

function wholeRow(ref: ObjectRef, rows: readonly TwoWayField[]): TwoWayField {
  const live = counted(rows.length, 'field differs', 'fields differ');
  return { ref, path: '', live, target: 'the target’s own', owners: [...new Set(rows.flatMap(({ owners }) => owners))] };
}
