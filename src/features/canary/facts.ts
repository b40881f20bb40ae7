import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { RolloutTarget } from '../../kernel/rollout.ts';
import { againAs } from '../../kernel/step.ts';
import type { UserCommandName } from '../../kernel/user-command.ts';
import { isReady, isSameImage, judgePod } from '../../kube/judge-pod.ts';
import { leanPod, slimNode } from '../../kube/lean-objects.ts';
import { podFacts, podsMadeBy } from '../../kube/pod-facts.ts';
import { isMadeBefore, ofTemplate } from '../../kube/revision.ts';
import { selectorOf, selectorText } from '../../kube/selector.ts';
import { containersOf } from '../survey/index.ts';
import { type AgentNode, chooseNodes, goesBack, isLinux } from './choice.ts';

declare module '../../kernel/context.ts' {
  interface Options {
    /** Nodes whose agents are upgraded first, as it was written. */
    readonly canary?: string;
    /** They are those that were confirmed. */
    readonly isCanaryShown?: true;
    /** How long they are watched before the run continues by itself; absent where it stops for the user. Milliseconds. */
    readonly soakMs?: number;
    /** Where a run stops for the user: with the agents new alone, or with all new and the names of policies as they were. */
    readonly until?: 'agents' | 'controllers';
    /** Commands of the user that are run beside it: with any of them this program replaces the agents itself, and can stop. */
    readonly userCommands?: readonly UserCommandName[];
  }
}

/** The agents of a DaemonSet. */
export interface AgentFacts {
  readonly target: RolloutTarget;
  /** That of their pods. */
  readonly selector: string;
  readonly agents: readonly AgentNode[];
  /** The template is still to be changed: which agents are old then is known only afterwards. */
  readonly isChanging: boolean;
}

export interface CanaryFacts extends Pick<AgentFacts, 'target' | 'selector'> {
  readonly nodes: readonly string[];
  /** Of those nodes, the ones whose agent is still old. */
  readonly old: readonly string[];
  /** Other nodes that this run chose before, and replaced the agent of. */
  readonly before: readonly string[];
  /** More nodes whose agent is new: they joined, or somebody deleted it. None in a rollback, where most were never upgraded. */
  readonly others: readonly string[];
  /** All agents; in a rollback those that are taken back. */
  readonly of: number;
}

/**
 * The nodes of `--canary`; `recorded`: those that the run chose before. Throws Fault where it names none that can be evaluated: `usage`, or
 * `stopped` where it could when they were confirmed.
 */
export async function readCanary(
  { cluster }: Pick<Sources, 'cluster'>,
  { options, goal }: Pick<Context, 'options' | 'goal'>,
  found: AgentFacts,
  recorded: readonly string[] = [],
): Promise<CanaryFacts> {
  const { target, selector, agents, isChanging } = found;
  const isBack = goal.takesBack !== undefined;
  const how = { isBegun: !isChanging, isBack, before: recorded };
  const nodes = await chooseNodes(cluster, options.canary ?? '', agents, how).catch((thrown: unknown) => {
    if (!options.isCanaryShown || !(thrown instanceof Fault)) throw thrown;
    throw new Fault('stopped', `${thrown.message}; it was confirmed, and no other is replaced in its place`, [
      againAs('it chooses once more'),
    ]);
  });
  const chosen = new Set(nodes);
  const [isRecorded, isNew] = [new Set(recorded), agents.filter((one) => one.isNew && !chosen.has(one.node.metadata.name))];
  const [before = [], others = []] = [true, false].map((is) =>
    isNew.map(({ node }) => node.metadata.name).filter((name) => isRecorded.has(name) === is),
  );
  return {
    target,
    selector,
    nodes,
    old: agents.filter(({ node, isNew }) => (isChanging || !isNew) && chosen.has(node.metadata.name)).map(({ node }) => node.metadata.name),
    before,
    others: isBack ? [] : others,
    of: isBack ? agents.filter(goesBack).length : agents.length,
  };
}

/**
 * One agent of each node for Linux, the new one where both are there. Of a template that is still to be changed an agent is new if it alone
 * has the image, as in a rollback.
 */
export async function readAgents(
  { cluster, clock }: Pick<Sources, 'cluster' | 'clock'>,
  workload: KubeObject,
  target: RolloutTarget,
  isChanged: boolean,
): Promise<AgentFacts> {
  const { namespace = '' } = workload.metadata;
  const selector = selectorText(selectorOf(workload));
  const [pods, nodes] = await Promise.all([
    cluster.list(K.Pod, { namespace, labelSelector: selector, keep: leanPod }),
    cluster.list(K.Node, { keep: slimNode }),
  ]);
  const now = clock.now().getTime();
  const byNode = new Map<string, AgentNode>();
  const here = new Map(nodes.filter(isLinux).map((node) => [node.metadata.name, node]));
  const all = podsMadeBy(target, pods.map(podFacts));
  const isOfTemplate = isChanged ? () => !hasImage(workload, target) : ofTemplate(workload, all);
  for (const facts of all) {
    const node = here.get(facts.node);
    const isNew = judgePod({ ...facts, terminating: false }, { target, nodes: new Map(), now }, isOfTemplate(facts)).phase !== 'old';
    const isAway = !isReady(facts, target.ready);
    if (node && (isNew || !byNode.has(facts.node)))
      byNode.set(facts.node, { node, isNew, isAway, isMadeBefore: isMadeBefore(workload, facts) });
  }
  const agents = [...byNode.values()].toSorted((a, b) => (a.node.metadata.name < b.node.metadata.name ? -1 : 1));
  return { target, selector, agents, isChanging: isChanged };
}

function hasImage(workload: KubeObject, { container, image }: RolloutTarget): boolean {
  return isSameImage(containersOf(workload).find(({ name }) => name === container)?.image ?? '', image);
}
