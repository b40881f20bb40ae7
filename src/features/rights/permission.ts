import type { Kind } from '../../kernel/object.ts';
import type { AccessRequest } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';

/** One thing that an account must be allowed to do, and what for. */
export interface Permission {
  readonly request: AccessRequest;
  /** Needed only for objects of these names; absent: for all. */
  readonly names?: readonly string[];
  readonly why: string;
  /** False: only some clusters or flags need it, or the account may have the same right by another way. */
  readonly required: boolean;
}

interface Where {
  readonly namespace?: string | undefined;
  /** Of the objects, where they are known; nobody can be allowed to create or list by name. */
  readonly names?: readonly string[] | undefined;
  readonly required?: boolean;
}

/** The server does not know the name yet, or does not ask for it. */
const NAMELESS: readonly string[] = ['create', 'list', 'watch', 'deletecollection'];

interface Resource extends Pick<Kind, 'group' | 'plural'> {
  readonly subresource?: string;
}

/** Several verbs on each of the resources, for one reason; without a namespace in all of them. */
export function allow(
  verbs: readonly string[],
  resources: Resource | readonly Resource[],
  why: string,
  { namespace, names, required = true }: Where = {},
): readonly Permission[] {
  const all: readonly Resource[] = [resources].flat();
  return all.flatMap(({ group, plural, subresource }) =>
    verbs.map((verb) => ({
      request: { verb, group, resource: plural, ...(subresource ? { subresource } : {}), ...(namespace ? { namespace } : {}) },
      ...(names && names.length > 0 && !NAMELESS.includes(verb) ? { names: [...new Set(names)].sort() } : {}),
      why,
      required,
    })),
  );
}

/** Each request once, required if any of them is. A request by name differs from one for all. */
export function distinct(permissions: readonly Permission[]): readonly Permission[] {
  const found = new Map<string, Permission>();
  for (const one of permissions) {
    const key = JSON.stringify([one.request, one.names]);
    const before = found.get(key);
    if (!before || (one.required && !before.required)) found.set(key, one);
  }
  const all = [...found.values()];
  const forAll = new Set(all.flatMap(({ request, names }) => (names ? [] : [keyOf(request)])));
  return all.filter(({ request, names }) => !names || !forAll.has(keyOf(request)));
}

/** A rule as a ClusterRole holds it. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** The least ClusterRole that grants the permissions, each given once: one rule per group, set of verbs and purpose. */
export function roleRules(permissions: readonly Permission[]): readonly { readonly rule: PolicyRule; readonly whys: readonly string[] }[] {
  const ofGroup = permissions.filter(({ request }) => request.resource === '*').map(({ request: { verb, group } }) => `${verb} ${group}`);
  // What holds for every resource of the group needs no rule of its own.
  const own = permissions.filter(({ request: { verb, group, resource } }) => resource === '*' || !ofGroup.includes(`${verb} ${group}`));
  const byResource = Map.groupBy(own, ({ request, names }) => JSON.stringify([request.group, roleResource(request), names]));
  const resources = [...byResource.values()].flatMap((same) => {
    const [first] = same;
    const verbs = [...new Set(same.map(({ request }) => request.verb))].sort();
    return first ? [{ ...first, verbs, whys: [...new Set(same.map(({ why }) => why))] }] : [];
  });
  const alike = Map.groupBy(resources, ({ request: { group }, verbs, whys, names }) => JSON.stringify([group, verbs, whys, names]));
  return [...alike.values()].flatMap((same) => {
    const [first] = same;
    if (!first) return [];
    const { request, names, verbs, whys } = first;
    const rule = { apiGroups: [request.group], resources: same.map((one) => roleResource(one.request)).sort(), verbs };
    return [{ rule: { ...rule, ...(names ? { resourceNames: names } : {}) }, whys }];
  });
}

const keyOf = ({ verb, group, resource, subresource, namespace = '' }: AccessRequest) =>
  JSON.stringify([verb, group, resource, subresource, namespace]);

const WRITES: readonly string[] = ['create', 'patch', 'update'];
const WORKLOADS: readonly string[] = ['daemonsets', 'deployments', 'replicasets', 'statefulsets', 'jobs', 'pods'];
const GRANTS: readonly string[] = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'];

const writes =
  (...resources: readonly string[]) =>
  ({ request }: Permission) =>
    WRITES.includes(request.verb) && resources.includes(request.resource);

/** Rights of a role that lead to cluster-admin, or to reading what it may read, the plainest first. */
const WAYS: readonly { readonly fact: string; readonly is: (permission: Permission) => boolean }[] = [
  {
    fact: 'it may bind and escalate roles',
    is: ({ request }) => ['bind', 'escalate'].includes(request.verb),
  },
  { fact: 'it may write roles and their bindings', is: writes(...GRANTS) },
  {
    fact: 'it may write workloads, whose pods act as any service account of their namespace and may take over a node',
    is: writes(...WORKLOADS),
  },
  {
    fact: 'it may write APIServices and definitions, through which requests of others go',
    is: writes('apiservices', 'customresourcedefinitions'),
  },
  {
    fact: 'it may list everything, the Secrets with the tokens of others among it',
    is: ({ request }) => request.verb === 'list' && request.group === '*' && request.resource === '*',
  },
  {
    fact: 'it may read Secrets of all namespaces',
    is: ({ request, names }) =>
      ['get', 'list', 'watch'].includes(request.verb) && request.resource === 'secrets' && !request.namespace && !names,
  },
];

/** Why these permissions equal cluster-admin; empty where they do not. */
export function adminRights(permissions: readonly Permission[], { operator }: Profile): readonly string[] {
  // In these namespaces run service accounts that may do everything.
  const places = ['kube-system', operator.namespace];
  // A created Secret of the token type is filled with the token of the service account that it names.
  const found = permissions.flatMap(({ request: { resource, namespace = '' }, names }) =>
    resource === 'secrets' && !names && places.includes(namespace) ? [namespace] : [],
  );
  const tokens = [...new Set(found)].map(
    (one) => `it may read or create Secrets in ${one}, the tokens of service accounts there among them`,
  );
  return [...WAYS.filter(({ is }) => permissions.some(is)).map(({ fact }) => fact), ...tokens];
}

/** As a role names it: `pods/log`. */
const roleResource = ({ resource, subresource }: AccessRequest): string => (subresource ? `${resource}/${subresource}` : resource);
