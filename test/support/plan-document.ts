import assert from 'node:assert/strict';
import { type KubeObject, type ObjectRef, refText } from '../../src/kernel/object.ts';
import type { FieldChange, PlannedObject } from '../../src/kernel/plan.ts';
import { changedFields } from '../../src/manifest/definition-differences.ts';
import { comparable } from '../../src/manifest/prepare.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';

/** The objects that a document of `plan -o json` speaks of. */
export function plannedObjects(document: string): readonly PlannedObject[] {
  const { stages } = JSON.parse(document) as { readonly stages: readonly { readonly objects: readonly PlannedObject[] }[] };
  return stages.flatMap((stage) => stage.objects);
}

/** An object as the server has it; undefined if it is not there. */
export async function objectOf(
  { kubectl }: ControlPlane,
  { apiVersion, kind, name, namespace }: ObjectRef,
): Promise<KubeObject | undefined> {
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  const resource = group === '' ? kind : `${kind}.${version}.${group}`;
  const place = namespace === undefined ? [] : ['-n', namespace];
  const { stdout } = await kubectl(['get', resource, name, ...place, '-o', 'json', '--ignore-not-found']);
  return stdout.trim() === '' ? undefined : (JSON.parse(stdout) as KubeObject);
}

type Reader = (ref: ObjectRef) => Promise<KubeObject | undefined>;

/** Does what the document is a plan of, and tells each object that came out otherwise than it says; `read` shows an object as it is. */
export async function surprises(objects: readonly PlannedObject[], read: Reader, act: () => Promise<void>): Promise<readonly unknown[]> {
  const before = await Promise.all(objects.map(({ ref }) => read(ref)));
  await act();
  const after = await Promise.all(objects.map(({ ref }) => read(ref)));
  return objects.map((object, index) => surprise(object, before[index], after[index])).filter((one) => one !== undefined);
}

/** Undefined if it did as said: created, unchanged, or changed in these fields to these values and in no other. */
function surprise({ ref, change, fields }: PlannedObject, before: KubeObject | undefined, after: KubeObject | undefined): unknown {
  const name = refText(ref);
  if (change === 'create') return before === undefined && after !== undefined ? undefined : { name, change, was: before, is: after };
  if (change === 'refused' || !before || !after) return { name, change, was: before, is: after };
  const expected = shown(ref, fields);
  const found = shown(ref, changedFields(comparable(before), comparable(after)));
  try {
    assert.deepEqual(found, expected);
    assert.equal(change === 'update', fields.length > 0);
    return undefined;
  } catch {
    return { name, change, expected, found };
  }
}

/** As it stands in a document, in one order; of a Secret the places alone. */
function shown({ kind }: ObjectRef, fields: readonly FieldChange[]): unknown {
  const sorted = fields.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return JSON.parse(JSON.stringify(kind === 'Secret' ? sorted.map(({ path }) => path) : sorted));
}
