import type { InstallPath } from '../core/installation.ts';
import { K } from '../core/kinds.ts';
import type { Kind } from '../core/object.ts';
import type { AccessRequest } from '../core/ports.ts';
import type { Profile } from '../core/profile.ts';

/** One thing that the plan must be allowed to do, and what for. */
export interface Permission {
  readonly request: AccessRequest;
  readonly why: string;
  /** False: may be denied to a user who has the same right by another way. */
  readonly required: boolean;
}

/** A kind that the target's documents hold, and where. */
export interface DocumentKind {
  readonly kind: Kind;
  readonly namespace?: string;
}

/** Kinds of the documents of a full install, an operator and their add-ons; docs/permissions.md is written for these. */
export const documentKinds: readonly DocumentKind[] = [
  K.Namespace,
  K.ServiceAccount,
  K.ConfigMap,
  K.Secret,
  K.Service,
  K.DaemonSet,
  K.Deployment,
  K.PodDisruptionBudget,
  K.ClusterRole,
  K.ClusterRoleBinding,
  K.Role,
  K.RoleBinding,
  K.CustomResourceDefinition,
  K.APIService,
  { group: 'storage.k8s.io', version: 'v1', kind: 'CSIDriver', plural: 'csidrivers', namespaced: false },
  K.NetworkPolicy,
].map((kind) => ({ kind }));

function permission(
  verb: string,
  kind: Pick<Kind, 'group' | 'plural'>,
  why: string,
  where: { namespace?: string; required?: boolean } = {},
): Permission {
  const { namespace, required = true } = where;
  return { request: { verb, group: kind.group, resource: kind.plural, ...(namespace ? { namespace } : {}) }, why, required };
}

const each = (verbs: readonly string[], kind: Pick<Kind, 'group' | 'plural'>, why: string, namespace?: string) =>
  verbs.map((verb) => permission(verb, kind, why, namespace ? { namespace } : {}));

/** Survey, judgement and waiting: reading only. */
function readPermissions(profile: Profile): readonly Permission[] {
  const listed = [K.Namespace, K.ConfigMap, K.PodDisruptionBudget, K.CustomResourceDefinition, K.APIService];
  const watched = [K.Node, K.Pod, K.DaemonSet, K.Deployment];
  const service = { group: profile.crdGroup, plural: '*' };
  return [
    ...listed.flatMap((kind) => each(['get', 'list'], kind, 'survey')),
    ...watched.flatMap((kind) => each(['get', 'list', 'watch'], kind, 'survey and waiting')),
    ...['get', 'list'].map((verb) => permission(verb, service, 'checks and backup of the stored resources', { required: false })),
  ];
}

/** Lock and run record in the state namespace. */
function statePermissions(namespace: string): readonly Permission[] {
  return [
    ...each(['get', 'create', 'update'], K.Lease, 'lock', namespace),
    ...each(['get', 'create', 'update'], K.ConfigMap, 'run record', namespace),
  ];
}

/** Server-side apply of the target's documents (§1/5), dry run and real. */
function applyPermissions(documents: readonly DocumentKind[]): readonly Permission[] {
  const apply = documents.flatMap(({ kind, namespace }) => each(['get', 'create', 'patch'], kind, 'apply the target', namespace));
  const roles = [K.ClusterRole, K.Role].filter((role) =>
    documents.some(({ kind }) => kind.plural === role.plural && kind.group === role.group),
  );
  const grants = roles.flatMap((role) =>
    ['escalate', 'bind'].map((verb) =>
      permission(verb, role, 'roles of the target hold more rights than this account', { required: false }),
    ),
  );
  return [...apply, ...grants];
}

/** What the permissions depend on. */
export interface PlanScope {
  readonly stateNamespace: string;
  readonly documents: readonly DocumentKind[];
  readonly path?: InstallPath;
  /** Namespace of the chart release, where the chart tool writes a revision and removes old ones. */
  readonly chartNamespace?: string;
  /** UIDs change on the way: the whole cluster is searched for owner references. */
  readonly searchesOwners: boolean;
}

/** Everything that the chain asks of the account, each once. */
export function permissionsOf(profile: Profile, scope: PlanScope): readonly Permission[] {
  const { stateNamespace, documents, path, chartNamespace, searchesOwners } = scope;
  const chart = [
    ...(path === 'chart' ? each(['get', 'list'], K.Secret, 'releases of the chart') : []),
    ...(chartNamespace ? each(['create', 'update', 'delete'], K.Secret, 'a new revision of the chart release', chartNamespace) : []),
  ];
  const everything = permission('list', { group: '*', plural: '*' }, 'search for owner references', { required: false });
  const all = [
    ...readPermissions(profile),
    ...statePermissions(stateNamespace),
    ...chart,
    ...applyPermissions(documents),
    ...(searchesOwners ? [everything] : []),
  ];
  return [...new Map(all.map((one) => [JSON.stringify(one.request), one])).values()];
}

/** A rule as a ClusterRole holds it. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** The least ClusterRole that grants the permissions: one rule per group and set of verbs. */
export function clusterRoleRules(permissions: readonly Permission[]): readonly PolicyRule[] {
  const verbs = new Map<string, Set<string>>();
  for (const { request } of permissions) {
    const key = `${request.group}|${request.resource}`;
    verbs.set(key, (verbs.get(key) ?? new Set()).add(request.verb));
  }
  const rules = new Map<string, { group: string; resources: string[]; verbs: string[] }>();
  for (const [key, set] of verbs) {
    const [group = '', resource = ''] = key.split('|');
    const sorted = [...set].sort();
    const rule = rules.get(`${group}|${sorted}`) ?? { group, resources: [], verbs: sorted };
    rule.resources.push(resource);
    rules.set(`${group}|${sorted}`, rule);
  }
  return [...rules.values()].map(({ group, resources, verbs: allowed }) => ({
    apiGroups: [group],
    resources: resources.sort(),
    verbs: allowed,
  }));
}
