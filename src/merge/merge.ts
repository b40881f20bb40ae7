import { type KubeObject, refOf } from '../core/object.ts';
import type { MergeKnowledge } from '../core/profile.ts';
import type { Side } from '../core/trace.ts';
import { ImageMap } from './images.ts';
import { type LiveChange, layLive } from './lay-live.ts';
import { rulesOf } from './list-keys.ts';
import type { MergeInput, MergeResult } from './merge-input.ts';
import { mergeObject } from './merge-object.ts';
import { mapNewImages } from './new-images.ts';
import { identityOf, prepared, removedAcrossRename, renamed } from './prepare.ts';
import { brokenReferences } from './references.ts';
import { type Found, resultOf } from './traces.ts';
import { fieldOf, type Walk } from './walk.ts';

export type Objects = ReadonlyMap<string, KubeObject>;

/** What the merge works on, the same in every attempt. */
interface Prepared {
  readonly base: Objects;
  readonly mine: Objects;
  readonly theirs: Objects;
  readonly live: readonly LiveChange[];
  readonly away: NonNullable<MergeInput['away']>;
  readonly listRules: MergeInput['listRules'];
  readonly commaLists: ReadonlySet<string>;
  readonly resolutions: Readonly<Record<string, Side>>;
  readonly notes: readonly string[];
}

interface Attempt {
  readonly documents: readonly KubeObject[];
  readonly found: readonly Found[];
  readonly notes: readonly string[];
}

const NO_KNOWLEDGE: MergeKnowledge = { commaLists: [], renames: [] };
const RENAMED = 'You removed it, and the release gave it another name.';

/**
 * Three-way merge: the target with what a person changed in the installed release's manifest, field by field, by Kubernetes'
 * own list keys. Nothing is resolved in silence: every edit is in `edits`, and what only a person can decide in `conflicts`.
 *
 * `reasons` names fields that must be decided although the three states would settle them, each with why.
 */
export function mergeManifest(input: MergeInput, reasons: ReadonlyMap<string, string> = new Map()): MergeResult {
  const { renames } = input.knowledge ?? NO_KNOWLEDGE;
  const ready = prepare(input);
  const forced = new Map([...removals(ready, renames), ...reasons]);
  const named = rename(ready, renames);
  for (;;) {
    const attempt = merge(named, forced);
    const broken = brokenReferences(attempt.documents, named.theirs).filter(([field]) => !forced.has(field));
    if (broken.length === 0) return resultOf(attempt, ready.live, input);
    for (const [field, because] of broken) forced.set(field, because);
  }
}

function prepare(input: MergeInput): Prepared {
  const notes: string[] = [];
  const base = byIdentity(input.base.map((object) => prepared(object)));
  const applied = input.mine.map((object) => prepared(object, (text) => notes.push(`${object.kind} ${object.metadata.name}: ${text}`)));
  const theirs = byIdentity(input.theirs.map((object) => prepared(object)));
  const { writerOf, listRules } = input;
  const { objects, changes } = layLive(
    { base, applied: byIdentity(applied), theirs, ...(writerOf ? { writerOf } : {}), ...(listRules ? { listRules } : {}) },
    input.live ?? [],
  );
  return {
    base,
    mine: objects,
    theirs,
    live: changes,
    away: input.away ?? new Map(),
    listRules,
    commaLists: new Set(input.knowledge?.commaLists ?? []),
    resolutions: input.resolutions ?? {},
    notes,
  };
}

function byIdentity(objects: readonly KubeObject[]): Objects {
  return new Map(objects.map((object) => [identityOf(object), object]));
}

/** An edit finds its item under the name that the target has for it. */
function rename(ready: Prepared, renames: MergeKnowledge['renames']): Prepared {
  const all = (objects: Objects) =>
    new Map([...objects].map(([key, object]) => [key, renamed(object, ready.theirs.get(key) ?? object, renames)]));
  return { ...ready, base: all(ready.base), mine: all(ready.mine) };
}

function removals({ base, mine, theirs }: Prepared, renames: MergeKnowledge['renames']): readonly (readonly [string, string])[] {
  return [...theirs].flatMap(([key, target]) => {
    const [was, is] = [base.get(key), mine.get(key)];
    if (!was || !is) return [];
    return removedAcrossRename(was, is, target, renames).map((path) => [fieldOf(refOf(target), path), RENAMED] as const);
  });
}

function merge(ready: Prepared, forced: ReadonlyMap<string, string>): Attempt {
  const [found, notes, images] = [[] as Found[], [...ready.notes], new ImageMap()];
  const scaled = ready.live.filter(({ writer, left }) => writer?.scales && !left);
  const walkOf = (object: KubeObject): Walk => {
    const [ref, identity] = [refOf(object), identityOf(object)];
    return {
      ref,
      mode: 'merge',
      images,
      commaLists: ready.commaLists,
      rules: rulesOf(object, ready.listRules),
      forced: (field) => forced.get(field),
      resolution: (field) => (Object.hasOwn(ready.resolutions, field) ? ready.resolutions[field] : undefined),
      scaler: (path) => scaled.find((one) => one.object === identity && one.path === path)?.writer,
      add: (finding) => found.push({ ref, ...finding }),
      note: (text) => notes.push(text),
    };
  };
  const documents: KubeObject[] = [];
  const changed = new Set(ready.live.filter(({ left }) => !left).map(({ object }) => object));
  for (const key of new Set([...ready.theirs.keys(), ...ready.base.keys(), ...ready.mine.keys()])) {
    const live = ready.away.get(key) ?? (changed.has(key) ? ('changed' as const) : undefined);
    const three = { base: ready.base.get(key), mine: ready.mine.get(key), theirs: ready.theirs.get(key), live };
    const object = three.theirs ?? three.mine ?? three.base;
    const merged = object && mergeObject(walkOf(object), three, forced.get(fieldOf(refOf(object), '')));
    if (merged) documents.push(merged);
  }
  const mapped = documents.map((object) => mapNewImages(walkOf(object), object, ready.base.get(identityOf(object)), ready.theirs));
  return { documents: mapped, found, notes };
}
