import { K } from '../src/core/kinds.ts';
import type { Kind } from '../src/core/object.ts';
import type { Profile } from '../src/core/profile.ts';
import type { DocumentKind, PlanScope } from '../src/stages/needs.ts';

/** Where the lock and the state are unless said: rights on them are a Role there. */
export const STATE_NAMESPACE = 'kube-system';

/** No other namespace in particular: a ClusterRole is for all of them. */
export const anywhere = { stateNamespace: STATE_NAMESPACE, meshed: true };

const ROLES: readonly Kind[] = [K.ClusterRole, K.ClusterRoleBinding, K.Role, K.RoleBinding];
const unplaced = (kinds: readonly Kind[]): readonly DocumentKind[] => kinds.map((kind) => ({ kind }));

/** The operator's manifest, the CRDs, and what `--enable-flow-logs` switches on. */
export function operatorScope(profile: Profile): PlanScope {
  const kinds = [K.Namespace, K.ServiceAccount, K.Deployment, ...ROLES, K.CustomResourceDefinition];
  return { ...anywhere, kvstore: false, documents: unplaced([...kinds, ...resources(profile, profile.operator.flowLogs ?? [])]) };
}

/** The operator's chart, which holds its resources as well, and the CRDs; Secrets in the namespace of the release alone. */
export function chartScope(profile: Profile): PlanScope {
  const { namespace, installationKind, chartNames, end, flowLogs = [] } = profile.operator;
  const written = [K.ServiceAccount, K.ConfigMap, ...ROLES, K.Deployment, K.CustomResourceDefinition];
  const additions = resources(profile, [...flowLogs, ...(chartNames?.additions ?? []).map(({ kind }) => kind)]);
  const own = [...additions, ...resources(profile, [installationKind.kind, ...(end ? [end.api.kind] : [])])];
  // The Installation is not among what may go: with it goes the service.
  const removed = unplaced([K.ServiceAccount, K.ConfigMap, ...ROLES, ...additions]);
  const chart = { namespace, storage: 'Secret', upgraded: false, installed: [], removed } as const;
  return { ...anywhere, kvstore: false, documents: [...unplaced([...written, ...own]), { kind: K.Secret, namespace }], chart };
}

/** Custom resources of the operator; their plurals are as Kubernetes makes them, which a run on a real control plane proves. */
function resources({ operatorGroup: group }: Profile, kinds: readonly string[]): readonly Kind[] {
  return [...new Set(kinds)].map((kind) => ({ group, version: 'v1', kind, plural: `${kind.toLowerCase()}s`, namespaced: false }));
}
