import { isRecord, pointerSteps, pointerTo, sameValue } from '../kernel/json.ts';
import type { JsonPatchOp, KubeObject } from '../kernel/object.ts';

const METADATA = ['labels', 'annotations', 'finalizers', 'ownerReferences'];
const UNTOUCHED = new Set(['apiVersion', 'kind', 'metadata', 'status']);

/**
 * A patch that makes the live object the wanted one: top-level fields and metadata maps as a whole, with the wanted resourceVersion as
 * precondition. Server fields (status, uid, managedFields …) do not change.
 */
export function diffPatch(live: KubeObject, wanted: KubeObject): readonly JsonPatchOp[] {
  const { resourceVersion } = wanted.metadata;
  const version: readonly JsonPatchOp[] =
    resourceVersion === undefined ? [] : [{ op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion }];
  const fields = [...new Set([...Object.keys(live), ...Object.keys(wanted)])].filter((field) => !UNTOUCHED.has(field));
  return [
    ...version,
    ...METADATA.flatMap((field) => setField(live.metadata[field], wanted.metadata[field], `/metadata/${field}`)),
    ...fields.flatMap((field) => setField(live[field], wanted[field], pointerTo(field))),
  ];
}

function setField(before: unknown, after: unknown, path: string): readonly JsonPatchOp[] {
  if (sameValue(before, after)) return [];
  return [after === undefined ? { op: 'remove', path } : { op: 'add', path, value: after }];
}

/** A patch cannot be applied to this object: a `test` failed or a path is not there. */
export class PatchFailure extends Error {
  readonly op: JsonPatchOp;

  constructor(op: JsonPatchOp, why: string) {
    super(`the patch cannot be applied: ${op.op} ${op.path}: ${why}`);
    this.name = 'PatchFailure';
    this.op = op;
  }
}

/** Applies a JSON patch (RFC 6902: add, remove, replace, test) to a copy. Throws PatchFailure and then nothing is changed. */
export function applyJsonPatch<T>(object: T, ops: readonly JsonPatchOp[]): T {
  return ops.reduce<T>((state, op) => applyOne(state, op) as T, object);
}

function applyOne(object: unknown, op: JsonPatchOp): unknown {
  if (op.path !== '' && !op.path.startsWith('/')) throw new PatchFailure(op, 'not a JSON pointer');
  return change(object, pointerSteps(op.path), op);
}

/** Copies along the path only; the rest is shared with the original. */
function change(value: unknown, steps: readonly string[], op: JsonPatchOp): unknown {
  const [step, ...rest] = steps;
  if (step === undefined) return whole(value, op);
  if (Array.isArray(value)) return changeList(value, step, rest, op);
  if (!isRecord(value)) throw new PatchFailure(op, 'there is nothing at that path');
  const there = Object.hasOwn(value, step);
  // As the API server does (json-patch v4): a missing last step passes a test for null.
  if (!there && rest.length === 0 && op.op === 'test' && op.value === null) return value;
  if (!there && (rest.length > 0 || op.op !== 'add')) throw new PatchFailure(op, 'there is nothing at that path');
  if (rest.length === 0 && op.op === 'remove') return Object.fromEntries(Object.entries(value).filter(([name]) => name !== step));
  return Object.fromEntries([...Object.entries(value), [step, change(value[step], rest, op)]]);
}

function changeList(list: readonly unknown[], step: string, rest: readonly string[], op: JsonPatchOp): unknown {
  const adds = rest.length === 0 && op.op === 'add';
  const index = step === '-' && adds ? list.length : /^(0|[1-9]\d*)$/.test(step) ? Number(step) : -1;
  if (index < 0 || index >= list.length + (adds ? 1 : 0)) throw new PatchFailure(op, 'the list has no such item');
  if (adds) return list.toSpliced(index, 0, op.value);
  if (rest.length === 0 && op.op === 'remove') return list.toSpliced(index, 1);
  return list.with(index, change(list[index], rest, op));
}

function whole(value: unknown, op: JsonPatchOp): unknown {
  if (op.op === 'test') {
    if (!sameValue(value, op.value)) throw new PatchFailure(op, 'the value is another one');
    return value;
  }
  if (op.op === 'remove') throw new PatchFailure(op, 'a whole object cannot be removed');
  return op.value;
}
