import { isRecord, type JsonMap, jsonAt, mapAt } from '../kernel/json.ts';
import type { KubeObject, ObjectRef } from '../kernel/object.ts';
import type { MergeKnowledge } from '../kernel/profile.ts';
import { LAST_APPLIED } from '../kube/managed-fields.ts';

/** Kinds whose group changed over the years; the objects stayed the same ones. */
const GROUPS: Readonly<Record<string, string>> = {
  'extensions|DaemonSet': 'apps',
  'extensions|Deployment': 'apps',
  'extensions|NetworkPolicy': 'networking.k8s.io',
  'extensions|Ingress': 'networking.k8s.io',
  'extensions|PodSecurityPolicy': 'policy',
};

const WITHOUT_NAMESPACE = new Set([
  'ClusterRole',
  'ClusterRoleBinding',
  'CustomResourceDefinition',
  'PodSecurityPolicy',
  'PriorityClass',
  'Namespace',
  'StorageClass',
  'CSIDriver',
  'APIService',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
]);

/** Names an object across API versions, moved groups and a namespace that was left out. */
export function identityOf({ apiVersion, kind, metadata }: KubeObject): string {
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  const namespace = WITHOUT_NAMESPACE.has(kind) ? '' : (metadata.namespace ?? 'default');
  return [GROUPS[`${group}|${kind}`] ?? group, kind, namespace, metadata.name].join('|');
}

/** The same of what only names an object. */
export function identityOfRef({ apiVersion, kind, name, namespace }: ObjectRef): string {
  return identityOf({ apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } });
}

/** Without what servers and tools write, without nulls, variables as text and once each: what can be merged. */
export function prepared(object: KubeObject, note?: (text: string) => void): KubeObject {
  const clean = tidy(comparable(object), '', note);
  const ready = isRecord(clean) ? clean : {};
  const data = isRecord(ready.data) && object.kind === 'ConfigMap' ? { data: asTexts(ready.data) } : {};
  return { ...ready, ...data, apiVersion: object.apiVersion, kind: object.kind, metadata: { ...comparable(object).metadata } };
}

/** A merged value under the identity of an object. */
export function asObject(value: unknown, { apiVersion, kind, metadata: { name } }: KubeObject): KubeObject {
  return { ...mapAt(value), apiVersion, kind, metadata: { ...mapAt(value, 'metadata'), name } };
}

function tidy(value: unknown, name: string, note?: (text: string) => void): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => tidy(item, '', note));
    return name === 'env' ? onceEach(items, note) : items;
  }
  if (!isRecord(value)) return value;
  // In one pass: all definitions of a release are a hundred thousand fields.
  const fields: (readonly [string, unknown])[] = [];
  for (const field of Object.keys(value)) {
    const inner = value[field];
    if (inner !== null && inner !== undefined) fields.push([field, tidy(inner, field, note)]);
  }
  return Object.fromEntries(fields);
}

/** Of a variable that is there twice the last one counts; a server-side apply refuses both. */
function onceEach(items: readonly unknown[], note?: (text: string) => void): readonly unknown[] {
  const named = new Map<unknown, unknown>();
  for (const item of items) {
    const name = isRecord(item) ? item.name : item;
    if (named.has(name)) note?.(`The variable ${String(name)} is there twice; the last one counts.`);
    named.set(name, isRecord(item) && isScalar(item.value) ? { ...item, value: String(item.value) } : item);
  }
  return [...named.values()];
}

function isScalar(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'boolean';
}

function asTexts(data: JsonMap): JsonMap {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, isScalar(value) ? String(value) : value]));
}

type Renames = MergeKnowledge['renames'];

/** The items that the target has under a new name and `object` still under the old one. */
function activeRenames(object: KubeObject, theirs: KubeObject, renames: Renames): Renames {
  const [pod, target] = [podSpecOf(object), podSpecOf(theirs)];
  if (!pod || !target) return [];
  return renames.filter(({ list, from, to }) => hasItem(pod, list, from) && hasItem(target, list, to) && !hasItem(target, list, from));
}

