import { command } from '../../kernel/argv.ts';
import { repairCommand } from '../../kernel/command.ts';
import { type Fault, PodFault } from '../../kernel/fault.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { ApiFailure, type ClusterReader } from '../../kernel/ports.ts';
import type { PodProgress, RolloutProgress } from '../../kernel/rollout.ts';
import { againAs, contain, means, type Step, seeWhy, text } from '../../kernel/step.ts';
import { type EventFields, podShape } from '../../kube/pod-facts.ts';
import { listed } from '../survey/index.ts';
import { keptOff, withoutNetwork } from './failed-pods.ts';
import { itemsIn, pagesOf } from './list-pages.ts';
import { type AgentPod, meaningOf, refusalsOn, shortText } from './meanings.ts';
import { eventOf, type Lagging, latePods } from './pod-reasons.ts';
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
/** Events in one answer: tenants can write any number of them. */
const EVENTS = 500;
/** Pods that are named of one node. */
const PODS = 3;
/** Pods that are looked at, of all namespaces. */
const LOOKS = 50;

interface PodWithoutNetwork {
  readonly node: string;
  readonly pod: string;
  readonly namespace: string;
  /** In full: what it means may stand anywhere in it. */
  readonly says: string;
}

/**
 * What kubelet events say during a rollout: whether pods get a network on nodes with a ready new agent, which no agent reports, or why a
 * pod is not ready. One read is about one of them.
 */
export class PodEvents {
  readonly #cluster: Pick<ClusterReader, 'raw'>;
  readonly #board: Board;
  readonly #maxFailed: number;
  readonly late = new LateReasons();
  #nextAt = EVERY_MS;
  #busy = false;
  #mayReadAll = true;

  constructor(cluster: Pick<ClusterReader, 'raw'>, board: Board, maxFailed: number) {
    this.#cluster = cluster;
    this.#board = board;
    this.#maxFailed = maxFailed;
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
    const most = PODS + this.#maxFailed;
    const found: PodWithoutNetwork[] = [];
    const nodes = () => new Set(found.map(({ node }) => node)).size;
    for (const event of (await this.#refusals(agents, most)).slice(0, LOOKS)) {
      const { involvedObject: { namespace = '', name = '' } = {}, source: { host: node = '' } = {}, message = '' } = event;
      if (found.filter((one) => one.node === node).length >= PODS) continue;
      if (await this.#isWaiting(event, agents)) found.push({ node, namespace, pod: name, says: message });
      if (found.length >= most && nodes() > this.#maxFailed) break;
    }
    if (nodes() > this.#maxFailed) this.#board.fail(stopped(found, progress));
  }

  /** Of each page only what counts is kept. */
  async #refusals(agents: ReadonlyMap<string, AgentPod>, most: number): Promise<readonly EventFields[]> {
    const path = `/api/v1/events?fieldSelector=${encodeURIComponent('reason=FailedCreatePodSandBox')}&limit=${EVENTS}`;
    let kept: readonly EventFields[] = [];
    for await (const page of pagesOf(this.#cluster, path)) kept = refusalsOn(agents, [...kept, ...page], most);
    return kept;
  }

  /** On the node that the event names, made after the new agent there, and without a network until now. */
  async #isWaiting({ involvedObject, source }: EventFields, agents: ReadonlyMap<string, AgentPod>): Promise<boolean> {
    const { namespace = '', name = '', uid } = involvedObject ?? {};
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
    const selector = encodeURIComponent(`metadata.name=${name}`);
    const [pod] = itemsIn(await this.#cluster.raw(`${path}?fieldSelector=${selector}`)) as readonly KubeObject[];
    if (!pod || pod.metadata.deletionTimestamp || (uid !== undefined && pod.metadata.uid !== uid)) return false;
    const createdAt = Date.parse(pod.metadata.creationTimestamp ?? '');
    const { spec, status: { phase, podIP } = {} } = podShape(pod);
    const agent = agents.get(source?.host ?? '');
    return spec?.nodeName === source?.host && phase === 'Pending' && !podIP && agent !== undefined && createdAt > agent.createdAt;
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

/** `progress`: of when they were found. */
function stopped(found: readonly PodWithoutNetwork[], progress: readonly RolloutProgress[]): Fault {
  const nodes = listed([...new Set(found.map(({ node }) => node))]);
  const rolling = progress.find(({ target, pods }) => target.kind === 'DaemonSet' && pods.some(({ phase }) => phase === 'old'));
  const list = found.map(({ node, namespace, pod, says }) => `${node}: ${namespace}/${pod}: ${shortText(says)}`).join('; ');
  const meaning = meaningOf(found.map(({ says }) => says));
  const steps = [
    ...found.map(({ namespace, pod }) => seeWhy(command`kubectl -n ${namespace} describe pod ${pod}`)),
    ...(meaning ? [means(meaning)] : []),
    withoutNetwork(nodes),
    ...(rolling ? [heldBy(rolling.target)] : []),
    keptOff(found.map(({ node }) => node)),
    text`fix ${nodes}, then ${againAs('it resumes')}`,
  ];
  const pods = found.map(({ namespace, pod }) => ({ namespace, name: pod }));
  return new PodFault('stopped', `new pods get no network on a node whose agent is new and ready: ${list}`, steps, pods);
}
