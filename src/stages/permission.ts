import type { Kind } from '../core/object.ts';
import type { AccessRequest } from '../core/ports.ts';

/** One thing that an account must be allowed to do, and what for. */
export interface Permission {
  readonly request: AccessRequest;
  readonly why: string;
  /** False: only some clusters or flags need it, or the account may have the same right by another way. */
  readonly required: boolean;
}

interface Where {
  readonly namespace?: string | undefined;
  readonly required?: boolean;
}

/** Several verbs on one resource, for one reason; without a namespace in all of them. */
export function allow(
  verbs: readonly string[],
  { group, plural }: Pick<Kind, 'group' | 'plural'>,
  why: string,
  where: Where = {},
): readonly Permission[] {
  const { namespace, required = true } = where;
  return verbs.map((verb) => ({ request: { verb, group, resource: plural, ...(namespace ? { namespace } : {}) }, why, required }));
}

/** Each request once; it is required if anybody requires it. */
export function distinct(permissions: readonly Permission[]): readonly Permission[] {
  const found = new Map<string, Permission>();
  for (const one of permissions) {
    const key = JSON.stringify(one.request);
    const before = found.get(key);
    if (!before || (one.required && !before.required)) found.set(key, one);
  }
  return [...found.values()];
}

/** A rule as a ClusterRole holds it. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

interface Resource {
  readonly group: string;
  readonly verbs: Set<string>;
  readonly whys: Set<string>;
}

/** The least ClusterRole that grants the permissions, one rule per group, set of verbs and purpose. */
export function roleRules(permissions: readonly Permission[]): readonly { readonly rule: PolicyRule; readonly whys: readonly string[] }[] {
  const resources = new Map<string, Resource & { readonly resource: string }>();
  const groupWide = new Set(
    permissions.flatMap(({ request: { verb, group, resource } }) => (resource === '*' ? [`${verb} ${group}`] : [])),
  );
  for (const { request, why } of permissions) {
    const { group, resource, verb } = request;
    // What holds for every resource of the group needs no rule of its own.
    if (resource !== '*' && groupWide.has(`${verb} ${group}`)) continue;
    const key = `${group}|${resource}`;
    const entry = resources.get(key) ?? { group, resource, verbs: new Set<string>(), whys: new Set<string>() };
    entry.verbs.add(verb);
    entry.whys.add(why);
    resources.set(key, entry);
  }
  const alike = Map.groupBy(resources.values(), ({ group, verbs, whys }) => JSON.stringify([group, [...verbs].sort(), [...whys]]));
  return [...alike.values()].map((same) => ({
    rule: {
      apiGroups: [same[0]?.group ?? ''],
      resources: same.map(({ resource }) => resource).sort(),
      verbs: [...(same[0]?.verbs ?? [])].sort(),
    },
    whys: [...(same[0]?.whys ?? [])],
  }));
}