/** Paths, by the target's names, of renamed items that the user had removed under the old name. */
export function removedAcrossRename(base: KubeObject, mine: KubeObject, theirs: KubeObject, renames: Renames): readonly string[] {
  const kept = new Set(activeRenames(mine, theirs, renames));
  const gone = activeRenames(base, theirs, renames).filter((one) => !kept.has(one));
  return gone.map(({ list, to }) => `spec.template.spec.${list}[${to}]`);
}

/** The base's or the user's object with the target's names, so that an edit finds its place. */
export function renamed(object: KubeObject, theirs: KubeObject, renames: Renames): KubeObject {
  const active = activeRenames(object, theirs, renames);
  const pod = podSpecOf(object);
  return pod && active.length > 0 ? withPodSpec(object, active.reduce(withName, pod)) : object;
}

/** The same of a path within the object. */
export function renamedPath(path: string, object: KubeObject, theirs: KubeObject, renames: Renames): string {
  return activeRenames(object, theirs, renames).reduce((named, { list, from, to }) => {
    const [was, is] = [from, to].map((name) => `spec.template.spec.${list}[${name}]`);
    return was !== undefined && named.startsWith(was) ? `${is}${named.slice(was.length)}` : named;
  }, path);
}

/** The pod template's specification of a workload. */
export function podSpecOf({ spec }: KubeObject): JsonMap | undefined {
  const pod = jsonAt(spec, 'template', 'spec');
  return isRecord(pod) ? pod : undefined;
}

export function withPodSpec(object: KubeObject, pod: JsonMap): KubeObject {
  return { ...object, spec: { ...mapAt(object.spec), template: { ...mapAt(object.spec, 'template'), spec: pod } } };
}

/** The records of a list; nothing else in it. */
export function recordsIn(list: unknown): readonly JsonMap[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

export const CONTAINERS = ['initContainers', 'containers'] as const;

/** Those of a pod's specification. */
export function containersIn(pod: JsonMap | undefined): readonly JsonMap[] {
  return CONTAINERS.flatMap((list) => recordsIn(pod?.[list]));
}

function hasItem(pod: JsonMap, list: string, name: string): boolean {
  return recordsIn(pod[list]).some((item) => item.name === name);
}

function withName(pod: JsonMap, { list, from, to }: Renames[number]): JsonMap {
  const put = (items: unknown) => recordsIn(items).map((item) => (item.name === from ? { ...item, name: to } : item));
  const changed = { ...pod, [list]: put(pod[list]) };
  if (list !== 'volumes') return changed;
  const remount = (items: unknown) =>
    recordsIn(items).map((item) => (item.volumeMounts ? { ...item, volumeMounts: put(item.volumeMounts) } : item));
  const inits = pod.initContainers ? { initContainers: remount(pod.initContainers) } : {};
  return { ...changed, ...inits, containers: remount(pod.containers) };
}

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

/** The object as a file that `kubectl apply` or `create` takes back. */
export function restorable(object: KubeObject): KubeObject {
  const { status: _, ...rest } = object;
  return { ...rest, metadata: without(object.metadata, SERVER_METADATA) } as KubeObject;
}

/** `kubectl rollout restart` leaves the time in the pod template. */
function withoutRestart(object: KubeObject): KubeObject {
  const before = jsonAt(object.spec, 'template', 'metadata');
  if (!isRecord(before)) return object;
  const metadata = cleanAnnotations(before, [RESTARTED]);
  return { ...object, spec: { ...mapAt(object.spec), template: { ...mapAt(object.spec, 'template'), metadata } } };
}

function cleanAnnotations(metadata: JsonMap, names: readonly string[]): JsonMap {
  if (!isRecord(metadata.annotations)) return metadata;
  const annotations = without(metadata.annotations, names);
  const { annotations: _, ...rest } = metadata;
  return Object.keys(annotations).length > 0 ? { ...rest, annotations } : rest;
}

function without(record: JsonMap, names: readonly string[]): JsonMap {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}
