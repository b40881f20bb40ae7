import type { KubeObject, ObjectRef } from '../../src/kernel/object.ts';
import { ApiFailure, type Cluster } from '../../src/kernel/ports.ts';

export interface MemoryCluster {
  readonly cluster: Cluster;
  readonly objects: Map<string, KubeObject>;
  /** Replaces and creates so far. */
  writes: number;
  /** Runs before the next write, once: what somebody else does in between. */
  between: (() => void | Promise<void>) | undefined;
  /** Thrown by every request while set. */
  away: Error | undefined;
}

/** Objects with resource versions and the conflicts that come of them: as much of a cluster as lock and record need, and nothing else. */
export function memoryCluster(): MemoryCluster {
  const objects = new Map<string, KubeObject>();
  let version = 0;
  const keyOf = (name: string, namespace = '') => `${namespace}/${name}`;
  const put = (object: KubeObject): KubeObject => {
    version += 1;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    objects.set(keyOf(object.metadata.name, object.metadata.namespace), stored);
    return stored;
  };
  const enter = async (writes: boolean) => {
    if (memory.away) throw memory.away;
    if (!writes) return;
    memory.writes += 1;
    const between = memory.between;
    memory.between = undefined;
    await between?.();
  };
  const cluster: Partial<Cluster> = {
    async clockSkewMs() {
      await enter(false);
      return 0;
    },
    async get(_kind, name, namespace) {
      await enter(false);
      return objects.get(keyOf(name, namespace));
    },
    async list(_kind, { namespace, fieldSelector } = {}) {
      await enter(false);
      const type = fieldSelector?.replace(/^type=/, '');
      return [...objects.values()].filter(
        (one) => (namespace === undefined || one.metadata.namespace === namespace) && (type === undefined || one.type === type),
      );
    },
    async create(_kind, object) {
      await enter(true);
      if (objects.has(keyOf(object.metadata.name, object.metadata.namespace))) throw new ApiFailure(409, 'AlreadyExists', 'exists');
      return put(object);
    },
    async replace(_kind, object) {
      await enter(true);
      const { name, namespace, resourceVersion } = object.metadata;
      const live = objects.get(keyOf(name, namespace));
      if (!live) throw new ApiFailure(404, 'NotFound', 'not found');
      if (live.metadata.resourceVersion !== resourceVersion) throw new ApiFailure(409, 'Conflict', 'modified');
      return put(object);
    },
    async remove(_kind, ref: ObjectRef) {
      await enter(true);
      objects.delete(keyOf(ref.name, ref.namespace));
    },
  };
  const memory: MemoryCluster = { cluster: cluster as Cluster, objects, writes: 0, between: undefined, away: undefined };
  return memory;
}
