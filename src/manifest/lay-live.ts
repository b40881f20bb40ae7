import type { Writer } from '../kernel/edit.ts';
import { isRecord, type JsonMap, jsonAt, mapAt } from '../kernel/json.ts';
import { type KubeObject, type ObjectRef, refOf } from '../kernel/object.ts';
import { type FieldOwner, ownersOf, stepsOf } from '../kube/field-paths.ts';
import { itemsByKey } from '../kube/list-keys.ts';
import { KUBECTL } from '../kube/managed-fields.ts';
import { changedFields, fieldAt } from './definition-differences.ts';
import { mergeField } from './merge-fields.ts';
import type { MergeInput, Objects } from './merge-input.ts';
import { asObject, identityOf, prepared, recordsIn } from './prepare.ts';
import { type Difference, layingWalk, type Place, ROOT, type Three } from './walk.ts';

/** A field that was changed in the cluster, and by whom. */
export interface LiveChange {
  /** Identity of the object. */
  readonly object: string;
  readonly path: string;
  readonly manager?: string;
  /** Who stands behind that manager and writes by itself. */
  readonly writer?: Writer;
  /** Not laid over: applying the target leaves it to its writer. */
  readonly left?: Pick<Three, 'base' | 'mine'> & { readonly ref: ObjectRef };
}

const SHARED = ['annotations', 'labels'];

/** Managers behind which no user's single change stands. */
const OWN = new Set([KUBECTL, 'kubectl-client-side-apply']);

/** What was applied, with what was changed in the cluster since laid over it; nothing of it is lost to the file. */
export function layLive(
  { base, applied, theirs }: Readonly<Record<'base' | 'applied' | 'theirs', Objects>>,
  { live = [], writerOf = () => undefined, listRules }: MergeInput,
): { readonly objects: Objects; readonly changes: readonly LiveChange[] } {
  const objects = new Map(applied);
  const changes: LiveChange[] = [];
  for (const { before, now } of live) {
    const object = identityOf(now);
    const file = applied.get(object) ?? base.get(object);
    if (!file) continue;
    const ref = refOf(now);
    const toldBy = ({ path, base: was, mine: is }: Pick<Difference, 'path' | 'base' | 'mine'>): LiveChange => {
      const owner = managerOf(now, path);
      const writer = writerOfChange(now, path, { base: was, mine: is }, writerOf);
      return { object, path, ...(owner === undefined ? {} : { manager: owner }), ...(writer ? { writer } : {}) };
    };
    const leaves = (place: Place, three: Three) => {
      if (!isLeftAlone(place, three.theirs, base.get(object), theirs.get(object))) return false;
      const { base: was, mine: is } = three;
      const change = toldBy({ path: place.path, base: was, mine: is });
      if (change.writer) changes.push({ ...change, left: { ref, base: was, mine: is } });
      return change.writer !== undefined;
    };
    const add = (difference: Difference) => changes.push(toldBy(difference));
    const mine = unallocated(now);
    const three = { base: withMapsOf(mine, unallocated(before)), mine, theirs: file };
    const merged = mergeField({ ...layingWalk(now, listRules, add), leaves }, ROOT, three);
    objects.set(object, asObject({ ...file, ...mapAt(merged), metadata: mapAt(merged, 'metadata') }, file));
  }
  return { objects, changes };
}

/** The first that is no apply of the object itself; scaling with kubectl counts under its name. */
function managerOf({ metadata }: KubeObject, path: string): string | undefined {
  const owners = ownersOf(metadata.managedFields, path);
  return owners.find(({ manager, subresource }) => subresource !== undefined || !OWN.has(manager))?.manager;
}

/** With the maps that users and controllers share, empty where `now` has them: each of their entries is its own change. */
function withMapsOf(now: JsonMap, before: JsonMap): JsonMap {
  const filled = (is: unknown, was: unknown, names: readonly string[]) => {
    const missing = names.filter((name) => isRecord(jsonAt(is, name)) && !(name in mapAt(was)));
    return { ...mapAt(was), ...Object.fromEntries(missing.map((name) => [name, {}])) };
  };
  const metadata = filled(now.metadata, before.metadata, SHARED);
  return { ...filled(now, before, ['data']), metadata };
}

const ALLOCATED = new Set(['clusterIP', 'clusterIPs', 'healthCheckNodePort']);

/** The server writes the name of each Namespace into it, that of a twin under another name too. */
const NAME_LABEL = 'kubernetes.io/metadata.name';

/** Without the API version a request was answered in, and without what the server gives each object of its own: numbers and names. */
function unallocated(object: KubeObject): JsonMap {
  const { apiVersion: _, ...fields } = prepared(object);
  if (object.kind === 'Namespace' && isRecord(fields.metadata.labels)) {
    const { [NAME_LABEL]: _name, ...labels } = fields.metadata.labels;
    return { ...fields, metadata: { ...fields.metadata, labels } };
  }
  if (object.kind !== 'Service' || !isRecord(object.spec)) return fields;
  const spec = Object.fromEntries(Object.entries(object.spec).filter(([name]) => !ALLOCATED.has(name)));
  const ports = recordsIn(spec.ports).map(({ nodePort: _nodePort, ...port }) => port);
  return { ...fields, spec: { ...spec, ports } };
}

type WriterOf = NonNullable<MergeInput['writerOf']>;

/** Who alone wrote a change; undefined if others own a part of it, or nobody is known. */
function writerOfChange(
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

/** True if an apply keeps a controller's field: nothing sets it, and the target dropped nothing it belongs to (domain §6.4). */
function isLeftAlone({ path }: Place, applied: unknown, base: KubeObject | undefined, target: KubeObject | undefined): boolean {
  if (!target || path === '' || !isFree(target, path)) return false;
  return applied === undefined || fieldAt(base, path) !== undefined;
}

/** Nothing is there, and at most the map or list that directly holds it is missing. */
function isFree(target: KubeObject, path: string): boolean {
  let [value, name]: [unknown, string] = [target, ''];
  const steps = stepsOf(path);
  for (const [index, step] of steps.entries()) {
    const isList = Array.isArray(value);
    const items = Array.isArray(value) ? itemsByKey(name, value) : isRecord(value) ? value : undefined;
    // A list that is replaced whole, or another kind of value: the target sets it.
    if (!items) return false;
    const next = items instanceof Map ? items.get(step) : jsonAt(items as JsonMap, step);
    if ((next ?? undefined) === undefined) return steps.length - index <= (isList ? 1 : 2);
    [value, name] = [next, step];
  }
  return false;
}
