import { repairCommand } from '../../kernel/command.ts';
import { type Fault, PodFault } from '../../kernel/fault.ts';
import { seePod } from '../../kernel/pod-look.ts';
import { ApiFailure, type ClusterReader } from '../../kernel/ports.ts';
import type { PodProgress, RolloutProgress, RolloutTarget } from '../../kernel/rollout.ts';
import { againAs, contain, means, type Step, text } from '../../kernel/step.ts';
import { listed } from '../survey/index.ts';
import { HELD_ON, type HeldFor, ofCanary } from './canary-view.ts';
import { keptOff, withoutNetwork } from './failed-pods.ts';
import { type AgentPod, isSettled, meaningOf, shortText } from './meanings.ts';
import { eventOf, type Lagging, latePods } from './pod-reasons.ts';
import { nodesOf, type RefusedPod, refusedPods } from './refused-pods.ts';
import type { Board } from './rollout-board.ts';

/** What the last events say of pods that have been unready for a while. */
class LateReasons {
  readonly #says = new Map<string, string>();
  /** Late at the look before this one. */
  #before: readonly string[] = [];
  /** In the order in which they were asked about. */
  readonly #asked: string[] = [];
  #isTurn = true;

  /** The pod to ask about: unready for two looks, and not asked about for longest. With `others` every second time. */
  next(progress: readonly RolloutProgress[], others: boolean): Lagging | undefined {
    const late = latePods(progress).filter(({ late }) => late !== undefined);
    const stayed = late.filter((one) => this.#before.includes(keyOf(one)));
    this.#before = late.map(keyOf);
    const isTurn = this.#isTurn || !others;
    const [first] = stayed.toSorted((a, b) => this.#asked.lastIndexOf(keyOf(a)) - this.#asked.lastIndexOf(keyOf(b)));
    this.#isTurn = !isTurn || first === undefined;
    return isTurn ? first : undefined;
  }

  async ask(cluster: Pick<ClusterReader, 'raw'>, pod: Lagging): Promise<void> {
    this.#asked.push(keyOf(pod));
    const says = await eventOf(cluster, pod);
    if (says !== undefined) this.#says.set(keyOf(pod), says);
  }

  /** The same, with what their last events say of pods that are not ready. */
  told(progress: readonly RolloutProgress[]): readonly RolloutProgress[] {
    if (this.#says.size === 0) return progress;
    return progress.map((one) => ({ ...one, pods: one.pods.map((pod) => this.#told(one.target.namespace, pod)) }));
  }

  #told(namespace: string, pod: PodProgress): PodProgress {
    const says = pod.phase === 'updating' && pod.late !== undefined ? this.#says.get(keyOf({ namespace, ...pod })) : undefined;
    if (says === undefined) return pod;
    const { why, reason = why } = pod;
    return { ...pod, why: `${why}: ${says}`, reason: `${reason}: ${says}` };
  }
}

function keyOf({ namespace, pod }: Pick<Lagging, 'namespace' | 'pod'>): string {
  return `${namespace}/${pod}`;
}

/** A wait that ends before this asks for nothing. */
const EVERY_MS = 15_000;
interface PodsAsked {
  /** On more nodes than these, pods without a network stop the wait. */
  readonly maxFailed: number;
  readonly heldFor?: HeldFor | undefined;
}

/**
 * What kubelet events say during a rollout: whether pods get a network on nodes with a ready new agent, which no agent reports, or why a
 * pod is not ready. One read is about one of them.
 */
export class PodEvents {
  readonly #cluster: Pick<ClusterReader, 'raw'>;
  readonly #board: Board;
  readonly #request: PodsAsked;
  readonly late = new LateReasons();
  #nextAt = EVERY_MS;
  #busy = false;
  #mayReadAll = true;

  constructor(cluster: Pick<ClusterReader, 'raw'>, board: Board, request: PodsAsked) {
    this.#cluster = cluster;
    this.#board = board;
    this.#request = request;
  }

  /** Never waited for: what it finds ends the wait through the board, or is reported by `told`. */
  look(progress: readonly RolloutProgress[], waited: number): void {
    if (this.#busy || waited < this.#nextAt) return;
    this.#nextAt = waited + EVERY_MS;
    const agents = this.#mayReadAll ? newAgents(progress, this.#board) : new Map<string, AgentPod>();
    const late = this.late.next(progress, agents.size > 0);
    if (!late && agents.size === 0) return;
    this.#busy = true;
    const after = (error?: unknown) => {
      this.#busy = false;
      // Without the right to read events nothing waits for them; any other failure may pass.
      if (!(error instanceof ApiFailure) || error.status !== 403) return;
      if (late) this.#nextAt = Number.POSITIVE_INFINITY;
      this.#mayReadAll = false;
    };
    void (late ? this.late.ask(this.#cluster, late) : this.#ask(agents, progress)).then(() => after(), after);
  }

  async #ask(agents: ReadonlyMap<string, AgentPod>, progress: readonly RolloutProgress[]): Promise<void> {
    const { maxFailed, heldFor } = this.#request;
    const found = await refusedPods(this.#cluster, {
      isDue: (event) => isSettled(agents, event),
      agentMadeAt: async (node) => agents.get(node)?.createdAt,
      maxFailed,
    });
    if (nodesOf(found).length <= maxFailed) return;
    const rolling = progress.find(({ target, pods }) => target.kind === 'DaemonSet' && pods.some(({ phase }) => phase === 'old'));
    this.#board.fail(refusedFault(found, heldFor, rolling?.target));
  }
}

/** By node; of several DaemonSets the pod that became ready last. */
function newAgents(progress: readonly RolloutProgress[], board: Board): ReadonlyMap<string, AgentPod> {
  const agents = new Map<string, AgentPod>();
  for (const { target, pods } of progress) {
    if (target.kind !== 'DaemonSet') continue;
    for (const { node, pod, phase } of pods) {
      const facts = phase === 'new' ? board.pods.get(target)?.get(pod) : undefined;
      if (!facts?.readyAt || facts.readyAt < (agents.get(node)?.readyAt ?? 0)) continue;
      agents.set(node, { createdAt: facts.createdAt, readyAt: facts.readyAt });
    }
  }
  return agents;
}

const HOLD = '{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}}';

/** A wait that ends does not end the rollout. */
export function heldBy({ namespace, name }: { readonly namespace: string; readonly name: string }): Step {
  const patch = repairCommand`kubectl -n ${namespace} patch daemonset ${name} --type=merge -p ${HOLD}`;
  return contain(text`the DaemonSet keeps rolling out; to hold it: ${patch}`);
}

/** `rolling`: a workload that still replaces pods by itself. */
export function refusedFault(found: readonly RefusedPod[], heldFor: HeldFor | undefined, rolling?: RolloutTarget): Fault {
  const nodes = listed(nodesOf(found));
  const list = found.map(({ node, namespace, pod, says }) => `${node}: ${namespace}/${pod}: ${shortText(says)}`).join('; ');
  const meaning = meaningOf(found.map(({ says }) => says));
  const hold = heldFor ? [HELD_ON] : rolling ? [heldBy(rolling)] : [];
  const pods = found.map(({ namespace, pod }) => ({ namespace, name: pod }));
  const steps = [
    ...pods.map(seePod),
    ...(meaning ? [means(meaning)] : []),
    withoutNetwork(nodes),
    ...hold,
    keptOff(nodesOf(found)),
    text`fix ${nodes}, then ${againAs('it resumes')}`,
  ];
  const fact = `new pods get no network on a node whose agent is new and ready: ${list}`;
  return new PodFault('stopped', ofCanary(fact, heldFor), steps, pods);
}
