import { setTimeout as wait } from 'node:timers/promises';
import { together } from '../../kernel/each-of.ts';
import { K } from '../../kernel/kinds.ts';
import type { Kind, KubeObject } from '../../kernel/object.ts';
import { ApiFailure, type Cluster, type ClusterWriter } from '../../kernel/ports.ts';
import { OWN_MANAGER } from '../../kube/managed-fields.ts';
import { type Connection, connectionText } from '../kubeconfig/connection.ts';
import { explainFailure, OtherCluster } from './failure.ts';
import { collectionPath, METADATA_ONE, objectPath, withQuery } from './items.ts';
import { JSON_PATCH, readerOf } from './read.ts';
import { Transport, type TransportOptions } from './transport.ts';

export interface ClusterOptions extends Omit<TransportOptions, 'mayWrite' | 'sleep'> {
  /** Objects per page of a list; 500 unless said. */
  readonly pageSize?: number;
  readonly sleep?: TransportOptions['sleep'];
}

/** A cluster over its API, and who it is. */
export interface OpenCluster extends Cluster {
  readonly serverUrl: string;
  /** UID of the namespace kube-system, asked each time. Throws a Fault that explains why the server cannot be used. */
  clusterUid(): Promise<string>;
  /** From now on every write first checks that this is the cluster (house rule 5). */
  pin(clusterUid: string): void;
  /** From now on nothing is written or retried once this throws: another run may have the lock. Undefined: no lock is needed. */
  writeWhile(mustHold: (() => void) | undefined): void;
  close(): Promise<void>;
}

/** Opens nothing yet: the first request does. Every refusal is an ApiFailure. */
export function openCluster(connection: Connection, options: ClusterOptions): OpenCluster {
  const sleep = options.sleep ?? ((ms: number, signal?: AbortSignal) => wait(ms, undefined, signal ? { signal } : {}));
  let mustHold: (() => void) | undefined;
  const transport = new Transport(connection, { ...options, sleep, mayWrite: () => mustHold?.() });
  const reader = readerOf(transport, { limit: options.pageSize ?? 500, namespace: connection.namespace, sleep });
  let pinned: string | undefined;
  const uidNow = async () => (await reader.get(K.Namespace, 'kube-system'))?.metadata.uid;
  const guard = together(async () => {
    if (pinned === undefined) return;
    const found = await uidNow();
    if (found !== pinned) throw new OtherCluster(pinned, found, connectionText(connection));
  });
  async function clusterUid(): Promise<string> {
    try {
      const uid = await uidNow();
      if (uid) return uid;
      throw new ApiFailure(404, 'NotFound', `${connection.server} has no namespace kube-system: it is no Kubernetes API server`);
    } catch (thrown) {
      throw explainFailure(thrown, connection);
    }
  }
  return {
    ...reader,
    ...writerOf(transport, connection.namespace, guard),
    serverUrl: connection.server,
    clusterUid,
    pin: (uid) => {
      pinned = uid;
    },
    writeWhile: (held) => {
      mustHold = held;
    },
    close: () => transport.close(),
  };
}

/** The writing half of a cluster. `guard` checks that it is the confirmed one before every request without an instance's UID. */
export function writerOf(transport: Transport, namespace: string, guard: () => Promise<void>): ClusterWriter {
  const scope = (kind: Kind, named: string | undefined) => (kind.namespaced ? (named ?? namespace) : undefined);
  const own = { fieldManager: OWN_MANAGER, fieldValidation: 'Strict' };
  const ofThis = <T>(written: Promise<T>): Promise<T> =>
    written.catch(async (thrown: unknown) => {
      if (isOfAnother(thrown)) await guard();
      throw thrown;
    });
  return {
    async patch(kind, ref, patch, fieldManager) {
      const { uid } = ref;
      if (uid === undefined) await guard();
      // The server tests the UID in the moment of the write: an object made again, or another cluster's, is never changed.
      const pin = uid === undefined ? [] : [{ op: 'test', path: '/metadata/uid', value: uid }];
      const path = withQuery(objectPath(kind, ref.name, scope(kind, ref.namespace)), { fieldManager, fieldValidation: 'Strict' });
      // Metadata alone: thousands of nodes need not be sent back whole.
      const answer = { contentType: JSON_PATCH, accept: METADATA_ONE };
      return ofThis(transport.json({ method: 'PATCH', path, body: [...pin, ...patch], ...answer }));
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
      return ofThis(transport.json<KubeObject>({ method: 'PUT', path, body: object }));
    },
    async remove(kind, ref, resourceVersion) {
      await guard();
      // The pods of a Job would stay without a word.
      const options = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' };
      const preconditions = { ...(ref.uid ? { uid: ref.uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) };
      const body = { ...options, ...(Object.keys(preconditions).length > 0 ? { preconditions } : {}) };
      await transport.text({ method: 'DELETE', path: objectPath(kind, ref.name, scope(kind, ref.namespace)), body });
    },
  };
}

/** What another cluster would answer as well: no such object, or not this instance (422 to a patch, 409 to a replacement). */
const isOfAnother = (thrown: unknown): boolean => thrown instanceof ApiFailure && [404, 409, 422].includes(thrown.status);
