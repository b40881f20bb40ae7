import { isRecord, mapAt, sameValue } from '../kernel/json.ts';
import { K } from '../kernel/kinds.ts';
import { apiVersionOf, type Kind, type KubeObject } from '../kernel/object.ts';
import { ApiFailure, type Clock } from '../kernel/ports.ts';

export interface Change {
  readonly kind: Kind;
  readonly before?: KubeObject;
  readonly after?: KubeObject;
}

type Listener = (change: Change) => void;

/** Objects as etcd and the registry keep them: identity, versions and generations; who may write what is decided elsewhere. */
export class Store {
  readonly #clock: Pick<Clock, 'now'>;
  /** By resource, then by namespace and name. */
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #listeners = new Set<Listener>();
  #version = 0;
  #born = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  get(kind: Kind, name: string, namespace?: string): KubeObject | undefined {
    const object = this.#of(kind).get(keyOf(kind, name, namespace));
    return object && { ...object, apiVersion: apiVersionOf(kind) };
  }

  /** In the order of namespace and name, as the server lists. */
  list(kind: Kind): readonly KubeObject[] {
    const apiVersion = apiVersionOf(kind);
    const found = [...this.#of(kind)];
    return found.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => ({ ...object, apiVersion }));
  }

  #of(kind: Kind): Map<string, KubeObject> {
    const name = resourceText(kind);
    const known = this.#objects.get(name) ?? new Map<string, KubeObject>();
    this.#objects.set(name, known);
    return known;
  }

  /** Tells every change, after it has been stored; returns how to stop. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** A new object as it would be stored. Throws 409 AlreadyExists. */
  born(kind: Kind, object: KubeObject): KubeObject {
    const { name, namespace } = object.metadata;
    if (this.#of(kind).has(keyOf(kind, name, namespace)))
      throw new ApiFailure(409, 'AlreadyExists', `${resourceText(kind)} "${name}" already exists`);
    const metadata = {
      ...object.metadata,
      uid: `00000000-0000-4000-8000-${String(this.#born + 1).padStart(12, '0')}`,
      creationTimestamp: this.#timestamp(),
      ...(hasGeneration(kind, object) ? { generation: 1 } : {}),
    };
    return withTemplates(kind, undefined, { ...object, metadata: { ...metadata, resourceVersion: String(this.#version + 1) } });
  }

  insert(kind: Kind, object: KubeObject): KubeObject {
    const made = this.born(kind, object);
    this.#born += 1;
    return this.#set(kind, undefined, made);
  }

  /** An existing object as it would be stored: server's identity, generation +1 if more than metadata and status changes. */
  changed(kind: Kind, before: KubeObject, wanted: KubeObject): KubeObject {
    const { uid, creationTimestamp, generation, resourceVersion, deletionTimestamp } = before.metadata;
    const isSame = sameValue(bodyOf(kind, before), bodyOf(kind, wanted));
    const next = generation !== undefined && !isSame ? generation + 1 : generation;
    const identity = {
      uid,
      creationTimestamp,
      resourceVersion,
      ...(next === undefined ? {} : { generation: next }),
      ...(deletionTimestamp ? { deletionTimestamp } : {}),
    };
    const { generation: _, ...metadata } = wanted.metadata;
    const named = { ...wanted, apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { ...metadata, ...identity } };
    const after = withTemplates(kind, before, named);
    return sameButTimes(before, after) ? before : after;
  }

  /** Stores what `changed` says; a write without a difference keeps the resourceVersion. Undefined objects are 404. */
  update(kind: Kind, wanted: KubeObject): KubeObject {
    const { name, namespace } = wanted.metadata;
    const before = this.get(kind, name, namespace);
    if (!before) throw notFound(kind, name);
    const after = this.changed(kind, before, wanted);
    return after === before ? before : this.#set(kind, before, after);
  }

  /** Sets only the given metadata that the server itself writes: a deletion under way. */
  markDeleted(kind: Kind, object: KubeObject): void {
    if (object.metadata.deletionTimestamp) return;
    this.#set(kind, object, { ...object, metadata: { ...object.metadata, deletionTimestamp: this.#timestamp() } });
  }

  delete(kind: Kind, name: string, namespace?: string): void {
    const before = this.get(kind, name, namespace);
    if (!before) throw notFound(kind, name);
    this.#of(kind).delete(keyOf(kind, name, namespace));
    this.#version += 1;
    this.#tell({ kind, before });
  }

  #set(kind: Kind, before: KubeObject | undefined, object: KubeObject): KubeObject {
    this.#version += 1;
    const after = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
    this.#of(kind).set(keyOf(kind, after.metadata.name, after.metadata.namespace), after);
    this.#tell({ kind, after, ...(before ? { before } : {}) });
    return after;
  }

  #tell(change: Change): void {
    for (const listener of [...this.#listeners]) listener(change);
  }

  #timestamp(): string {
    return this.#clock.now().toISOString().replace(/\.\d+/, '');
  }
}

/** `daemonsets.apps`, as the server names a resource in its messages. */
export function resourceText(kind: Kind): string {
  return kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;
}

export function notFound(kind: Kind, name: string): ApiFailure {
  return new ApiFailure(404, 'NotFound', `${resourceText(kind)} "${name}" not found`);
}

function keyOf(kind: Kind, name: string, namespace: string | undefined): string {
  return `${kind.namespaced ? (namespace ?? 'default') : ''}|${name}`;
}

/** Nodes, namespaces and leases have a spec but no generation. */
function hasGeneration(kind: Kind, object: KubeObject): boolean {
  return 'spec' in object && !['', 'coordination.k8s.io'].includes(kind.group);
}

/** Of a Deployment the annotations count, too: its controller copies them to ReplicaSets. */
function bodyOf(kind: Kind, { metadata, status: _, apiVersion: __, ...body }: KubeObject): unknown {
  return kind.plural === K.Deployment.plural ? { ...body, annotations: metadata.annotations ?? {} } : body;
}

/** Where the server counts the templates of a DaemonSet. */
export const TEMPLATES = 'deprecated.daemonset.template.generation';

function withTemplates(kind: Kind, before: KubeObject | undefined, object: KubeObject): KubeObject {
  if (kind.plural !== K.DaemonSet.plural) return object;
  const count = Number(before?.metadata.annotations?.[TEMPLATES] ?? 0);
  const isSame = before !== undefined && sameJson(mapAt(before.spec).template, mapAt(object.spec).template);
  const annotations = { ...object.metadata.annotations, [TEMPLATES]: String(isSame ? count : count + 1) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** The times in managedFields alone are no change. */
function sameButTimes(a: KubeObject, b: KubeObject): boolean {
  return sameJson(withoutTimes(a), withoutTimes(b));
}

function withoutTimes(object: KubeObject): unknown {
  const managedFields = object.metadata.managedFields?.map(({ time: _, ...entry }) => entry);
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

/** Alike as JSON: a member that is undefined is none. What both share is not looked into. */
function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  if (!isRecord(a) || !isRecord(b)) return false;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => sameJson(a[key], b[key]));
}

interface CrdShape {
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: { readonly kind: string; readonly plural: string };
    readonly versions: readonly { readonly name: string; readonly served: boolean; readonly storage: boolean }[];
  };
  readonly status?: { readonly storedVersions?: readonly string[] };
}

const { SelfSubjectAccessReview: _, ...listable } = K;

/** Resources that a server of this release has without any CRD, as far as they are played here. */
export const builtInKinds: readonly Kind[] = Object.values(listable);

/** Every served resource; of a CRD's versions the stored one first. */
export function servedKinds(store: Store): readonly Kind[] {
  return [...builtInKinds, ...store.list(K.CustomResourceDefinition).flatMap(kindsOfCrd)];
}

function kindsOfCrd(crd: KubeObject): readonly Kind[] {
  const { group, scope, names, versions } = (crd as unknown as CrdShape).spec;
  const served = versions.filter((version) => version.served).sort((a, b) => Number(b.storage) - Number(a.storage));
  return served.map(({ name }) => ({ group, version: name, kind: names.kind, plural: names.plural, namespaced: scope === 'Namespaced' }));
}

export function findKind(kinds: readonly Kind[], apiVersion: string, kind: string): Kind | undefined {
  return kinds.find((one) => apiVersionOf(one) === apiVersion && one.kind === kind);
}

/** What the server adds to a CRD: served at once, and every version that was ever stored. */
export function withCrdStatus(crd: KubeObject): KubeObject {
  const { spec, status } = crd as unknown as CrdShape;
  const storage = spec.versions.find((version) => version.storage)?.name ?? '';
  const storedVersions = [...new Set([...(status?.storedVersions ?? []), storage])];
  const conditions = ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True', reason: type }));
  return { ...crd, status: { acceptedNames: spec.names, conditions, storedVersions } };
}

/** True for resources whose status clients cannot write with the object itself. */
export function hasOwnStatus(kind: Kind): boolean {
  return builtInKinds.some((one) => one.group === kind.group && one.plural === kind.plural);
}
