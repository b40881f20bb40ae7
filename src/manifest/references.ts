import { isRecord, type JsonMap } from '../kernel/json.ts';
import { type KubeObject, refOf } from '../kernel/object.ts';
import { stepInto } from '../kube/field-paths.ts';
import { containersIn, identityOf, podSpecOf, recordsIn } from './prepare.ts';
import { fieldOf } from './walk.ts';

type Documents = ReadonlyMap<string, KubeObject>;

/** Something that an object of the result relies on. */
interface Reference {
  /** The object relied on. */
  readonly to: KubeObject;
  /** Path of the very thing within it; '' if the object as a whole. */
  readonly path: string;
  /** Who relies on it, as a sentence. */
  readonly because: string;
  readonly there: (documents: Documents) => boolean;
}

/**
 * What the documents rely on, the target has and the result lacks, each with who relies on it. These are fields to decide, and objects to
 * restore by the name of their conflict.
 */
export function brokenReferences(documents: readonly KubeObject[], theirs: Documents): readonly (readonly [string, string])[] {
  const there = new Map(documents.map((object) => [identityOf(object), object]));
  return referencesOf(documents)
    .filter((one) => !one.there(there) && one.there(theirs))
    .flatMap(({ to, path, because }) => {
      const target = theirs.get(identityOf(to));
      if (!target) return [];
      return [[fieldOf(refOf(target), there.has(identityOf(to)) ? path : ''), because] as const];
    });
}

/** What the documents rely on within the manifest: volumes, configuration, accounts, roles and the accounts' bindings. */
function referencesOf(documents: readonly KubeObject[]): readonly Reference[] {
  return documents.flatMap((object) => {
    const pod = podSpecOf(object);
    if (pod) return [...volumeReferences(object, pod), ...configReferences(object, pod), ...accountReferences(object, pod)];
    return bindingReferences(object);
  });
}

function volumeReferences(object: KubeObject, pod: JsonMap): readonly Reference[] {
  const key = identityOf(object);
  const names = new Set(containersIn(pod).flatMap(({ volumeMounts }) => recordsIn(volumeMounts).map(({ name }) => String(name))));
  return [...names].map((name) => ({
    to: object,
    path: stepInto('spec.template.spec.volumes', name, true),
    because: `A container mounts the volume ${name}.`,
    there: (documents) => recordsIn(podSpecOf(documents.get(key) ?? object)?.volumes).some((volume) => volume.name === name),
  }));
}

function configReferences(object: KubeObject, pod: JsonMap): readonly Reference[] {
  const variables = containersIn(pod).flatMap(({ env }) => recordsIn(env).map(({ valueFrom }) => (isRecord(valueFrom) ? valueFrom : {})));
  return variables.flatMap(({ configMapKeyRef: one }) => {
    if (!isRecord(one) || one.optional === true) return [];
    const key = String(one.key);
    const to = sibling(object, 'v1', 'ConfigMap', String(one.name));
    const there = (documents: Documents) => {
      const data = documents.get(identityOf(to))?.data;
      return isRecord(data) && Object.hasOwn(data, key);
    };
    return [{ to, path: stepInto('data', key), because: `${object.kind} ${object.metadata.name} reads ${key} from it.`, there }];
  });
}

function accountReferences(object: KubeObject, pod: JsonMap): readonly Reference[] {
  if (typeof pod.serviceAccountName !== 'string') return [];
  const account = sibling(object, 'v1', 'ServiceAccount', pod.serviceAccountName);
  return [whole(account, `${object.kind} ${object.metadata.name} runs under it.`)];
}

function bindingReferences(object: KubeObject): readonly Reference[] {
  const { roleRef } = object;
  if (!isRecord(roleRef)) return [];
  const role = sibling(object, 'rbac.authorization.k8s.io/v1', String(roleRef.kind), String(roleRef.name));
  return [whole(role, `${object.kind} ${object.metadata.name} grants it.`)];
}

/** An object in the same namespace; of kinds without one, the namespace does not count. */
function sibling({ metadata: { namespace } }: KubeObject, apiVersion: string, kind: string, name: string): KubeObject {
  return { apiVersion, kind, metadata: { name, ...(namespace ? { namespace } : {}) } };
}

function whole(to: KubeObject, because: string): Reference {
  return { to, path: '', because, there: (documents) => documents.has(identityOf(to)) };
}
