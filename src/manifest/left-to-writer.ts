import type { Writer } from '../kernel/edit-trace.ts';
import { isRecord, ownField } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';
import { type FieldOwner, ownersOf } from '../kube/field-owners.ts';
import { stepsOf } from '../kube/field-paths.ts';
import { itemsByKey } from '../kube/list-keys.ts';
import { changedFields, fieldAt } from './definition-differences.ts';
import type { MergeInput } from './merge-input.ts';
import type { Place, Three } from './walk.ts';

type WriterOf = NonNullable<MergeInput['writerOf']>;

/** Who alone wrote what changed at a place; undefined if anybody else owns a part of it, or nobody is known to. */
export function writerOfChange(
  { metadata }: KubeObject,
  path: string,
  { base, mine }: Pick<Three, 'base' | 'mine'>,
  writerOf: WriterOf,
): Writer | undefined {
  if (mine === undefined) return undefined;
  const leaves = changedFields(base, mine).map((leaf) => joined(path, leaf.path));
  const owners = leaves.map((leaf) => ownersOf(metadata.managedFields, leaf));
  const writers = owners.flat().map((owner: FieldOwner) => writerOf(owner));
  return owners.every(({ length }) => length > 0) && writers.every((one) => one !== undefined) ? writers[0] : undefined;
}

function joined(path: string, inner: string): string {
  return inner === '' || inner.startsWith('[') || path === '' ? `${path}${inner}` : `${path}.${inner}`;
}

interface States {
  /** The release's own object, where it has one. */
  readonly base: KubeObject | undefined;
  /** The target's. */
  readonly target: KubeObject | undefined;
}

/**
 * True if applying the target leaves a controller's field alone: the target does not say it and it goes with nothing that the
 * target dropped (domain §6.4), and no edit of the user's own would say it either.
 */
export function isLeftAlone({ path }: Place, { theirs: applied }: Three, { base, target }: States): boolean {
  if (!target || path === '' || !isFree(target, path)) return false;
  return applied === undefined || fieldAt(base, path) !== undefined;
}

/** Nothing is there, and what would hold it is: or at least nothing else is missing than the map or list that holds it directly. */
function isFree(target: KubeObject, path: string): boolean {
  let [value, name]: [unknown, string] = [target, ''];
  const steps = stepsOf(path);
  for (const [index, step] of steps.entries()) {
    const isList = Array.isArray(value);
    const items = Array.isArray(value) ? itemsByKey(name, value) : isRecord(value) ? value : undefined;
    // A list that is replaced whole, or another kind of value: the target says it.
    if (!items) return false;
    const next = items instanceof Map ? items.get(step) : ownField(items as Readonly<Record<string, unknown>>, step);
    if ((next ?? undefined) === undefined) return steps.length - index <= (isList ? 1 : 2);
    [value, name] = [next, step];
  }
  return false;
}
