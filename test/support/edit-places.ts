import type { KubeObject } from '../../src/kernel/object.ts';
import { podSpecOf, recordsIn, withPodSpec } from '../../src/manifest/prepare.ts';

type Objects = readonly KubeObject[];
export type Fields = Readonly<Record<string, unknown>>;

/** Numbers below `below`, the same for the same seed. */
export type Dice = (below: number) => number;

export function diceOf(seed: number): Dice {
  let state = seed + 0x9e3779b9;
  return (below) => {
    state = Math.imul(state ^ (state >>> 15), state | 1);
    state ^= state + Math.imul(state ^ (state >>> 7), state | 61);
    return ((state ^ (state >>> 14)) >>> 0) % below;
  };
}

export const oneOf = <T>(dice: Dice, items: readonly T[]): T | undefined => items[dice(items.length)];

export function changeOne(
  objects: Objects,
  dice: Dice,
  fits: (one: KubeObject) => boolean,
  change: (one: KubeObject) => KubeObject,
): Objects {
  const chosen = oneOf(
    dice,
    objects.filter((one) => fits(one) && one.kind !== 'CustomResourceDefinition'),
  );
  return objects.map((one) => (one === chosen ? change(one) : one));
}

export function inPod(objects: Objects, dice: Dice, change: (pod: Fields) => Fields): Objects {
  return changeOne(
    objects,
    dice,
    (one) => podSpecOf(one) !== undefined,
    (one) => withPodSpec(one, change(podSpecOf(one) ?? {})),
  );
}

export function inContainer(objects: Objects, dice: Dice, change: (container: Fields) => Fields): Objects {
  return inPod(objects, dice, (pod) => {
    const list = dice(4) === 0 && recordsIn(pod.initContainers).length > 0 ? 'initContainers' : 'containers';
    const chosen = oneOf(dice, recordsIn(pod[list]));
    return { ...pod, [list]: recordsIn(pod[list]).map((one) => (one === chosen ? change(one) : one)) };
  });
}

export function changedAt(dice: Dice, items: readonly Fields[], change: (item: Fields) => Fields): (item: Fields) => Fields {
  const chosen = oneOf(dice, items);
  return (item) => (item === chosen ? change(item) : item);
}

export function without(dice: Dice, items: readonly Fields[]): readonly Fields[] {
  const gone = oneOf(dice, items);
  return items.filter((item) => item !== gone);
}
