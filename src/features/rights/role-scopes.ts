import { K } from '../../kernel/kinds.ts';
import { groupOf, type Kind, type KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { type DocumentKind, documentKinds, type PlanScope } from './needs.ts';
import { type Permission, roleRules } from './permission.ts';

/** No other namespace in particular: a ClusterRole is for all of them. */
export const anywhere = { meshed: true };

/** Any manifest install: documents of every kind that one holds. */
export function manifestScope(): PlanScope {
  return { ...anywhere, operated: false, documents: documentKinds };
}

/** The install of these documents: kinds with their names. Of a custom resource the plural is as Kubernetes makes it. */
export function scopeOf(documents: readonly KubeObject[]): PlanScope {
  const alike = Map.groupBy(documents, ({ apiVersion, kind, metadata }) => `${apiVersion}|${kind}|${metadata.namespace ?? ''}`);
  const kinds = [...alike.values()].flatMap(([first, ...rest]): readonly DocumentKind[] => {
    if (!first) return [];
    const { namespace } = first.metadata;
    return [{ kind: kindOf(first), names: [first, ...rest].map(({ metadata }) => metadata.name), ...(namespace ? { namespace } : {}) }];
  });
  return { ...anywhere, documents: kinds };
}

function kindOf({ apiVersion, kind }: KubeObject): Kind {
  const group = groupOf(apiVersion);
  const known = documentKinds.find(({ kind: one }) => one.kind === kind && one.group === group)?.kind;
  return (
    known ?? { group, version: apiVersion.slice(apiVersion.indexOf('/') + 1), kind, plural: `${kind.toLowerCase()}s`, namespaced: true }
  );
}

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

/** Without what would be every Secret of the cluster, where a command can do without it. */
export function withoutWideSecrets(permissions: readonly Permission[]): readonly Permission[] {
  return permissions.filter(({ request, required }) => required || request.namespace !== undefined || request.resource !== 'secrets');
}

/** The roles of one command: what it needs everywhere, and what it needs in one namespace each. YAML documents, each with its line `---`. */
export function roleLines(name: string, permissions: readonly Permission[]): readonly string[] {
  const places = new Set(permissions.flatMap(({ request: { namespace } }) => namespace ?? []));
  const wide = permissions.filter(({ request }) => request.namespace === undefined);
  return [
    ...(wide.length > 0 ? role('ClusterRole', { name: `netsvc-upgrade-${name}` }, wide) : []),
    ...[...places].flatMap((namespace) => {
      const placed = permissions.filter(({ request }) => request.namespace === namespace);
      return role('Role', { name: `netsvc-upgrade-${name}`, namespace }, placed);
    }),
  ];
}

function role(kind: string, metadata: Readonly<Record<string, string>>, permissions: readonly Permission[]): readonly string[] {
  return [
    '---',
    'apiVersion: rbac.authorization.k8s.io/v1',
    `kind: ${kind}`,
    'metadata:',
    ...Object.entries(metadata).map(([field, value]) => `  ${field}: ${value}`),
    'rules:',
    ...roleRules(permissions).flatMap(({ rule, whys }) => [
      `  # ${whys.join('; ')}`,
      `  - apiGroups: ${list(rule.apiGroups)}`,
      `    resources: ${list(rule.resources)}`,
      ...(rule.resourceNames ? [`    resourceNames: ${list(rule.resourceNames)}`] : []),
      `    verbs: ${list(rule.verbs)}`,
    ]),
  ];
}

const list = (words: readonly string[]) => JSON.stringify(words).replaceAll('","', '", "');
