import type { Action, Expectation } from '../../kernel/action.ts';
import type { Options } from '../../kernel/context.ts';
import { jsonAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { imageAge } from '../../kernel/release.ts';
import type { RolloutTarget, WorkloadName } from '../../kernel/rollout.ts';
import { isSameImage, judgePod } from '../../kube/judge-pod.ts';
import { leanPod } from '../../kube/lean-objects.ts';
import { nodeFacts, type PodFacts, podFacts, podsMadeBy } from '../../kube/pod-facts.ts';
import { selectorOf, selectorText } from '../../kube/selector.ts';
import type { HeldFor } from '../rollout/index.ts';

declare module '../../kernel/context.ts' {
  interface Options {
    /** Pods that try the network and keep connections during the wait: their image, and where they may run; whether a broken one stops the run. */
    readonly probeNetwork?: { readonly image: string; readonly namespace: string; readonly isStrict?: true };
  }
}

/** The DaemonSet of the agents, and by what an agent of the target is recognised: its image where that is known beforehand, else its release. */
export interface AgentsOf extends Omit<WorkloadName, 'kind'> {
  readonly runs: { readonly image: string } | { readonly release: string; readonly digests: readonly string[] };
}

/** The agent of one node. */
export interface AgentOnNode {
  readonly node: string;
  readonly pod: string;
  readonly uid: string;
  readonly is: 'upgraded' | 'old' | 'late';
}

/** The agent of every node; none where there is no such DaemonSet. */
export async function readAgents(
  { cluster, clock }: Pick<Sources, 'cluster' | 'clock'>,
  agents: AgentsOf,
): Promise<readonly AgentOnNode[]> {
  const { namespace, name, container, ready } = agents;
  const set = await cluster.get(K.DaemonSet, name, namespace);
  if (!set) return [];
  const pods = await cluster.list(K.Pod, { namespace, labelSelector: selectorText(selectorOf(set)), keep: leanPod });
  const now = clock.now().getTime();
  return podsMadeBy({ kind: 'DaemonSet', name }, pods.map(podFacts)).map((pod): AgentOnNode => {
    const image = pod.images[container] ?? '';
    const target = { kind: 'DaemonSet', namespace, name, container, ready, image } as const;
    const isReady = judgePod(pod, { target, nodes: new Map(), now }).phase === 'new';
    return { node: pod.node, pod: pod.name, uid: pod.uid, is: isReady ? ageOf(pod, agents) : 'late' };
  });
}

function ageOf({ images }: PodFacts, { container, runs }: AgentsOf): 'upgraded' | 'old' {
  const image = images[container] ?? '';
  const isOfTarget = 'image' in runs ? isSameImage(image, runs.image) : imageAge(image, runs.release, runs.digests) === 'of';
  return isOfTarget ? 'upgraded' : 'old';
}

/** True once a node has an upgraded agent that is ready. */
export async function hasUpgradedNode(ports: Pick<Sources, 'cluster' | 'clock'>, agents: AgentsOf): Promise<boolean> {
  return (await readAgents(ports, agents)).some(({ is }) => is === 'upgraded');
}

/** Ordinary pods start on it. */
export function takesPods(node: KubeObject): boolean {
  const { ready, unschedulable } = nodeFacts(node);
  const taints = (jsonAt(node.spec, 'taints') ?? []) as readonly { readonly effect?: string }[];
  const isLinux = (node.metadata.labels?.['kubernetes.io/os'] ?? 'linux') === 'linux';
  return ready && !unschedulable && isLinux && taints.every(({ effect }) => effect === 'PreferNoSchedule');
}

export function onTakingNodes(agents: readonly AgentOnNode[], nodes: readonly KubeObject[]): readonly AgentOnNode[] {
  const taking = new Set(nodes.filter(takesPods).map(({ metadata }) => metadata.name));
  return agents.filter(({ node }) => taking.has(node)).toSorted((a, b) => a.node.localeCompare(b.node));
}

/** Two nodes that are not upgraded yet, or one: what fails there as well is not of the upgrade. */
export function chooseOldNodes(agents: readonly AgentOnNode[], nodes: readonly KubeObject[]): readonly AgentOnNode[] {
  return onTakingNodes(agents, nodes)
    .filter(({ is }) => is === 'old')
    .slice(-2);
}

/** The nodes to probe, an upgraded one first: with an old one as long as there is any, else with another upgraded one; one alone where there is no other. */
export function chooseNodes(agents: readonly AgentOnNode[], nodes: readonly KubeObject[]): readonly AgentOnNode[] {
  const here = onTakingNodes(agents, nodes);
  const upgraded = here.filter(({ is }) => is === 'upgraded');
  const [first] = upgraded;
  if (!first) return [];
  const second = here.findLast(({ is }) => is === 'old') ?? upgraded.at(-1);
  return second && second !== first ? [first, second] : [first];
}

/** The agents of a manifest: their new image is known. */
export function agentsOfTarget({ namespace, name, container, ready, image }: RolloutTarget): AgentsOf {
  return { namespace, name, container, ready, runs: { image } };
}

/** While agents are replaced, or held: `first` waits for one that is upgraded and ready, then the probe is made. Nothing unless it was asked for. */
export function probeBetween(
  agents: AgentsOf,
  first: Expectation,
  options: Options,
  timeoutMs: number,
  heldFor?: HeldFor,
): readonly Action[] {
  if (!options.probeNetwork) return [];
  const title = `wait for the first upgraded pod of DaemonSet/${agents.name}`;
  return [
    { id: 'first-agent', title, ref: '§4.4/3', undo: 'full', effect: { type: 'wait', until: first, timeoutMs } },
    ...networkProbe('probe-between', 'on an upgraded and an old node', agents, options, heldFor),
  ];
}

/** Once all agents are upgraded. Nothing unless it was asked for. */
export function probeAtEnd(agents: AgentsOf, options: Options): readonly Action[] {
  return networkProbe('probe-end', 'on two upgraded nodes', agents, options);
}

function networkProbe(id: string, where: string, agents: AgentsOf, { probeNetwork }: Options, heldFor?: HeldFor): readonly Action[] {
  if (!probeNetwork) return [];
  const { image, namespace } = probeNetwork;
  const title = `probe the pod network: short Jobs in namespace ${namespace} ${where}, 4 at a time, removed afterwards`;
  return [
    {
      id,
      title,
      ref: '§4.4/3',
      undo: 'full',
      effect: { type: 'probe-network', image, namespace, agents, ...(heldFor ? { heldFor } : {}) },
    },
  ];
}

/** Right before agents are replaced: connections between pods, kept until the command ends. Nothing unless it was asked for. */
export function keepConnections(
  agents: AgentsOf,
  { probeNetwork }: Options,
  limitMs: number,
  canary: readonly string[] = [],
): readonly Action[] {
  if (!probeNetwork) return [];
  const { image, namespace, isStrict = false } = probeNetwork;
  const isTrial = false;
  const title = `keep connections between pods on up to 6 nodes: Jobs in namespace ${namespace}, removed when this command ends`;
  return [
    {
      ...{ id: 'connections', title, ref: '§4.4/3', undo: 'full' },
      effect: { type: 'keep-connections', image, namespace, agents, canary, isStrict, isTrial, limitMs },
    },
  ];
}

/** Of the Jobs of a trial: their pods are there within a minute, or not at all. Milliseconds. */
const TRIAL_MS = 240_000;

/** Before anything is changed, where connections decide whether the run continues. */
export function tryConnections(agents: AgentsOf, { probeNetwork }: Options): readonly Action[] {
  if (!probeNetwork?.isStrict) return [];
  const { image, namespace, isStrict } = probeNetwork;
  const title = `see that connections between pods can be kept: Jobs in namespace ${namespace} on up to 6 nodes, removed at once`;
  const effect = { type: 'keep-connections', image, namespace, agents, canary: [], isStrict, isTrial: true, limitMs: TRIAL_MS } as const;
  return [{ id: 'try-connections', title, ref: '§4.4/3', undo: 'full', leavesNothing: true, effect }];
}

/** Part of the verdict on what has been upgraded so far. Nothing unless connections were asked for. */
export function seeConnections({ probeNetwork }: Options): readonly Action[] {
  if (!probeNetwork) return [];
  const title = 'see that no connection between pods of the probe has broken';
  return [{ id: 'see-connections', title, ref: '§4.4/3', undo: 'full', effect: { type: 'see-connections' } }];
}
