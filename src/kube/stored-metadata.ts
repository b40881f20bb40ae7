import { jsonAt, mapAt, parsedJson } from '../kernel/json.ts';
import type { KubeObject, OwnerReference } from '../kernel/object.ts';
import type { Profile } from '../kernel/profile.ts';

/** What the user gave an object of the v3 API, wherever the release stored it. */
export interface StoredMetadata {
  /** The name that the annotation gives; undefined where it gives none, or where there is no such annotation. */
  readonly name?: string;
  /** True if the object has the annotation: it was written through the service's API. */
  readonly stored: boolean;
  /** When the object of the service was made; earlier than its stored form where that was stored again (host endpoint notes 4). */
  readonly madeAt?: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Without the one in which the service keeps the others. */
  readonly annotations: Readonly<Record<string, string>>;
}

/**
 * Metadata of a stored custom resource: the object's, and over it JSON in the annotation `<group>/metadata`, used from v3.28 on. An
 * annotation that is no JSON object gives nothing, as in the service.
 */
export function storedMetadata(object: KubeObject, apiGroup: string): StoredMetadata {
  const { [`${apiGroup}/metadata`]: text, ...own } = object.metadata.annotations ?? {};
  const { name, creationTimestamp, labels, annotations } = text === undefined ? {} : mapAt(parsedJson(text));
  return {
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof creationTimestamp === 'string' ? { madeAt: creationTimestamp } : {}),
    stored: text !== undefined,
    labels: { ...object.metadata.labels, ...textsOf(labels) },
    annotations: { ...own, ...textsOf(annotations) },
  };
}

/** A stored resource as the v3 API takes it: with all its labels and annotations, without what the server sets. */
export function servedObject(stored: KubeObject, apiGroup: string, name = stored.metadata.name): KubeObject {
  const { labels, annotations } = storedMetadata(stored, apiGroup);
  const { namespace } = stored.metadata;
  const metadata = { name, ...(namespace ? { namespace } : {}), labels, annotations };
  return { apiVersion: `${apiGroup}/v3`, kind: stored.kind, metadata, spec: stored.spec };
}

/**
 * Owners that the annotation of a v3 API object notes, in order; empty if it notes none or is unreadable. Undefined without the annotation:
 * the service's API did not write the object and shows its own list.
 */
export function notedOwners(object: KubeObject, apiGroup: string): readonly OwnerReference[] | undefined {
  const text = object.metadata.annotations?.[`${apiGroup}/metadata`];
  if (text === undefined) return undefined;
  const { ownerReferences } = mapAt(parsedJson(text));
  return Array.isArray(ownerReferences) ? ownerReferences.filter(isReference) : [];
}

function isReference(value: unknown): value is OwnerReference {
  const one = value as Partial<OwnerReference> | null;
  return [one?.apiVersion, one?.kind, one?.name, one?.uid].every((text) => typeof text === 'string');
}

/**
 * Labels that the service's CLI gave a node: JSON in the annotation `<group>/labels` of the Kubernetes node, with the API datastore. If
 * both have a key, the Kubernetes node wins (`mergeCalicoAndK8sLabels` of the service).
 */
export function ownNodeLabels(node: KubeObject, apiGroup: string): StoredMetadata['labels'] {
  return noted(node, nodeLabelsKey(apiGroup));
}

/** The annotation of a Kubernetes node that `ownNodeLabels` reads. */
export const nodeLabelsKey = (apiGroup: string): string => `${apiGroup}/labels`;

/** Labels of a service's node in a key-value store that the controllers copied from the Kubernetes node. */
export function syncedNodeLabels(node: KubeObject, apiGroup: string): StoredMetadata['labels'] {
  return noted(node, `${apiGroup}/kube-labels`);
}

/** A map of texts in an annotation. Anything else gives nothing at all, as with the readers of the service. */
function noted({ metadata: { annotations } }: KubeObject, key: string): StoredMetadata['labels'] {
  const map: unknown = mapAt(parsedJson(annotations?.[key] ?? '{}'));
  const texts = textsOf(map);
  return Object.keys(texts).length === Object.keys(map as object).length ? texts : {};
}

/**
 * The name by which the service knows a stored policy: the annotation's, else what follows the prefix that v3.31 and older store before
 * names of the tier `default`. An object without the annotation keeps its stored name; controllers do not change it.
 */
export function policyName(policy: KubeObject, profile: Pick<Profile, 'apiGroup' | 'policyRenaming'>): string {
  const { name, stored } = storedMetadata(policy, profile.apiGroup);
  const prefix = profile.policyRenaming?.prefix;
  const own = policy.metadata.name;
  if (name !== undefined || !stored || prefix === undefined || !own.startsWith(prefix) || !isOfDefaultTier(policy)) return name ?? own;
  return own.slice(prefix.length);
}

export function isOfDefaultTier(policy: KubeObject): boolean {
  const tier = jsonAt(policy.spec, 'tier');
  return tier === undefined || tier === '' || tier === 'default';
}

/**
 * When the object was made, in whole seconds: by the annotation, else when it was stored. The policy-name migration notes it in its copy
 * (`ConvertCalicoResourceToK8sResource` of the service; host endpoint notes 4).
 */
export function madeAtOf(object: KubeObject, apiGroup: string): string | undefined {
  const { madeAt = '' } = storedMetadata(object, apiGroup);
  const time = [madeAt, object.metadata.creationTimestamp ?? ''].map(Date.parse).find((one) => !Number.isNaN(one));
  return time === undefined ? undefined : new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** The migration's copy keeps the policy's creation time; somebody else's new policy has the time at which it was stored. */
export function isStoredAnew(object: KubeObject, apiGroup: string): boolean {
  const { madeAt = '' } = storedMetadata(object, apiGroup);
  return Date.parse(madeAt) < Date.parse(object.metadata.creationTimestamp ?? '');
}

function textsOf(map: unknown): Readonly<Record<string, string>> {
  if (typeof map !== 'object' || map === null) return {};
  return Object.fromEntries(Object.entries(map).filter((pair): pair is [string, string] => typeof pair[1] === 'string'));
}
