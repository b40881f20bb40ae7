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
  const guarded: Cluster = {
    version: () => cluster.version(),
    clockSkewMs: () => cluster.clockSkewMs(),
    discover: () => cluster.discover(),
    resolve: (apiVersion, kind) => cluster.resolve(apiVersion, kind),
    raw: (path) => cluster.raw(path),
    reviewAccess: async (asked) => asked.map(may),
    async get(kind, name, namespace) {
      guard(['get'], kind, namespace);
      return cluster.get(kind, name, namespace);
    },
    async list(kind, options) {
      guard(['list'], kind, options?.namespace);
      return cluster.list(kind, options);
    },
    watch(kind, options) {
      guard(['list', 'watch'], kind, options.namespace);
      return cluster.watch(kind, options);
    },
    async dryRunApply(kind, document, manager) {
      guard(['create', 'patch'], kind, document.metadata.namespace);
      return cluster.dryRunApply(kind, document, manager);
    },
    async dryRunPatch(kind, ref, patch, manager) {
      guard(['patch'], kind, ref.namespace);
      return cluster.dryRunPatch(kind, ref, patch, manager);
    },
    async dryRunCreate(kind, document) {
      guard(['create'], kind, document.metadata.namespace);
      return cluster.dryRunCreate(kind, document);
    },
    async patch(kind, ref, patch, manager) {
      guard(['patch'], kind, ref.namespace);
      return cluster.patch(kind, ref, patch, manager);
    },
    async create(kind, object) {
      guard(['create'], kind, object.metadata.namespace);
      return cluster.create(kind, object);
    },
    async replace(kind, object) {
      guard(['update'], kind, object.metadata.namespace);
      return cluster.replace(kind, object);
    },
    async remove(kind, ref) {
      guard(['delete'], kind, ref.namespace);
      return cluster.remove(kind, ref);
    },
  };
  guard(['get'], K.Namespace);
  return { cluster: guarded, denied };
}
