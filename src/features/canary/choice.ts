import { command } from '../../kernel/command.ts';
import { counted } from '../../kernel/counted.ts';
import { Fault } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import { nearest } from '../../kernel/nearest.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { ApiFailure, type ClusterReader } from '../../kernel/ports.ts';
import { look, text as says } from '../../kernel/step.ts';
import { percentOf } from '../../kube/judge-rollout.ts';
import { nodeFacts } from '../../kube/pod-facts.ts';
import { takesPods } from '../network-probe/index.ts';
import { listed } from '../survey/index.ts';

/** A node with an agent. */
export interface AgentNode {
  readonly node: KubeObject;
  /** Its agent has the new template already, whoever replaced it. */
  readonly isNew: boolean;
  /** It is not ready. */
  readonly isAway?: boolean;
  /** It was made before that template, which may be the same as an earlier one. */
  readonly isMadeBefore?: boolean;
}

/** In a rollback all but those that were never upgraded, which are new as well. */
export const goesBack = ({ isNew, isMadeBefore }: AgentNode): boolean => !(isNew && isMadeBefore);

/** What `--canary` says: a number of nodes, a percentage, a selector, or names. */
type Choice =
  | { readonly count: number }
  | { readonly percent: number }
  | { readonly selector: string }
  | { readonly names: readonly string[] };

const LOOK = command`kubectl get nodes --show-labels`;

/** Digits, with or without %, are a count; what holds `=`, `!` or `(` is a selector; all else are names. Throws Fault('usage'). */
function parseCanary(text: string): Choice {
  const said = text.trim();
  const [, digits, percent] = /^(\d{1,6})(%?)$/.exec(said) ?? [];
  if (digits !== undefined) return countOf(Number(digits), percent === '%');
  if (/[=!(]/.test(said)) return { selector: said };
  const names = [...new Set(said.split(',').map((name) => name.trim()))].filter((name) => name !== '');
  if (names.length === 0 || names.some((name) => name.endsWith('%') || name.startsWith('-')))
    throw refused(`--canary ${said === '' ? 'is empty: it' : text} names no nodes`);
  return { names };
}

function countOf(number: number, isPercent: boolean): Choice {
  if (number < 1) throw refused(`--canary ${number}${isPercent ? '%' : ''} names no nodes`);
  if (isPercent && number >= 100) throw refused(`--canary ${number}% is every node`);
  return isPercent ? { percent: number } : { count: number };
}

interface Begun {
  /** By an earlier run. */
  readonly isBegun?: boolean;
  /** The nodes that it chose. */
  readonly before?: readonly string[];
  /** To an older release. */
  readonly isBack?: boolean;
}

/** The nodes of the canary, by name. Throws Fault('usage') where that is no part of the cluster that can be evaluated. */
export async function chooseNodes(
  cluster: Pick<ClusterReader, 'list'>,
  text: string,
  agents: readonly AgentNode[],
  begun: Begun = {},
): Promise<readonly string[]> {
  const choice = parseCanary(text);
  if (agents.length < 2) throw refused(`--canary needs two nodes with an agent: this cluster has ${agents.length}`);
  const usable = begun.isBack ? agents.filter(goesBack) : agents;
  if (begun.isBack && usable.length < 2) throw allBack(text, usable);
  const chosen =
    'names' in choice
      ? await namedNodes(cluster, begun.isBegun ? stillThere(choice.names, usable) : choice.names, usable, agents)
      : 'selector' in choice
        ? await selected(cluster, choice, usable)
        : counting(choice, usable, begun);
  if (chosen.length < usable.length) return chosen;
  throw begun.isBack ? allBack(text, usable) : refused(`--canary ${text} is every node with an agent: then nothing is left to protect`);
}

function allBack(text: string, back: readonly AgentNode[]): Fault {
  const names = back.map(({ node }) => node.metadata.name);
  const which = names.length === 0 ? 'no agent is' : `${agentsText(names)} ${isOrAre(names)} all that is`;
  return new Fault('usage', `--canary ${text}: ${which} taken back, so there are no others to protect`, ['leave it out']);
}

async function namedNodes(
  cluster: Pick<ClusterReader, 'list'>,
  names: readonly string[],
  agents: readonly AgentNode[],
  others: readonly AgentNode[] = [],
): Promise<readonly string[]> {
  const all = new Map(agents.map((one) => [one.node.metadata.name, one]));
  const unknown = names.find((name) => !all.has(name));
  if (others.some(({ node }) => node.metadata.name === unknown))
    throw refused(`--canary: the agent of ${unknown} was not upgraded, so it is not taken back`);
  if (unknown !== undefined) throw await unknownNode(cluster, unknown, [...all.keys()]);
  // Where it was begun it is watched to its end: a new agent may be what makes the node not ready.
  const unfit = names.find((name) => !all.get(name)?.isNew && !isReady(all.get(name)?.node));
  if (unfit !== undefined) throw refused(`--canary: node ${unfit} is not ready, so its agent cannot be evaluated`);
  return names.toSorted();
}

/** Without nodes that have gone since, unless none is left. */
function stillThere(names: readonly string[], agents: readonly AgentNode[]): readonly string[] {
  const all = new Set(agents.map(({ node }) => node.metadata.name));
  const left = names.filter((name) => all.has(name));
  return left.length > 0 ? left : names;
}

async function unknownNode(cluster: Pick<ClusterReader, 'list'>, name: string, known: readonly string[]): Promise<Fault> {
  const node = (await cluster.list(K.Node, { metadataOnly: true })).find(({ metadata }) => metadata.name === name);
  if (node && !isLinux(node)) return refused(`--canary: node ${name} runs Windows, where this DaemonSet has no agent`);
  const meant = nearest(name, known);
  const fact = `--canary: there is no node ${name} with an agent for Linux`;
  return new Fault('usage', fact, [...(meant === undefined ? [] : [`did you mean ${meant}?`]), look(says`see the nodes: ${LOOK}`)]);
}

async function selected(cluster: Pick<ClusterReader, 'list'>, { selector }: { readonly selector: string }, agents: readonly AgentNode[]) {
  const nodes = await cluster.list(K.Node, { labelSelector: selector, metadataOnly: true }).catch((thrown: unknown) => {
    if (thrown instanceof ApiFailure && thrown.status === 400) throw refused(`--canary ${selector} is no selector: ${thrown.message}`);
    throw thrown;
  });
  const found = new Set(nodes.map(({ metadata }) => metadata.name));
  const names = agents.map(({ node }) => node.metadata.name).filter((name) => found.has(name));
  if (names.length === 0) throw refused(`--canary ${selector} selects no node with an agent`);
  return namedNodes(cluster, names, agents);
}

/**
 * First those that the run chose before, then others whose agent is new, however they are by now: what was begun there is watched to its
 * end. Then workers that take pods.
 */
function counting(
  choice: { readonly count: number } | { readonly percent: number },
  agents: readonly AgentNode[],
  { isBack = false, before = [] }: Begun,
): readonly string[] {
  const wanted = 'count' in choice ? choice.count : Math.max(1, percentOf(choice.percent, agents.length));
  if (wanted >= agents.length) return agents.map(({ node }) => node.metadata.name);
  const chosen = new Set(before);
  // What is left for its release first has the agents that fail with it: beside them none else may be away.
  const isBroken = (one: AgentNode) => isBack && !one.isNew && one.isAway === true && isReady(one.node);
  const order = (one: AgentNode) => (one.isNew ? 0 : isBroken(one) ? 1 : 2);
  const rank = (one: AgentNode) => (chosen.has(one.node.metadata.name) ? 0 : 3) + order(one);
  const usable = agents.filter((one) => one.isNew || isBroken(one) || takesPods(one.node));
  const workers = usable.filter(({ node }) => !CONTROL_PLANE.some((label) => node.metadata.labels?.[label] !== undefined));
  const candidates = workers.length > 0 ? workers : usable;
  if (wanted > candidates.length)
    throw refused(
      `--canary: ${counted(wanted, 'node')} of ${agents.length} wanted, with only ${counted(candidates.length, 'ready worker that takes pods', 'ready workers that take pods')}`,
    );
  const inTurn = overZones(candidates.toSorted((a, b) => rank(a) - rank(b)));
  return inTurn
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, wanted)
    .map(({ node }) => node.metadata.name)
    .toSorted();
}

