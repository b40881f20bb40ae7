import type { Permission } from '../../src/features/rights/permission.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { Kind } from '../../src/kernel/object.ts';
import { type AccessRequest, ApiFailure, type Cluster } from '../../src/kernel/ports.ts';

/** The rights of an account as the API server judges them: a right without a namespace holds in all, `*` for any group or resource. */
export function allowedBy(permissions: readonly Pick<Permission, 'request'>[]): (asked: AccessRequest) => boolean {
  const fits = (granted: string, asked: string) => granted === '*' || granted === asked;
  return (asked) =>
    permissions.some(
      ({ request }) =>
        request.verb === asked.verb &&
        fits(request.group, asked.group) &&
        fits(request.resource, asked.resource) &&
        (request.namespace === undefined || request.namespace === asked.namespace),
    );
}

/** What each request needs; the others need nothing. */
const VERBS = {
  ...{ get: ['get'], list: ['list'], watch: ['list', 'watch'] },
  ...{ dryRunApply: ['create', 'patch'], dryRunPatch: ['patch'], dryRunCreate: ['create'] },
  ...{ patch: ['patch'], create: ['create'], replace: ['update'], remove: ['delete'] },
} as const satisfies Partial<Record<keyof Cluster, readonly string[]>>;

/** A cluster that answers 403 to what the account may not do; `denied` names each, once. */
export function guardedCluster(cluster: Cluster, may: (asked: AccessRequest) => boolean): { cluster: Cluster; denied: Set<string> } {
  const denied = new Set<string>();
  const guard = (verbs: readonly string[], { group, plural: resource }: Kind, namespace?: string) => {
    for (const verb of verbs) {
      if (may({ verb, group, resource, ...(namespace === undefined ? {} : { namespace }) })) continue;
      denied.add(`${verb} ${resource}.${group}`);
      throw new ApiFailure(403, 'Forbidden', `${resource}.${group} is forbidden: cannot ${verb} it`);
    }
  };
  guard(['get'], K.Namespace);
  const guarded = announcing(cluster, Object.keys(VERBS) as (keyof typeof VERBS)[], (name, kind, asked) =>
    guard(VERBS[name], kind, asked.namespace),
  );
  return { cluster: { ...guarded, reviewAccess: async (asked) => asked.map(may) }, denied };
}

/** A cluster that tells of these requests before it does them: what is asked of which kind, and of which object as far as it is named. */
export function announcing<Name extends keyof typeof VERBS>(
  cluster: Cluster,
  names: readonly Name[],
  tell: (name: Name, kind: Kind, asked: Asked) => void,
): Cluster {
  const told = names.map((name) => {
    const ask = cluster[name] as (kind: Kind, ...rest: readonly unknown[]) => unknown;
    const asked = (kind: Kind, ...rest: readonly unknown[]) => {
      tell(name, kind, name === 'get' ? ({ name: rest[0], namespace: rest[1] } as Asked) : askedIn(rest[0]));
      return ask.call(cluster, kind, ...rest);
    };
    return [name, name === 'watch' ? asked : async (...all: Parameters<typeof asked>) => asked(...all)] as const;
  });
  return { ...cluster, ...Object.fromEntries(told) };
}

interface Asked {
  readonly name?: string;
  readonly namespace?: string;
}

/** By the options, a reference or an object. */
const askedIn = (asked: unknown): Asked => ((asked as { readonly metadata?: Asked } | undefined)?.metadata ?? asked ?? {}) as Asked;
