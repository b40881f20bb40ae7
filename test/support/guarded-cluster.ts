import type { Permission } from '../../src/features/rights/permission.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { Kind, KubeObject } from '../../src/kernel/object.ts';
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
  const guarded = Object.entries(VERBS).map(([name, verbs]) => {
    const ask = Reflect.get(cluster, name) as (kind: Kind, ...rest: readonly unknown[]) => unknown;
    const isWatch = name === 'watch';
    const asked = (kind: Kind, ...rest: readonly unknown[]) => {
      guard(verbs, kind, namespaceIn(name === 'get' ? { namespace: rest[1] } : rest[0]));
      return ask.call(cluster, kind, ...rest);
    };
    return [name, isWatch ? asked : async (...all: Parameters<typeof asked>) => asked(...all)] as const;
  });
  guard(['get'], K.Namespace);
  const reviewAccess = async (asked: readonly AccessRequest[]) => asked.map(may);
  return { cluster: { ...cluster, reviewAccess, ...Object.fromEntries(guarded) }, denied };
}

/** Of the options, a reference or an object. */
function namespaceIn(asked: unknown): string | undefined {
  const { metadata, namespace } = (asked ?? {}) as Partial<Pick<KubeObject, 'metadata'>> & { readonly namespace?: string };
  return metadata ? metadata.namespace : namespace;
}
