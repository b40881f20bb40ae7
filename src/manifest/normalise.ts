import { isRecord } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';
import { LAST_APPLIED } from '../kube/applied-owners.ts';

/** Set by the server on every object: no difference between two states, and in the way when an object is put back. */
export const SERVER_METADATA = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
];

/** Written by the server, by controllers and by tools, never by the user (domain §6.3). */
const MACHINE_ANNOTATIONS = [
  LAST_APPLIED,
  'deprecated.daemonset.template.generation',
  'deployment.kubernetes.io/revision',
  'scheduler.alpha.kubernetes.io/critical-pod',
  'meta.helm.sh/release-name',
  'meta.helm.sh/release-namespace',
];

const RESTARTED = 'kubectl.kubernetes.io/restartedAt';

/** The object without its status and without what servers and tools write into metadata: what two states of it are compared by. */
export function comparable(object: KubeObject): KubeObject {
  const { status: _, ...rest } = object;
  const metadata = cleanAnnotations(without(object.metadata, SERVER_METADATA), MACHINE_ANNOTATIONS);
  return withoutRestart({
    ...rest,
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: { name: object.metadata.name, ...metadata },
  });
}

/** `kubectl rollout restart` leaves the time in the pod template. */
function withoutRestart(object: KubeObject): KubeObject {
  const { spec } = object;
  if (!isRecord(spec) || !isRecord(spec.template) || !isRecord(spec.template.metadata)) return object;
  const metadata = cleanAnnotations(spec.template.metadata, [RESTARTED]);
  return { ...object, spec: { ...spec, template: { ...spec.template, metadata } } };
}

function cleanAnnotations(metadata: Readonly<Record<string, unknown>>, names: readonly string[]): Readonly<Record<string, unknown>> {
  if (!isRecord(metadata.annotations)) return metadata;
  const annotations = without(metadata.annotations, names);
  const { annotations: _, ...rest } = metadata;
  return Object.keys(annotations).length > 0 ? { ...rest, annotations } : rest;
}

function without(record: Readonly<Record<string, unknown>>, names: readonly string[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}
