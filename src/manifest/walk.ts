import type { EditOutcome, Side, Writer } from '../kernel/edit.ts';
import { type KubeObject, type ObjectRef, refOf, refText } from '../kernel/object.ts';
import { stepInto } from '../kube/field-paths.ts';
import { type KindRules, type ListRules, rulesOf, type SchemaRule } from '../kube/list-keys.ts';
import { alike, type Comparison, isOpenMap } from './alike.ts';
import { ImageMap } from './images.ts';

/** Where a merge stands within an object. */
export interface Place {
  readonly path: string;
  /** The names of the fields alone, without items: `spec.template.spec.containers.env`. */
  readonly fields: string;
  /** Name of the field; of an item, that of its list with `[]`: `env[]`. */
  readonly name: string;
  /** What held this was in the base and is not in the target: nothing to carry an edit to. */
  readonly gone: boolean;
  /** Inside a JSON text. */
  readonly json: boolean;
  /** An entry of a map whose keys users choose. */
  readonly entry?: boolean;
}

/** The three states of one value; undefined = absent. */
export interface Three {
  readonly base: unknown;
  readonly mine: unknown;
  readonly theirs: unknown;
}

/** A difference that the walk came across, and what becomes of it. */
export interface Difference extends Three {
  readonly path: string;
  readonly outcome: EditOutcome;
  readonly field: string;
  readonly because?: string;
  readonly decided?: Side;
  readonly note?: string;
}

/** `merge`: three-way; `mine`: mine always wins (cluster over applied); `theirs`: the target's, edits are only reported. */
export type Mode = 'merge' | 'mine' | 'theirs';

/** A field in which the user's file and the cluster differ, and nothing shows which counts. */
export interface Dispute {
  readonly path: string;
  readonly because: string;
  /** What the cluster has there. */
  readonly cluster: unknown;
}

export const ROOT: Place = { path: '', fields: '', name: '', gone: false, json: false };

export type MergeField = (walk: Walk, place: Place, three: Three) => unknown;

/** All that a walk through one object needs to know. */
export interface Walk {
  readonly ref: ObjectRef;
  readonly mode: Mode;
  readonly images: ImageMap;
  readonly commaLists: ReadonlySet<string>;
  /** How the server tells items of this object's lists apart, where it was asked. */
  readonly rules?: KindRules | undefined;
  /** Why a field must be decided although the three states alone would settle it. */
  forced(field: string): string | undefined;
  resolution(field: string): Side | undefined;
  /** Why the user must tell about a place, or a part of it: their file and the cluster disagree. */
  disputed?(path: string): Dispute | undefined;
  /** In `mine`: texts that hold JSON are walked through too. */
  readonly intoTexts?: boolean;
  /** In `mine`: a change that is not laid over, because it is left to whoever wrote it. */
  leaves?(place: Place, three: Three): boolean;
  /** Whose number of now stands, whatever the release made of its own. */
  scaler?(path: string): Writer | undefined;
  /** A field must be decided, as the merge of others has shown; the next attempt includes it. */
  ask?(field: string, because: string): void;
  add(difference: Difference): void;
  note(text: string): void;
}

/** A walk in `mine` in which nothing is decided. */
export function layingWalk(object: KubeObject, listRules: ListRules | undefined, add: Walk['add']): Walk {
  return {
    ref: refOf(object),
    mode: 'mine',
    images: new ImageMap(),
    commaLists: new Set(),
    rules: rulesOf(object, listRules),
    forced: () => undefined,
    resolution: () => undefined,
    add,
    note: () => {},
  };
}

export const BOTH_CHANGED = 'You and the release changed it differently.';
const REMOVED = 'You removed it, and the release changed it.';
const BOTH_ADDED = 'You and the new release set this field to different values.';

export function inField(place: Place, name: string): Place {
  const fields = place.fields === '' ? name : `${place.fields}.${name}`;
  return { ...place, path: stepInto(place.path, name), fields, name, entry: isOpenMap(place.name) };
}

export function inItem(place: Place, key: string): Place {
  return { ...place, path: stepInto(place.path, key, true), name: `${place.name}[]`, entry: false };
}

/** The server's rule for the list at a place; undefined if it has none, and within texts. */
export function ruleAt({ rules }: Walk, { fields, json }: Place): SchemaRule | undefined {
  return json ? undefined : rules?.get(fields);
}

/** The text that `--resolve` takes for a field. */
export function fieldOf(ref: ObjectRef, path: string): string {
  return path === '' ? refText(ref) : `${refText(ref)}:${path}`;
}

/** Why a place must be decided whatever its three states are; undefined if they decide. */
export function forcedAt(walk: Walk, { path }: Place): string | undefined {
  return walk.mode === 'merge' ? walk.forced(fieldOf(walk.ref, path)) : undefined;
}

/** Why a place as a whole must be decided: for its own sake, or because it is in dispute. */
export function askedAt(walk: Walk, place: Place): string | undefined {
  const disputed = walk.disputed?.(place.path);
  return forcedAt(walk, place) ?? (disputed?.path === place.path ? disputed.because : undefined);
}

/** One value as a whole: returns the result, and records the edit if there is one. */
export function settle(walk: Walk, place: Place, three: Three): unknown {
  const { base, mine, theirs } = three;
  const how: Comparison = { name: place.name, strict: place.json, entry: place.entry ?? false };
  const forced = forcedAt(walk, place);
  const isEdit = !alike(base, mine, how);
  if (!isEdit && (forced === undefined || alike(mine, theirs, how))) return theirs;
  if (walk.mode === 'mine') return walk.leaves?.(place, three) ? theirs : tell(walk, place, three, 'kept');
  if (alike(mine, theirs, how)) return tell(walk, place, three, 'already');
  if (walk.mode === 'theirs') return tell(walk, place, three, 'target');
  const isObsolete = place.gone || (base !== undefined && mine !== undefined && theirs === undefined);
  if (isObsolete && forced === undefined) return tell(walk, place, three, 'obsolete');
  const why = forced ?? walk.disputed?.(place.path)?.because;
  if (why === undefined && alike(base, theirs, { ...how, apartFromImages: mine === undefined })) return tell(walk, place, three, 'kept');
  return why === undefined && isScaled(walk, place) ? tell(walk, place, three, 'kept') : decide(walk, place, three, why ?? whyAsked(three));
}

/** An autoscaler's number of now is nobody's to decide, unless somebody does. */
function isScaled(walk: Walk, { path }: Place): boolean {
  return walk.scaler?.(path) !== undefined && walk.resolution(fieldOf(walk.ref, path)) === undefined;
}

function whyAsked({ base, mine }: Three): string {
  return mine === undefined ? REMOVED : base === undefined ? BOTH_ADDED : BOTH_CHANGED;
}

/** The user's decision, where there is one; until then the target's value stands. */
export function decide(walk: Walk, place: Place, three: Three, because: string, field = fieldOf(walk.ref, place.path)): unknown {
  const decided = walk.resolution(field);
  const outcome: EditOutcome = decided === undefined ? 'conflict' : decided === 'mine' ? 'kept' : 'target';
  walk.add({ ...three, path: place.path, outcome, field, because, ...(decided ? { decided } : {}) });
  return decided === 'mine' ? three.mine : three.theirs;
}

/** What became of an edit; returns the value that goes into the result. */
export function tell(walk: Walk, place: Place, three: Three, outcome: EditOutcome, note?: string): unknown {
  walk.add({ ...three, path: place.path, outcome, field: fieldOf(walk.ref, place.path), ...(note ? { note } : {}) });
  return outcome === 'kept' ? three.mine : three.theirs;
}
