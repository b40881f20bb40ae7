import type { Edit } from '../core/edit.ts';
import { type KubeObject, refOf } from '../core/object.ts';
import type { FieldChange, PlannedObject } from '../core/plan.ts';
import { parseRelease } from '../core/release.ts';
import { changedFields, fieldAt } from './fields.ts';
import { comparable } from './normalise.ts';
import { sameValue } from './same-value.ts';

/** One object in its four forms. */
export interface EditSubject {
  /** From the installed release's own manifest. */
  readonly base: KubeObject;
  /** What the person applied (last-applied), or what is live where that is not known. */
  readonly mine: KubeObject;
  /** From the target's manifest. */
  readonly theirs: KubeObject;
  /** Predicted outcome of the upgrade. */
  readonly result: KubeObject;
}

/** Kinds that always come from the target whole; an edit of them is not carried and not refused (merge rules). */
const NOT_COMPARED = new Set(['CustomResourceDefinition', 'ServiceAccount']);

export function isCompared(object: KubeObject): boolean {
  return !NOT_COMPARED.has(object.kind);
}

/** What a person changed in the manifest of the installed release, and what becomes of it (§4.4/1, §7/4). */
export function manifestEdits(subject: EditSubject): readonly Edit[] {
  const { base, mine, theirs, result } = subject;
  const changes = changedFields(comparable(base), comparable(mine)).filter((change) => !isNoise(change));
  return changes.map((change) => {
    const after = fieldAt(comparable(result), change.path);
    return {
      ref: refOf(result),
      path: change.path,
      base: change.before,
      mine: change.after,
      theirs: after,
      source: 'manifest',
      status: sameEffect(change, after) ? 'kept' : isGone(change.path, base, theirs) ? 'obsolete' : 'lost',
    } as const;
  });
}

/** Changes made live by others than kubectl's apply, on fields that the upgrade will set or remove. */
export function liveEdits(planned: PlannedObject): readonly Edit[] {
  const values = new Map(planned.fields.map((field) => [field.path, field]));
  return planned.taken.map(({ path, manager }) => {
    const field = values.get(path);
    return { ref: planned.ref, path, mine: field?.before, theirs: field?.after, source: 'live', status: 'lost', manager } as const;
  });
}

function isNoise({ before, after, path }: FieldChange): boolean {
  if (sameValue(before, after)) return true;
  if (!isImage(path, before, after)) return false;
  return repositoryOf(String(before)) === repositoryOf(String(after)) && isReleaseTag(String(before)) && isReleaseTag(String(after));
}

/** The person's value is there afterwards; of an image only the repository counts, its tag is the release's. */
function sameEffect(change: FieldChange, after: unknown): boolean {
  if (sameValue(change.after, after)) return true;
  if (!isImage(change.path, change.after, after)) return false;
  return repositoryOf(String(change.after)) === repositoryOf(String(after)) && isReleaseTag(String(change.after));
}

function isImage(path: string, ...values: readonly unknown[]): boolean {
  return path.endsWith('.image') && values.every((value) => typeof value === 'string');
}

/** `docker.io/calico/node:v3.27.5` → `calico/node`: the default registry need not be written. */
function repositoryOf(image: string): string {
  return image
    .replace(/@.*$/, '')
    .replace(/:[^/:]*$/, '')
    .replace(/^(docker\.io|index\.docker\.io)\//, '');
}

function isReleaseTag(image: string): boolean {
  const tag = /:([^/:@]+)$/.exec(image)?.[1];
  return tag !== undefined && !image.includes('@') && parseRelease(tag)?.suffix === '';
}

/** The list item that held the field was in the old release and is not in the target: nothing to carry the edit to. */
function isGone(path: string, base: KubeObject, theirs: KubeObject): boolean {
  for (let end = path.lastIndexOf(']'); end >= 0; end = path.lastIndexOf(']', end - 1)) {
    const item = path.slice(0, end + 1);
    if (fieldAt(base, item) !== undefined && fieldAt(theirs, item) === undefined) return true;
  }
  return false;
}
