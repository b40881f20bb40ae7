import { command } from '../../kernel/command.ts';
import { Fault } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import type { Kind, KubeObject } from '../../kernel/object.ts';
import type { ClusterReader, ListOptions } from '../../kernel/ports.ts';
import type { RolloutTarget } from '../../kernel/rollout.ts';
import { text } from '../../kernel/step.ts';
import { leanNode, leanPod } from '../../kube/lean-objects.ts';
import { nodeFacts, podFacts } from '../../kube/pod-facts.ts';
import { selectorOf, selectorText } from '../../kube/selector.ts';
import { type Board, workloadKey } from './rollout-board.ts';

type Feed = () => Promise<void>;

/** One watch for nodes, one per workload kind and namespace, one of pods per target (by the workload's own selector). */
export async function openFeeds(
  cluster: ClusterReader,
  board: Board,
  targets: readonly RolloutTarget[],
  signal: AbortSignal,
): Promise<readonly Feed[]> {
  const nodes = mapInto(board.nodes, (node) => [node.metadata.name, nodeFacts(node)]);
  const feeds: Feed[] = [follow(cluster, board, K.Node, { keep: leanNode }, signal, nodes)];
  const workloadKinds = new Map(targets.map((target) => [`${target.kind}/${target.namespace}`, target]));
  for (const { kind, namespace } of workloadKinds.values()) {
    const entry = (object: KubeObject) => [workloadKey(kind, namespace, object.metadata.name), object] as const;
    const into = mapInto(board.workloads, entry, `${kind}/${namespace}/`);
    feeds.push(follow(cluster, board, K[kind], { namespace }, signal, into));
  }
  for (const target of targets) {
    const labelSelector = await readSelector(cluster, target);
    const into = mapInto(board.pods.get(target) ?? new Map(), (pod) => [pod.metadata.name, podFacts(pod)]);
    feeds.push(follow(cluster, board, K.Pod, { namespace: target.namespace, labelSelector, keep: leanPod }, signal, into));
  }
  return feeds;
}

async function readSelector(cluster: ClusterReader, target: RolloutTarget): Promise<string> {
  const workload = await cluster.get(K[target.kind], target.name, target.namespace);
  if (!workload)
    throw new Fault('failed', `${target.kind} ${target.namespace}/${target.name} does not exist`, [
      text`run: ${command`kubectl netsvc-upgrade preflight`}`,
    ]);
  return selectorText(selectorOf(workload));
}

/** Facts that are the same stay the same object, by which others know that nothing changed. */
function mapInto<V>(map: Map<string, V>, entry: (object: KubeObject) => readonly [string, V], prefix = '') {
  return {
    replaceAll(objects: readonly KubeObject[]) {
      for (const key of [...map.keys()]) if (key.startsWith(prefix)) map.delete(key);
      for (const object of objects) map.set(...entry(object));
    },
    /** Whether anything is known again: a heartbeat is not. */
    put(object: KubeObject): boolean {
      const [key, value] = entry(object);
      if (JSON.stringify(map.get(key)) === JSON.stringify(value)) return false;
      map.set(key, value);
      return true;
    },
    drop: (object: KubeObject) => map.delete(entry(object)[0]),
  };
}

function follow(
  cluster: ClusterReader,
  board: Board,
  kind: Kind,
  where: ListOptions,
  signal: AbortSignal,
  sink: ReturnType<typeof mapInto>,
): Feed {
  const name = `${kind.plural}/${where.namespace ?? ''}/${where.labelSelector ?? ''}`;
  board.expect(name);
  return async () => {
    for await (const update of cluster.watch(kind, { ...where, signal })) {
      if (update.type === 'snapshot') sink.replaceAll(update.items);
      else if (update.type === 'deleted') sink.drop(update.object);
      else if (!sink.put(update.object)) continue;
      board.arrived(name);
    }
  };
}
