import { K } from '../kernel/kinds.ts';
import { apiVersionOf, type Kind, type KubeObject } from '../kernel/object.ts';
import type { Store } from './store.ts';

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
export function servedKinds(store: Store, more: readonly Kind[] = []): readonly Kind[] {
  return [...builtInKinds, ...more, ...store.list(K.CustomResourceDefinition).flatMap(kindsOfCrd)];
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
