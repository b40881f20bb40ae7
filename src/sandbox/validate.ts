import { isRecord, jsonAt, sameValue } from '../kernel/json.ts';
import type { JsonPatchOp, Kind, KubeObject } from '../kernel/object.ts';
import { ApiFailure } from '../kernel/ports.ts';
import { applyJsonPatch, PatchFailure } from '../manifest/json-patch.ts';
import { podSpecOf, recordsIn } from '../manifest/prepare.ts';
import { resourceText } from './store.ts';

interface Cause {
  readonly field: string;
  readonly message: string;
  readonly reason: string;
}

/** The rules of the real server that upgrades run into: fixed selectors, variables with two sources, long annotations. Throws 422. */
export function validate(kind: Kind, before: KubeObject | undefined, after: KubeObject): void {
  const causes = [...fixedSelector(kind, before, after), ...doubleSources(after), ...longAnnotations(after)];
  if (causes.length === 0) return;
  const list = causes.map(({ field, message }) => `${field}: ${message}`).join(', ');
  throw new ApiFailure(
    422,
    'Invalid',
    `${kind.kind}${kind.group ? `.${kind.group}` : ''} "${after.metadata.name}" is invalid: ${list}`,
    causes,
  );
}

function fixedSelector(kind: Kind, before: KubeObject | undefined, after: KubeObject): readonly Cause[] {
  if (kind.group !== 'apps' || !before || sameValue(jsonAt(before, 'spec', 'selector'), jsonAt(after, 'spec', 'selector'))) return [];
  return [{ field: 'spec.selector', message: 'Invalid value: field is immutable', reason: 'FieldValueInvalid' }];
}

/** Names and values together, in bytes. */
const MOST_ANNOTATIONS = 262_144;

/** A manifest may have the key without a value. */
function longAnnotations({ metadata: { annotations } }: KubeObject): readonly Cause[] {
  const texts = Object.entries(annotations ?? {}).flat();
  if (texts.join('').length <= MOST_ANNOTATIONS) return [];
  const message = `Too long: may not be more than ${MOST_ANNOTATIONS} bytes`;
  return [{ field: 'metadata.annotations', message, reason: 'FieldValueTooLong' }];
}

function doubleSources(object: KubeObject): readonly Cause[] {
  const message = 'Invalid value: "": may not be specified when `value` is not empty';
  return ['initContainers', 'containers'].flatMap((list) =>
    recordsIn(podSpecOf(object)?.[list]).flatMap(({ env }, index) =>
      recordsIn(env).flatMap(({ value, valueFrom }, place) => {
        const field = `spec.template.spec.${list}[${index}].env[${place}].valueFrom`;
        return value && valueFrom !== undefined ? [{ field, message, reason: 'FieldValueInvalid' }] : [];
      }),
    ),
  );
}

/** The wanted object names the very state that it changes: 409 if that is not the live one. */
export function assertPreconditions(kind: Kind, live: KubeObject, { metadata }: KubeObject): void {
  const { name, uid, resourceVersion } = live.metadata;
  if (metadata.name !== name) throw badRequest('the name of the object does not match the name on the URL');
  if (metadata.uid && metadata.uid !== uid) {
    throw conflict(kind, name, `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${uid}`);
  }
  if (metadata.resourceVersion && metadata.resourceVersion !== resourceVersion) {
    throw conflict(kind, name, 'the object has been modified; please apply your changes to the latest version and try again');
  }
}

export function conflict(kind: Kind, name: string, why: string): ApiFailure {
  return new ApiFailure(409, 'Conflict', `Operation cannot be fulfilled on ${resourceText(kind)} "${name}": ${why}`);
}

export function badRequest(why: string): ApiFailure {
  return new ApiFailure(400, 'BadRequest', why);
}

/** RFC 6902. Throws 422 if a test fails or a path is not there. */
export function patched(live: KubeObject, ops: readonly JsonPatchOp[]): KubeObject {
  try {
    return applyJsonPatch(live, ops);
  } catch (thrown) {
    if (thrown instanceof PatchFailure)
      throw new ApiFailure(422, 'Invalid', `the server rejected our request due to an error in our request: ${thrown.message}`);
    throw thrown;
  }
}

/** RFC 7386: `null` removes. */
export function mergePatched(live: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const fields = Object.entries(patch).map(([field, value]) => [field, mergePatched(isRecord(live) ? live[field] : undefined, value)]);
  const all = { ...(isRecord(live) ? live : {}), ...Object.fromEntries(fields) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}

const OF_METADATA = ['labels', 'annotations', 'finalizers', 'ownerReferences'];
const OF_CORE = ['data', 'binaryData', 'stringData'];

/** As the server stores it: of metadata, and of the maps of ConfigMaps and Secrets, an empty one is as good as none. */
export function withoutOmitted(object: KubeObject): KubeObject {
  const metadata = { ...withoutEmpty(object.metadata, OF_METADATA), name: object.metadata.name };
  const rest = object.apiVersion === 'v1' ? withoutEmpty(object, OF_CORE) : object;
  return { ...rest, apiVersion: object.apiVersion, kind: object.kind, metadata };
}

function withoutEmpty(record: Readonly<Record<string, unknown>>, fields: readonly string[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(record).filter(([field, value]) => !fields.includes(field) || !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0;
}
