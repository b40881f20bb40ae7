import type { FieldsV1, KubeObject, ManagedFieldsEntry } from '../../src/kernel/object.ts';

/**
 * A ConfigMap applied client-side with a and b, to which a person added c; the document only says a. Taken from what an API
 * server answered.
 */
export const LAST = 'kubectl.kubernetes.io/last-applied-configuration';
const LAST_FIELDS: FieldsV1 = { 'f:annotations': { '.': {}, [`f:${LAST}`]: {} } };

const entry = (manager: string, operation: string, fieldsV1: FieldsV1, apiVersion = 'v1'): ManagedFieldsEntry => ({
  manager,
  operation,
  apiVersion,
  fieldsType: 'FieldsV1',
  fieldsV1,
});

function configMap(data: Readonly<Record<string, string>>, managedFields: readonly ManagedFieldsEntry[]): KubeObject {
  const metadata = { name: 'm', namespace: 'default', uid: 'u', resourceVersion: '7', annotations: { [LAST]: '{}' }, managedFields };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
}

const person = entry('kubectl-patch', 'Update', { 'f:data': { 'f:c': {} } });

export const document: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'm', namespace: 'default' },
  data: { a: '3' },
};

export const live = configMap({ a: '1', b: '2', c: 'live' }, [
  entry('kubectl-client-side-apply', 'Update', { 'f:data': { '.': {}, 'f:a': {}, 'f:b': {} }, 'f:metadata': LAST_FIELDS }),
  person,
]);

/** The answer to the dry-run apply: b is still there. */
export const applied = configMap({ a: '3', b: '2', c: 'live' }, [
  entry('kubectl', 'Apply', { 'f:data': { 'f:a': {} } }),
  entry('kubectl-client-side-apply', 'Update', { 'f:data': { '.': {}, 'f:b': {} }, 'f:metadata': LAST_FIELDS }),
  person,
]);