const CONTROL_PLANE = ['control-plane', 'master', 'controlplane'].map((role) => `node-role.kubernetes.io/${role}`);
const ZONE = 'topology.kubernetes.io/zone';

/** The first of each zone, then the second ones. */
function overZones(agents: readonly AgentNode[]): readonly AgentNode[] {
  const zones = Map.groupBy(agents, ({ node }) => node.metadata.labels?.[ZONE] ?? '');
  const inTurn = [...zones.keys()].toSorted().flatMap((zone) => (zones.get(zone) ?? []).map((agent, turn) => ({ agent, turn })));
  return inTurn.toSorted((a, b) => a.turn - b.turn).map(({ agent }) => agent);
}

/** Of the agents' DaemonSets the one for Linux is upgraded. */
export const isLinux = (node: KubeObject): boolean => (node.metadata.labels?.['kubernetes.io/os'] ?? 'linux') === 'linux';

const isReady = (node: KubeObject | undefined): boolean => node !== undefined && nodeFacts(node).ready;

function refused(fact: string): Fault {
  return new Fault('usage', fact, ['write --canary 1, 10%, NODE,NODE or a selector such as zone=a', look(says`see the nodes: ${LOOK}`)]);
}

/** `node-01, node-02`, shortened where there are many. */
export const nodesText = (nodes: readonly string[]): string => listed(nodes);

/** `the agent of node-01`. */
export const agentsText = (nodes: readonly string[]): string => `the agent${nodes.length === 1 ? '' : 's'} of ${nodesText(nodes)}`;

export const isOrAre = (nodes: readonly string[]): string => (nodes.length === 1 ? 'is' : 'are');
export const hasOrHave = (nodes: readonly string[]): string => (nodes.length === 1 ? 'has' : 'have');
