import type { Kind } from '../../kernel/object.ts';
import type { AccessRequest } from '../../kernel/ports.ts';

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

/** Several verbs on one resource, for one reason; without a namespace in all of them. */
export function allow(
  verbs: readonly string[],
  { group, plural }: Pick<Kind, 'group' | 'plural'>,
  why: string,
  where: Where = {},
): readonly Permission[] {
  const { namespace, names, required = true } = where;
  return verbs.map((verb) => ({
    request: { verb, group, resource: plural, ...(namespace ? { namespace } : {}) },
    ...(names && names.length > 0 && !NAMELESS.includes(verb) ? { names: [...new Set(names)].sort() } : {}),
    why,
    required,
  }));
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

interface Resource {
  readonly group: string;
  readonly verbs: Set<string>;
  readonly whys: Set<string>;
}

/** The least ClusterRole that grants the permissions, one rule per group, set of verbs and purpose. */
export function roleRules(permissions: readonly Permission[]): readonly { readonly rule: PolicyRule; readonly whys: readonly string[] }[] {
  const resources = new Map<string, Resource & { readonly resource: string; readonly names?: readonly string[] }>();
  const forAll = new Set(permissions.flatMap(({ request, names }) => (names ? [] : [keyOf(request)])));
  const groupWide = new Set(
    permissions.flatMap(({ request: { verb, group, resource } }) => (resource === '*' ? [`${verb} ${group}`] : [])),
  );
  for (const { request, names, why } of permissions) {
    const { group, resource, verb } = request;
    // What holds for every resource of the group needs no rule of its own.
    if (resource !== '*' && groupWide.has(`${verb} ${group}`)) continue;
    // Nor what holds for every object of the resource.
    if (names && forAll.has(keyOf(request))) continue;
    const key = JSON.stringify([group, resource, names]);
    const entry = resources.get(key) ?? { group, resource, verbs: new Set<string>(), whys: new Set<string>(), ...(names ? { names } : {}) };
    entry.verbs.add(verb);
    entry.whys.add(why);
    resources.set(key, entry);
  }
  const alike = Map.groupBy(resources.values(), ({ group, verbs, whys, names }) =>
    JSON.stringify([group, [...verbs].sort(), [...whys], names]),
  );
  return [...alike.values()].map((same) => ({
    rule: {
      apiGroups: [same[0]?.group ?? ''],
      resources: same.map(({ resource }) => resource).sort(),
      ...(same[0]?.names ? { resourceNames: same[0].names } : {}),
      verbs: [...(same[0]?.verbs ?? [])].sort(),
    },
    whys: [...(same[0]?.whys ?? [])],
  }));
}

const keyOf = ({ verb, group, resource, namespace = '' }: AccessRequest) => JSON.stringify([verb, group, resource, namespace]);
