import { type KubeObject, objectKey } from '../core/object.ts';
import { isNoise } from './edits.ts';
import { changedFields } from './fields.ts';
import { comparable } from './normalise.ts';

/** What a person has, by `objectKey`; undefined where they do without an object that the target has. */
export type OwnObjects = ReadonlyMap<string, KubeObject | undefined>;

/**
 * How far a person's objects are from a release's: the fields in which they differ; an object that only one side has counts
 * once. Tags of images do not count; CRDs do, because they tell releases apart where workloads do not.
 */
export function distanceBetween(release: readonly KubeObject[], own: OwnObjects): number {
  const theirs = new Map(release.map((object) => [objectKey(object), object]));
  return [...own].reduce((sum, [key, mine]) => sum + differences(theirs.get(key), mine), 0);
}

function differences(theirs: KubeObject | undefined, mine: KubeObject | undefined): number {
  if (!theirs || !mine) return theirs || mine ? 1 : 0;
  return changedFields(comparable(theirs), comparable(mine)).filter((change) => !isNoise(change)).length;
}
