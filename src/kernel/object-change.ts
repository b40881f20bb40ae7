import type { GuardedPatch } from './action.ts';
import { isRecord, jsonAt, pointerSteps, pointerTo, sameValue } from './json.ts';
import { type JsonPatchOp, type KubeObject, type ObjectChange, type ObjectRef, type Places, refOf, refText } from './object.ts';
import { type KeptItem, type KeptOutcome, numberOf, type Records } from './run-record.ts';

/** A change that was kept, and what became of it. */
export interface KeptChange extends ObjectChange, Pick<KeptItem, 'id' | 'content' | 'outcome'> {
  readonly isUndo: boolean;
  readonly since?: string;
}

/**
 * What a stage kept before it changed objects, oldest first; ids begin with the run's, which begins with its time. A record is no source of
 * objects: a change that the stage cannot have made (`isOwn`) is passed over.
 */
export async function keptChanges(
  records: Pick<Records, 'keptWith'>,
  stage: string,
  isOwn: (change: KeptChange) => boolean,
): Promise<readonly KeptChange[]> {
  const items = await records.keptWith(`/${stage}/`);
  return items.toSorted(byTime).flatMap((item) => changesIn(item).filter(isOwn));
}

const byTime = (one: KeptItem, other: KeptItem): number => {
  const [a, b] = [runOf(one), runOf(other)];
  return a === b ? numberOf(one) - numberOf(other) : a < b ? -1 : 1;
};

export const runOf = ({ id }: Pick<KeptItem, 'id'>): string => id.split('/')[0] ?? '';

function changesIn(item: KeptItem): readonly KeptChange[] {
  const { changes, undo, since } = isRecord(item.content) ? item.content : {};
  if (!Array.isArray(changes)) return [];
  const more = { isUndo: undo === true, ...(typeof since === 'string' ? { since } : {}) };
  return changes.filter(isChange).map(({ ref, before, after }) => ({ ...item, ...more, ref, before, after }));
}

function isChange(value: unknown): value is ObjectChange {
  const { ref, before, after } = isRecord(value) ? value : {};
  if (!isRecord(ref) || !isRecord(before) || !isRecord(after)) return false;
  const { apiVersion, kind, name, namespace = '', uid = '' } = ref;
  const isPlace = (place: string) => place === '' || place.startsWith('/');
  return [apiVersion, kind, name, namespace, uid].every((one) => typeof one === 'string') && pathsOf({ before, after }).every(isPlace);
}

/** A place as it was changed last, but for undos. */
export interface ChangedPlace {
  readonly ref: ObjectRef;
  readonly place: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly kept: KeptChange;
  /** The change before it. */
  readonly earlier?: ChangedPlace;
  /** The last undo since, and what it leaves there. */
  readonly undo?: { readonly after: unknown; readonly outcome?: KeptOutcome | undefined };
}

/** Each place of each object once, in the order in which they were first changed. */
export function changedPlaces(kept: readonly KeptChange[]): readonly ChangedPlace[] {
  const found = new Map<string, ChangedPlace>();
  for (const one of kept)
    for (const place of pathsOf(one)) {
      const { ref, outcome } = one;
      const key = `${refText(ref)} ${place}`;
      const [before, after] = [jsonAt(one.before, place), jsonAt(one.after, place)];
      const last = found.get(key);
      if (!one.isUndo) found.set(key, { ref, place, before, after, kept: one, ...(last ? { earlier: last } : {}) });
      else if (last) found.set(key, { ...last, undo: { after, outcome } });
    }
  return [...found.values()];
}

function pathsOf({ before, after }: Pick<ObjectChange, 'before' | 'after'>): readonly string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])];
}

/** True once an undo is known to have been done: what is there since, somebody else put there. */
export function isUndone({ undo }: ChangedPlace): boolean {
  return undo?.outcome?.done === true;
}

type Standing = 'former' | 'ours' | 'other';

/** How a place is: as it was before, or as the undo left it; as the change left it; or as somebody else made it since. */
export function standing(change: ChangedPlace, live: KubeObject | undefined): Standing {
  return standingOf(change, valueIn(live, change.place));
}

/** The same of what is there. */
export function standingOf({ before, after, undo }: Pick<ChangedPlace, 'before' | 'after' | 'undo'>, now: unknown): Standing {
  if (sameValue(now, before) || (undo && sameValue(now, undo.after))) return 'former';
  return sameValue(now, after) ? 'ours' : 'other';
}

export function valueIn(live: KubeObject | undefined, place: string): unknown {
  return jsonAt(live, ...pointerSteps(place));
}

/** One place for each entry of a map below that path. */
export function placesIn(path: readonly string[], map: Places): Places {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [pointerTo(...path, key), value]));
}

/** What giving these values to places of an object changes; undefined empties a place. */
export function changeTo(live: KubeObject, wanted: Places): ObjectChange {
  const defined = (places: Places) => Object.fromEntries(Object.entries(places).filter(([, value]) => value !== undefined));
  const before = Object.fromEntries(Object.keys(wanted).map((place) => [place, valueIn(live, place)]));
  return { ref: refOf(live), before: defined(before), after: defined(wanted) };
}

/** A patch of the very version that was read: the server refuses one that names another. */
export function patchOf(live: KubeObject, patch: readonly JsonPatchOp[]): GuardedPatch {
  const { uid = '', resourceVersion } = live.metadata;
  const guard: readonly JsonPatchOp[] = resourceVersion ? [{ op: 'replace', path: VERSION, value: resourceVersion }] : [];
  return { target: refOf(live), uid, patch: [...guard, ...patch] };
}

export const VERSION = '/metadata/resourceVersion';

/** The operation that gives a place of the object this value; undefined empties it. */
export function putOp(live: KubeObject, place: string, value: unknown): JsonPatchOp {
  if (value === undefined) return { op: 'remove', path: place };
  return { op: valueIn(live, place) === undefined ? 'add' : 'replace', path: place, value };
}
