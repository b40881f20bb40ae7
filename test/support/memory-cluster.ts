import type { KubeObject } from '../../src/kernel/object.ts';
import { ApiFailure, type Cluster } from '../../src/kernel/ports.ts';
import { isSelected } from '../../src/sandbox/watch.ts';

export type MemoryCluster = ReturnType<typeof memoryCluster>;

/** Objects with resource versions and the conflicts that come of them: as much of a cluster as lock and record need, and nothing else. */
export function memoryCluster() {
  const objects = new Map<string, KubeObject>();
  const memory = {
    objects,
    /** Replaces and creates so far. */
    writes: 0,
    /** Runs before the next write, once: what somebody else does in between. */
    between: undefined as (() => void | Promise<void>) | undefined,
    /** Thrown by every request while set. */
    away: undefined as Error | undefined,
  };
  let version = 0;
  const keyOf = ({ name, namespace = '' }: { readonly name: string; readonly namespace?: string | undefined }) => `${namespace}/${name}`;
  const put = (object: KubeObject): KubeObject => {
    version += 1;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    objects.set(keyOf(object.metadata), stored);
    return stored;
  };
  const read = () => {
    if (memory.away) throw memory.away;
  };
  const write = async () => {
    read();
    memory.writes += 1;
    const { between } = memory;
    memory.between = undefined;
    await between?.();
  };
  const cluster: Partial<Cluster> = {
    async clockSkewMs() {
      read();
      return 0;
    },
    async get(_kind, name, namespace) {
      read();
      return objects.get(keyOf({ name, namespace }));
    },
    async list(_kind, options = {}) {
      read();
      return [...objects.values()].filter((one) => isSelected(one, options));
    },
    async create(_kind, object) {
      await write();
      if (objects.has(keyOf(object.metadata))) throw new ApiFailure(409, 'AlreadyExists', 'exists');
      return put(object);
    },
    async replace(_kind, object) {
      await write();
      const live = objects.get(keyOf(object.metadata));
      if (!live) throw new ApiFailure(404, 'NotFound', 'not found');
      if (live.metadata.resourceVersion !== object.metadata.resourceVersion) throw new ApiFailure(409, 'Conflict', 'modified');
      return put(object);
    },
    async remove(_kind, ref) {
      await write();
      objects.delete(keyOf(ref));
    },
  };
  return Object.assign(memory, { cluster: cluster as Cluster });
}
