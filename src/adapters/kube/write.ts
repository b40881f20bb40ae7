import type { Kind, KubeObject } from '../../kernel/object.ts';
import { ApiFailure, type ClusterWriter } from '../../kernel/ports.ts';
import { METADATA_ONE } from './list.ts';
import { collectionPath, objectPath, withQuery } from './paths.ts';
import { JSON_PATCH } from './read.ts';
import type { Transport } from './transport.ts';

/** Field manager of what this program stores for itself: its lock and its record. */
const OWN_MANAGER = 'netsvc-upgrade';

/**
 * The writing half of a cluster. `guard` throws if this is not the confirmed cluster; it runs before every request that does not name
 * an instance by its UID.
 */
export function writerOf(transport: Transport, namespace: string, guard: () => Promise<void>): ClusterWriter {
  const scope = (kind: Kind, named: string | undefined) => (kind.namespaced ? (named ?? namespace) : undefined);
  const own = { fieldManager: OWN_MANAGER, fieldValidation: 'Strict' };
  return {
    async patch(kind, ref, patch, fieldManager) {
      const { uid } = ref;
      if (uid === undefined) await guard();
      // The very instance is meant: an object made anew under the same name must not be changed. No other cluster has it, so that the
      // server's own test, in the very moment of the write, is more than a look at the cluster just before.
      const pin = uid === undefined ? [] : [{ op: 'test', path: '/metadata/uid', value: uid }];
      const path = withQuery(objectPath(kind, ref.name, scope(kind, ref.namespace)), { fieldManager, fieldValidation: 'Strict' });
      try {
        // Metadata alone: thousands of nodes need not be sent back whole.
        return await transport.json({ method: 'PATCH', path, body: [...pin, ...patch], contentType: JSON_PATCH, accept: METADATA_ONE });
      } catch (thrown) {
        if (isOfAnother(thrown)) await guard();
        throw thrown;
      }
    },
    async create(kind, object) {
      await guard();
      const path = withQuery(collectionPath(kind, scope(kind, object.metadata.namespace)), own);
      return transport.json<KubeObject>({ method: 'POST', path, body: object });
    },
    async replace(kind, object) {
      const { name, namespace, uid } = object.metadata;
      // As above: the server replaces the instance of this UID, and refuses any other.
      if (uid === undefined) await guard();
      const path = withQuery(objectPath(kind, name, scope(kind, namespace)), own);
      try {
        return await transport.json<KubeObject>({ method: 'PUT', path, body: object });
      } catch (thrown) {
        if (isOfAnother(thrown)) await guard();
        throw thrown;
      }
    },
    async remove(kind, ref) {
      await guard();
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...(ref.uid ? { preconditions: { uid: ref.uid } } : {}) };
      await transport.text({ method: 'DELETE', path: objectPath(kind, ref.name, scope(kind, ref.namespace)), body });
    },
  };
}

/** What another cluster would say as well: no such object, or not this instance (to a patch 422, to a replacement 409). */
const isOfAnother = (thrown: unknown): boolean => thrown instanceof ApiFailure && [404, 409, 422].includes(thrown.status);
