import { isRecord } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';

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
