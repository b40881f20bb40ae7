import { mapAt } from '../kernel/json.ts';
import { K } from '../kernel/kinds.ts';
import { apiVersionOf, type JsonPatchOp, type Kind, type KubeObject, type ObjectRef } from '../kernel/object.ts';
import { ApiFailure, type Clock } from '../kernel/ports.ts';
import type { ApiFaults } from './api-faults.ts';
import { appliedServerSide, ownedByUpdate } from './apply.ts';
import { hasOwnStatus, notFound, resourceText, type Store, withCrdStatus } from './store.ts';
import { assertPreconditions, badRequest, conflict, mergePatched, patched, validate, withoutOmitted } from './validate.ts';

export interface RegistryDeps {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  readonly faults: ApiFaults;
}

export interface WriteOptions {
  readonly manager: string;
  readonly dryRun?: boolean;
}

/** Writes as the API server takes them: preconditions, ownership, validation; a dry run answers the same and stores nothing. */
export class Registry {
  readonly #deps: RegistryDeps;

  constructor(deps: RegistryDeps) {
    this.#deps = deps;
  }

  create(kind: Kind, object: KubeObject, options: WriteOptions): KubeObject {
    return this.#write(`create ${resourceText(kind)}`, options, () => {
      if (object.metadata.resourceVersion) throw badRequest('resourceVersion should not be set on objects to be created');
      const placed = this.#placed(kind, object);
      this.#namespace(kind, placed);
      admit(this.#deps.store, kind, placed);
      return this.#store(kind, undefined, this.#owned(kind, undefined, placed, options), options);
    });
  }

  /** PUT. */
  replace(kind: Kind, object: KubeObject, options: WriteOptions): KubeObject {
    return this.#write(`update ${resourceText(kind)}`, options, () => {
      const wanted = this.#placed(kind, object);
      const live = this.#live(kind, wanted.metadata);
      assertPreconditions(kind, live, wanted);
      return this.#store(kind, live, this.#owned(kind, live, wanted, options), options);
    });
  }

  jsonPatch(kind: Kind, ref: ObjectRef, patch: readonly JsonPatchOp[], options: WriteOptions): KubeObject {
    const pin: readonly JsonPatchOp[] = ref.uid ? [{ op: 'test', path: '/metadata/uid', value: ref.uid }] : [];
    return this.#patch(kind, ref, (live) => patched(live, [...pin, ...patch]), options);
  }

  mergePatch(kind: Kind, ref: ObjectRef, patch: unknown, options: WriteOptions): KubeObject {
    return this.#patch(kind, ref, (live) => mergePatched(live, patch) as KubeObject, options);
  }

  /** With force; makes the object if it is not there. */
  apply(kind: Kind, document: KubeObject, options: WriteOptions): KubeObject {
    return this.#write(`patch ${resourceText(kind)}`, options, () => {
      if (document.metadata.managedFields) throw badRequest('metadata.managedFields must be nil');
      const { status: _, ...withoutStatus } = this.#placed(kind, document);
      const wanted = (hasOwnStatus(kind) ? withoutStatus : this.#placed(kind, document)) as KubeObject;
      this.#namespace(kind, wanted);
      const live = this.#deps.store.get(kind, wanted.metadata.name, wanted.metadata.namespace);
      if (live) assertPreconditions(kind, live, wanted);
      const applied = appliedServerSide(kind, live, wanted, { manager: options.manager, now: this.#deps.clock.now() });
      return this.#store(kind, live, applied, options);
    });
  }

  remove(kind: Kind, ref: ObjectRef, version?: string): void {
    this.#write(`delete ${resourceText(kind)}`, { manager: '' }, () => {
      const live = this.#live(kind, ref);
      if (ref.uid && ref.uid !== live.metadata.uid) throw conflict(kind, ref.name, `Precondition failed: UID in precondition: ${ref.uid}`);
      if (version && version !== live.metadata.resourceVersion)
        throw conflict(kind, ref.name, `Precondition failed: ResourceVersion in precondition: ${version}`);
      this.#deps.store.delete(kind, ref.name, live.metadata.namespace);
    });
  }

  #patch(kind: Kind, ref: ObjectRef, change: (live: KubeObject) => KubeObject, options: WriteOptions): KubeObject {
    return this.#write(`patch ${resourceText(kind)}`, options, () => {
      const live = this.#live(kind, ref);
      const wanted = change(live);
      assertPreconditions(kind, live, wanted);
      return this.#store(kind, live, this.#owned(kind, live, wanted, options), options);
    });
  }

  #write<T>(what: string, { dryRun }: WriteOptions, work: () => T): T {
    const { faults } = this.#deps;
    if (!dryRun) return faults.write(what, work);
    faults.alive();
    return work();
  }

  #live(kind: Kind, { name, namespace }: Pick<ObjectRef, 'name' | 'namespace'>): KubeObject {
    const live = this.#deps.store.get(kind, name, namespace);
    if (!live) throw notFound(kind, name);
    return live;
  }

  #owned(kind: Kind, live: KubeObject | undefined, wanted: KubeObject, { manager }: WriteOptions): KubeObject {
    return ownedByUpdate(kind, live, withoutOmitted(withStatusOf(kind, live, wanted)), { manager, now: this.#deps.clock.now() });
  }

  #store(kind: Kind, live: KubeObject | undefined, wanted: KubeObject, { dryRun }: WriteOptions): KubeObject {
    const { store } = this.#deps;
    const kept = withoutOmitted(withStatusOf(kind, live, wanted));
    validate(kind, live, kept);
    const whole = kind.plural === K.CustomResourceDefinition.plural ? withCrdStatus(kept) : kept;
    if (dryRun) return live ? store.changed(kind, live, whole) : withoutVersion(store.born(kind, whole));
    return live ? store.update(kind, whole) : store.insert(kind, whole);
  }

  #namespace(kind: Kind, { metadata }: KubeObject): void {
    const { namespace } = metadata;
    if (namespace && !this.#deps.store.get(K.Namespace, namespace)) throw notFound(K.Namespace, namespace);
    if (!namespace && kind.namespaced) throw badRequest('a namespace is needed');
  }

  #placed(kind: Kind, object: KubeObject): KubeObject {
    const { namespace, ...metadata } = object.metadata;
    const place = kind.namespaced ? { namespace: namespace ?? 'default' } : {};
    return { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { ...metadata, ...place } };
  }
}

/** What clients say about the status of a built-in object does not count. */
function withStatusOf(kind: Kind, live: KubeObject | undefined, wanted: KubeObject): KubeObject {
  if (!hasOwnStatus(kind) || !live) return wanted;
  const { status: _, ...rest } = wanted;
  return (live.status === undefined ? rest : { ...rest, status: live.status }) as KubeObject;
}

function withoutVersion(object: KubeObject): KubeObject {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Pod security admission as far as agents run into it: only the level privileged admits the network of the host. Throws 403. */
function admit(store: Store, kind: Kind, { metadata, spec }: KubeObject): void {
  if (kind.plural !== K.Pod.plural || mapAt(spec).hostNetwork !== true) return;
  const { labels = {} } = store.get(K.Namespace, metadata.namespace ?? 'default')?.metadata ?? {};
  const level = labels['pod-security.kubernetes.io/enforce'] ?? 'privileged';
  if (level === 'privileged') return;
  const why = `violates PodSecurity "${level}:latest": host namespaces (hostNetwork=true)`;
  throw new ApiFailure(403, 'Forbidden', `${resourceText(kind)} "${metadata.name}" is forbidden: ${why}`);
}
