import { judgeRollout } from '../../core/judge-rollout.ts';
import { K } from '../../core/kinds.ts';
import { leanNode, leanPod } from '../../core/lean-objects.ts';
import type { KubeObject } from '../../core/object.ts';
import { type NodeFacts, nodeFacts, podFacts } from '../../core/pod-facts.ts';
import type { Sources } from '../../core/ports.ts';
import type { RolloutProgress, RolloutTarget } from '../../core/rollout.ts';
import { selectorOf, selectorText } from '../../core/selector.ts';
import { eachOf } from '../reading.ts';

/** How far each target is, read once. */
export async function readRollouts(
  sources: Pick<Sources, 'cluster' | 'clock'>,
  targets: readonly RolloutTarget[],
  nodes: readonly NodeFacts[],
): Promise<readonly RolloutProgress[]> {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const now = sources.clock.now().getTime();
  return eachOf(targets, 4, async (target) => {
    const workload = await sources.cluster.get(K[target.kind], target.name, target.namespace);
    const pods = workload ? await podsOf(sources, target, workload) : [];
    return judgeRollout({ target, workload, pods: pods.map(podFacts), nodes: byName, now });
  });
}

export async function readNodes(sources: Pick<Sources, 'cluster'>): Promise<readonly NodeFacts[]> {
  return (await sources.cluster.list(K.Node, { keep: leanNode })).map(nodeFacts);
}

function podsOf({ cluster }: Pick<Sources, 'cluster'>, { namespace }: RolloutTarget, workload: KubeObject) {
  return cluster.list(K.Pod, { namespace, labelSelector: selectorText(selectorOf(workload)), keep: leanPod });
}
