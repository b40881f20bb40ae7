import { type KubeObject, refOf } from '../kernel/object.ts';
import type { MergeKnowledge } from '../kernel/profile.ts';
import { overlaps } from '../kube/field-paths.ts';
import { rulesOf } from '../kube/list-keys.ts';
import { ImageMap } from './images.ts';
import { layLive } from './lay-live.ts';
import type { MergeInput, MergeResult, Objects } from './merge-input.ts';
import { mergeObject } from './merge-object.ts';
import { type ObjectDifference, resultOf } from './merge-result.ts';
import { mapNewImages } from './merge-values.ts';
import { withOwnFile } from './own-file.ts';
import { identityOf, prepared, removedAcrossRename, renamed, renamedPath } from './prepare.ts';
import { brokenReferences } from './references.ts';
import { fieldOf, type Walk } from './walk.ts';

/** What the merge works on, the same in every attempt. */
type Prepared = ReturnType<typeof prepare>;

const NO_KNOWLEDGE: MergeKnowledge = { commaLists: [], renames: [] };
const RENAMED = 'You removed it, and the release gave it another name.';

/**
 * Three-way merge: the target with the user's changes to the installed release's manifest, field by field, by Kubernetes' list keys. Every
 * edit is in `edits`, and what only the user can decide in `conflicts`.
 *
 * `reasons`: fields to decide although the three states would settle them, each with why.
 */
export function mergeManifest(input: MergeInput, reasons: ReadonlyMap<string, string> = new Map()): MergeResult {
  const result = mergeOnce(input, reasons);
  const moot = mootDecisions(input, reasons, result.unused);
  if (moot.size === 0) return result;
  const decided = mergeOnce(input, new Map([...reasons, ...moot]));
  return { ...decided, unused: decided.unused.filter((field) => !moot.has(field)) };
}

/** Decisions that nothing asks for, but would without another one: the user who answers all questions gives them too. */
function mootDecisions(input: MergeInput, reasons: ReadonlyMap<string, string>, unused: readonly string[]): ReadonlyMap<string, string> {
  const asked = new Map<string, string>();
  if (unused.length === 0) return asked;
  const given = Object.entries(input.resolutions ?? {});
  const fewer = [[], ...given.map(([field]) => given.filter(([other]) => other !== field))];
  for (const resolutions of fewer) {
    const { conflicts } = mergeOnce({ ...input, resolutions: Object.fromEntries(resolutions) }, reasons);
    for (const { field, because } of conflicts) if (unused.includes(field)) asked.set(field, because);
  }
  return asked;
}

function mergeOnce(input: MergeInput, reasons: ReadonlyMap<string, string>): MergeResult {
  const { renames } = input.knowledge ?? NO_KNOWLEDGE;
  const ready = prepare(input);
  const forced = new Map([...removals(ready, renames), ...reasons]);
  const named = rename(ready, renames);
  for (;;) {
    const attempt = merge(named, input, forced, reasons);
    const broken = [...brokenReferences(attempt.documents, named.theirs), ...attempt.asked].filter(([field]) => !forced.has(field));
    if (broken.length === 0) return resultOf(attempt, ready, input);
    for (const [field, because] of broken) forced.set(field, because);
  }
}

/** What is installed, by identity: as it was applied, with what was changed in the cluster since. */
export function objectsInstalled(input: MergeInput): Objects {
  return prepare(input).mine;
}

function prepare(input: MergeInput) {
  const notes: string[] = [];
  const noting = (object: KubeObject) => prepared(object, (text) => notes.push(`${object.kind} ${object.metadata.name}: ${text}`));
  const base = byIdentity(input.base.map((object) => prepared(object)));
  const file = input.file && byIdentity(input.file.map(noting));
  const theirs = byIdentity(input.theirs.map((object) => prepared(object)));
  // What only the file has counts as applied as the file has it.
  const added = [...(file ?? [])].filter(([key]) => !base.has(key) && !theirs.has(key));
  const applied = new Map([...added, ...byIdentity(input.mine.map(noting))]);
  const { objects, changes } = layLive({ base, applied, theirs }, input);
  const own = file && withOwnFile({ base, theirs, applied, cluster: objects, file }, input);
  return {
    base,
    mine: own?.objects ?? objects,
    theirs,
    live: changes,
    noted: own?.noted ?? [],
    disputes: own?.disputes ?? [],
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
  const disputes = ready.disputes.map((one) => {
    const [was, target] = [ready.mine.get(one.object), ready.theirs.get(one.object)];
    return was && target ? { ...one, path: renamedPath(one.path, was, target, renames) } : one;
  });
  return { ...ready, base: all(ready.base), mine: all(ready.mine), disputes };
}

function removals({ base, mine, theirs }: Prepared, renames: MergeKnowledge['renames']): readonly (readonly [string, string])[] {
  return [...theirs].flatMap(([key, target]) => {
    const [was, is] = [base.get(key), mine.get(key)];
    if (!was || !is) return [];
    return removedAcrossRename(was, is, target, renames).map((path) => [fieldOf(refOf(target), path), RENAMED] as const);
  });
}

/** `asked`: fields to be decided that the attempt came across, each with why. */
function merge(ready: Prepared, input: MergeInput, forced: ReadonlyMap<string, string>, reasons: ReadonlyMap<string, string>) {
  const [found, notes, images] = [[] as ObjectDifference[], [...ready.notes], new ImageMap()];
  const asked: (readonly [string, string])[] = [];
  const { resolutions = {}, knowledge = NO_KNOWLEDGE } = input;
  const commaLists = new Set(knowledge.commaLists);
  const scaled = ready.live.filter(({ writer, left }) => writer?.scales && !left);
  const walkOf = (object: KubeObject): Walk => {
    const [ref, identity] = [refOf(object), identityOf(object)];
    return {
      ref,
      mode: 'merge',
      images,
      commaLists,
      rules: rulesOf(object, input.listRules),
      forced: (field) => forced.get(field),
      resolution: (field) => (Object.hasOwn(resolutions, field) ? resolutions[field] : undefined),
      disputed: (path) => ready.disputes.find((one) => one.object === identity && overlaps(one.path, path)),
      scaler: (path) => scaled.find((one) => one.object === identity && one.path === path)?.writer,
      ask: (field, because) => asked.push([field, because]),
      add: (finding) => found.push({ ref, ...finding }),
      note: (text) => notes.push(text),
    };
  };
  const reasonsFor = (field: string) => (reasons.has(field) ? { asked: reasons.get(field) } : { need: forced.get(field) });
  const documents: KubeObject[] = [];
  const changed = new Set(ready.live.filter(({ left }) => !left).map(({ object }) => object));
  for (const key of new Set([...ready.theirs.keys(), ...ready.base.keys(), ...ready.mine.keys()])) {
    const live = input.away?.get(key) ?? (changed.has(key) ? ('changed' as const) : undefined);
    const three = { base: ready.base.get(key), mine: ready.mine.get(key), theirs: ready.theirs.get(key), live };
    const object = three.theirs ?? three.mine ?? three.base;
    const merged = object && mergeObject(walkOf(object), three, reasonsFor(fieldOf(refOf(object), '')));
    if (merged) documents.push(merged);
  }
  const mapped = documents.map((object) => {
    const key = identityOf(object);
    return mapNewImages(walkOf(object), object, { base: ready.base.get(key), mine: ready.mine.get(key) }, ready.theirs);
  });
  return { documents: mapped, found, notes, asked };
}
