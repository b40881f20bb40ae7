import type { KubeObject } from '../../kernel/object.ts';
import { type AgentOnNode, onTakingNodes } from './agents.ts';

/** Connections are kept between pods of at most as many nodes. */
const MOST = 6;
/** At most as many are of the canary. */
const OF_CANARY = 2;

/**
 * The nodes of the connections: some of the canary, and others spread over the list of all, so that early, middle and late ones of the
 * roll are among them. Which node is when is the DaemonSet controller's choice.
 */
export function chooseKept(
  agents: readonly AgentOnNode[],
  nodes: readonly KubeObject[],
  canary: readonly string[],
): readonly AgentOnNode[] {
  const here = onTakingNodes(agents, nodes);
  const first = here.filter(({ node }) => canary.includes(node)).slice(0, OF_CANARY);
  const others = here.filter((one) => !first.includes(one));
  const count = Math.min(MOST - first.length, others.length);
  const spread = Array.from({ length: count }, (_, index) => others[Math.floor(((2 * index + 1) * others.length) / (2 * count))]);
  return [...first, ...spread.filter((one) => one !== undefined)];
}
