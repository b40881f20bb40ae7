import { mapAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, type ObjectRef, refOf } from '../../kernel/object.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import type { RolloutTarget } from '../../kernel/rollout.ts';
import { judgePod } from '../../kube/judge-pod.ts';
import { named } from '../../kube/lean-objects.ts';
import { podFacts } from '../../kube/pod-facts.ts';
import { selectorOf, selectorText } from '../../kube/selector.ts';
import { type AgentNode, chooseNodes, isLinux } from './choice.ts';

declare module '../../kernel/context.ts' {
  interface Options {
    /** Nodes whose agents are upgraded first, as it was written. */
    readonly canary?: string;
    /** How long they are watched before the run continues by itself; absent where it stops for the user. Milliseconds. */
    readonly soakMs?: number;
  }
}

/** An agent that is to be replaced. */
export interface OldAgent {
  readonly node: string;
  /** With its UID. */
  readonly pod: ObjectRef;
}

export interface CanaryFacts {
  readonly target: RolloutTarget;
  readonly nodes: readonly string[];
  /** Of those nodes, the agents that are still old. */
  readonly old: readonly OldAgent[];
  /** Other nodes whose agent is new: they joined, or somebody deleted it. */
  readonly others: readonly string[];
  readonly of: number;
}

interface AgentPod extends AgentNode {
  readonly pod: ObjectRef;
}

/** The nodes of `--canary`. Throws Fault('usage') where it names none that can be evaluated. */
export async function readCanary(
  { cluster, clock }: Pick<Sources, 'cluster' | 'clock'>,
  text: string,
  agents: KubeObject,
  target: RolloutTarget,
): Promise<CanaryFacts> {
  const pods = await readAgentPods(cluster, agents, target, clock.now().getTime());
  const nodes = await chooseNodes(cluster, text, pods);
  const chosen = new Set(nodes);
  return {
    target,
    nodes,
    old: pods
      .filter(({ node, isNew }) => !isNew && chosen.has(node.metadata.name))
      .map(({ node, pod }) => ({ node: node.metadata.name, pod })),
    others: pods.filter(({ node, isNew }) => isNew && !chosen.has(node.metadata.name)).map(({ node }) => node.metadata.name),
    of: pods.length,
  };
}

/** One agent of each node, the new one where both are there. */
async function readAgentPods(cluster: ClusterReader, agents: KubeObject, target: RolloutTarget, now: number): Promise<readonly AgentPod[]> {
  const { namespace = '' } = agents.metadata;
  const [pods, nodes] = await Promise.all([
    cluster.list(K.Pod, { namespace, labelSelector: selectorText(selectorOf(agents)) }),
    cluster.list(K.Node, { keep: nodeAsChosen }),
  ]);
  const byNode = new Map<string, AgentPod>();
  const here = new Map(nodes.filter(isLinux).map((node) => [node.metadata.name, node]));
  for (const pod of pods) {
    const facts = podFacts(pod);
    const node = here.get(facts.node);
    const isNew = judgePod({ ...facts, terminating: false }, { target, nodes: new Map(), now }).phase !== 'old';
    if (node && (isNew || !byNode.has(facts.node)))
      byNode.set(facts.node, { node, isNew, pod: { ...refOf({ ...pod, apiVersion: 'v1', kind: 'Pod' }), uid: facts.uid } });
  }
  return [...byNode.values()].toSorted((a, b) => (a.node.metadata.name < b.node.metadata.name ? -1 : 1));
}

/** What a choice looks at. For `ListOptions.keep`. */
function nodeAsChosen(node: KubeObject): KubeObject {
  const { unschedulable } = mapAt(node.spec);
  return { ...named(node, 'labels'), spec: { unschedulable }, status: { conditions: mapAt(node.status).conditions } };
}
