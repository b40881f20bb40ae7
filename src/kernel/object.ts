/** A Kubernetes object as the API server sends it. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
  readonly [field: string]: unknown;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: FieldsV1;
  readonly subresource?: string;
}

export interface FieldsV1 {
  readonly [element: string]: FieldsV1;
}

/** Names one object; the uid, when known, pins the very instance. */
export interface ObjectRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
}

/** A resource of the API: what a URL needs. */
export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** The server has no list of it: what is only ever created, and answered at once (reviews, bindings). */
  readonly unlisted?: true;
}

/** One operation of an RFC 6902 JSON patch. */
export interface JsonPatchOp {
  readonly op: 'add' | 'remove' | 'replace' | 'test';
  readonly path: string;
  readonly value?: unknown;
}

/** Values by JSON pointer; `` is the whole object. A place that is not named is empty. */
export type Places = Readonly<Record<string, unknown>>;

/** What an action changes in one object. An undo puts `before` back where the object is still as `after` says, and names the rest. */
export interface ObjectChange {
  readonly ref: ObjectRef;
  readonly before: Places;
  readonly after: Places;
}

export function apiVersionOf(kind: Pick<Kind, 'group' | 'version'>): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
}

/** The group part of an apiVersion; '' for the core group. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

/** Groups of custom resources have a dot and are not Kubernetes' own. */
export function isCustom(apiVersion: string): boolean {
  const group = groupOf(apiVersion);
  return group.includes('.') && !group.endsWith('.k8s.io');
}

export function refOf(object: KubeObject): ObjectRef {
  const { name, namespace, uid } = object.metadata;
  return { apiVersion: object.apiVersion, kind: object.kind, name, ...(namespace ? { namespace } : {}), ...(uid ? { uid } : {}) };
}

/** The reference alone, where more is known of the object. */
export function plainRef({ apiVersion, kind, namespace, name, uid }: ObjectRef): ObjectRef {
  return { apiVersion, kind, ...(namespace ? { namespace } : {}), name, ...(uid ? { uid } : {}) };
}

/** `DaemonSet/kube-system/calico-node`, `CustomResourceDefinition/tiers…`: for users and for `--accept ID=SUBJECT`. */
export function refText(ref: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>): string {
  return ref.namespace ? `${ref.kind}/${ref.namespace}/${ref.name}` : `${ref.kind}/${ref.name}`;
}

/** Identity within one API version: for what the same program named both times. */
export function refKey({ apiVersion, kind, namespace = '', name }: ObjectRef): string {
  return `${apiVersion}|${kind}|${namespace}|${name}`;
}

/** The name of the CRD of a kind: `ippools.crd.projectcalico.org`. */
export function crdName({ plural, group }: Pick<Kind, 'plural' | 'group'>): string {
  return `${plural}.${group}`;
}

/** Identity across API versions: group, kind, namespace and name. */
export function objectKey(object: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>): string {
  return `${groupOf(object.apiVersion)}|${object.kind}|${object.metadata.namespace ?? ''}|${object.metadata.name}`;
}
