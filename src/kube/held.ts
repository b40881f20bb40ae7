import { pointerTo } from '../kernel/json.ts';
import type { JsonPatchOp, KubeObject } from '../kernel/object.ts';
import type { OperatorIgnores } from '../kernel/operator-names.ts';

/** Our own annotation beside the operator's: the run that holds the object. It tells our hold from a user's where the record is lost. */
export const HELD_BY = 'netsvc-upgrade/held-by';

const placeOf = (annotation: string): string => pointerTo('metadata', 'annotations', annotation);

/** The place of the operator's annotation. */
export const ignoredAt = ({ annotation }: OperatorIgnores): string => placeOf(annotation);

/** The run that holds it; undefined where none of this program does. */
export function heldBy({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[HELD_BY];
}

/** The operator leaves it as it is, whoever said so. */
export function isIgnored({ metadata }: KubeObject, { annotation, value }: OperatorIgnores): boolean {
  return metadata.annotations?.[annotation] === value;
}

/** A user's own annotation: not ours to change. */
export function isIgnoredByUser(object: KubeObject, ignores: OperatorIgnores): boolean {
  return isIgnored(object, ignores) && heldBy(object) === undefined;
}

/** Adds both annotations. */
export function holdOps({ metadata }: KubeObject, { annotation, value }: OperatorIgnores, run: string): readonly JsonPatchOp[] {
  const wanted = { [annotation]: value, [HELD_BY]: run };
  if (!metadata.annotations) return [{ op: 'add', path: pointerTo('metadata', 'annotations'), value: wanted }];
  return Object.entries(wanted).map(([key, text]) => ({ op: 'add', path: placeOf(key), value: text }));
}

/** Removes both, each only while it is as it was read; nothing where the hold is not ours. */
export function releaseOps(object: KubeObject, { annotation }: OperatorIgnores): readonly JsonPatchOp[] {
  const { annotations = {} } = object.metadata;
  if (heldBy(object) === undefined) return [];
  return [HELD_BY, annotation].flatMap((key): readonly JsonPatchOp[] => {
    const value = annotations[key];
    if (value === undefined) return [];
    return [
      { op: 'test', path: placeOf(key), value },
      { op: 'remove', path: placeOf(key) },
    ];
  });
}
