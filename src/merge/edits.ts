import type { Edit } from '../core/edit.ts';
import { HIDDEN } from '../core/hidden.ts';
import { type KubeObject, refOf } from '../core/object.ts';
import type { FieldChange, PlannedObject } from '../core/plan.ts';
import { parseRelease } from '../core/release.ts';
import { ownersOf } from './field-owners.ts';
import { changedFields, fieldAt } from './fields.ts';
import { KUBECTL } from './managed-fields.ts';
import { comparable } from './normalise.ts';
import { sameMeaning } from './same-meaning.ts';

/** Two states of one object between which a person's edits lie, and what the upgrade makes of it. */
export interface EditSubject {
  /** Before the edits: the installed release's own manifest; for live edits, what was applied last. */
  readonly base: KubeObject;
  /** With the edits: what was applied last; for live edits, what is live. */
  readonly mine: KubeObject;
  /** From the target's manifest. */
  readonly theirs: KubeObject;
  /** Predicted outcome of the upgrade. */
  readonly result: KubeObject;
}

/** Kinds that always come from the target whole; an edit of them is not carried and not refused (merge rules). */
const NOT_COMPARED = new Set(['CustomResourceDefinition', 'ServiceAccount']);

export function isCompared(object: Pick<KubeObject, 'kind'>): boolean {
  return !NOT_COMPARED.has(object.kind);
}

/** What a person changed in the manifest of the installed release, and what becomes of it (§4.4/1, §7/4). */
export function manifestEdits(subject: EditSubject): readonly Edit[] {
  return editsBetween(subject, 'manifest');
}

/** What was changed in the cluster since the last apply; `base` must have the server's defaults, as `mine` has. */
export function liveEdits(subject: EditSubject): readonly Edit[] {
  return editsBetween(subject, 'live')
    .filter(({ path }) => !isAllocated(subject.mine, path))
    .map((edit) => {
      const manager = ownersOf(subject.mine.metadata.managedFields, edit.path).find((one) => !OWN.has(one.manager))?.manager;
      return manager === undefined ? edit : { ...edit, manager };
    });
}

/** The same where the last apply is not known well enough: fields of other managers that the upgrade will change. */
export function takenEdits(planned: PlannedObject): readonly Edit[] {
  const values = new Map(planned.fields.map((field) => [field.path, field]));
  return planned.taken.flatMap(({ path, manager }) => {
    const field = values.get(path);
    if (!field || isNoise(field)) return [];
    return [{ ref: planned.ref, path, mine: field.before, theirs: field.after, source: 'live', status: 'lost', manager } as const];
  });
}

/** A whole object of the installed release that the person does without; the target would bring it back. */
export function removedObject(base: KubeObject, planned: PlannedObject): readonly Edit[] {
  if (planned.change !== 'create' || !isCompared(base)) return [];
  return [{ ref: planned.ref, path: '', base: 'present', theirs: 'present', source: 'live', status: 'lost' }];
}

/** Managers behind which no person's single change stands. */
const OWN = new Set([KUBECTL, 'kubectl-client-side-apply']);

function editsBetween({ base, mine, theirs, result }: EditSubject, source: Edit['source']): readonly Edit[] {
  const changes = changedFields(comparable(base), comparable(mine)).filter((change) => !isNoise(change));
  const outcome = comparable(result);
  return changes.map((change) => {
    const after = fieldAt(outcome, change.path);
    const status = sameEffect(change, after) ? 'kept' : isGone(change.path, base, theirs) ? 'obsolete' : 'lost';
    return shown({ ref: refOf(result), path: change.path, base: change.before, mine: change.after, theirs: after, source, status });
  });
}

/** Numbers that the server hands out anew to each Service, a dry-run twin's included. */
function isAllocated({ kind }: KubeObject, path: string): boolean {
  return kind === 'Service' && /^spec\.(clusterIPs?|healthCheckNodePort|ports\[.*\]\.nodePort)$/.test(path);
}

/** Says nothing of a person's intent: the same meaning written differently, or another tag of the same image. */
export function isNoise({ before, after, path }: FieldChange): boolean {
  if (sameMeaning(before, after)) return true;
  if (!isImage(path, before, after)) return false;
  return repositoryOf(String(before)) === repositoryOf(String(after)) && isReleaseTag(String(before)) && isReleaseTag(String(after));
}

/** The person's value is there afterwards; of an image only the repository counts, its tag is the release's. */
function sameEffect(change: FieldChange, after: unknown): boolean {
  if (sameMeaning(change.after, after)) return true;
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

/** The list item that held the field was there before and is not in the target: nothing to carry the edit to. */
function isGone(path: string, base: KubeObject, theirs: KubeObject): boolean {
  for (let end = path.lastIndexOf(']'); end >= 0; end = path.lastIndexOf(']', end - 1)) {
    const item = path.slice(0, end + 1);
    if (fieldAt(base, item) !== undefined && fieldAt(theirs, item) === undefined) return true;
  }
  return false;
}

/** That a Secret's value was changed, not to what. */
function shown(edit: Edit): Edit {
  if (edit.ref.kind !== 'Secret') return edit;
  const hidden = (value: unknown) => (value === undefined ? undefined : HIDDEN);
  return { ...edit, base: hidden(edit.base), mine: hidden(edit.mine), theirs: hidden(edit.theirs) };
}
