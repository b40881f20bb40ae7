import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { RolloutProgress, RolloutTarget } from '../../kernel/rollout.ts';
import { judgeRollout } from '../../kube/judge-rollout.ts';
import { leanNode, leanPod } from '../../kube/lean-objects.ts';
import { type NodeFacts, nodeFacts, podFacts } from '../../kube/pod-facts.ts';
import { selectorOf, selectorText } from '../../kube/selector.ts';
import { eachOf } from '../survey/index.ts';

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
