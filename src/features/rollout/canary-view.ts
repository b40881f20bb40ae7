import type { Action } from '../../kernel/action.ts';
import { command, repairCommand } from '../../kernel/command.ts';
import { counted, timeText } from '../../kernel/counted.ts';
import { Fault, PodFault } from '../../kernel/fault.ts';
import { seePod } from '../../kernel/pod-look.ts';
import type { PodProgress, RolloutProgress } from '../../kernel/rollout.ts';
import type { PodName } from '../../kernel/run-record.ts';
import { againAs, look, means, type Suggestion, text } from '../../kernel/step.ts';
import type { PodFacts } from '../../kube/pod-facts.ts';
import { isMadeBefore } from '../../kube/revision.ts';
import { listed } from '../survey/index.ts';
import { LAPSE_MS, Lapses, type PodIn } from './lapses.ts';
import { Lasted } from './lasted.ts';
import { type Board, workloadKey } from './rollout-board.ts';

/**
 * The pods of these nodes, and those of others that are new: a node that joined, or whose pod somebody deleted. Done once all of them are
 * ready, but for as many of the others as may have failed.
 */
export function canaryView(
  progress: RolloutProgress,
  nodes: readonly string[],
  known: Board['nodes'],
  { maxFailed, heldFor }: Pick<SteadyOptions, 'maxFailed' | 'heldFor'>,
): RolloutProgress {
  const chosen = new Set(nodes);
  const pods = progress.pods.filter(({ node, phase }) => chosen.has(node) || phase !== 'old').map((pod) => onItsNode(pod, known));
  const ready = new Set(pods.filter(({ phase }) => phase === 'new').map(({ node }) => node));
  // A node that was removed has no agent any more; without any of a canary nothing is proved.
  const here = nodes.filter((node) => known.has(node));
  const isWithout = here.length === 0 && (heldFor !== 'rest' || known.size === 0);
  const missing = (isWithout ? nodes : here).filter((node) => !ready.has(node));
  const rest = pods.filter(({ phase }) => phase !== 'new');
  const others = rest.filter(({ node }) => !chosen.has(node));
  const done = missing.length === 0 && rest.length === others.length && others.length <= maxFailed;
  const open = [...new Set([...missing, ...rest.map(({ node }) => node)])].filter((node) => node !== '');
  return {
    ...progress,
    desired: Math.max(pods.length, here.length),
    all: progress.desired,
    pods,
    done,
    pending: done ? '' : `not new and ready yet: ${open.join(', ')}`,
  };
}

/** Where a node is lost, its pod may keep what was last reported. */
export function onItsNode(pod: PodProgress, known: Board['nodes']): PodProgress {
  const node = known.get(pod.node);
  return pod.phase !== 'new' || !node || node.ready ? pod : { ...pod, phase: 'updating', why: `node is not ready (${node.reason})` };
}

/** Nodes that are away may be made again under their names. Milliseconds. */
const GONE_MS = 60_000;
/** Ready for so long, an agent that was made earlier is not what fails: one that crashes is restarted within five minutes. */
const LONG_READY_MS = 600_000;
/** An agent that is replaced so often in its soak is deleted or evicted by something. */
const REPLACED = 3;

interface SteadyOptions {
  readonly holdMs?: number;
  readonly maxFailed: number;
  /** New pods may neither restart nor stop being ready. */
  readonly isWatched: boolean;
  /** The nodes of a canary. */
  readonly only?: readonly string[];
  readonly heldFor?: HeldFor | undefined;
  /** In place of `only`. */
  readonly driver?: { readonly nodes: readonly string[]; readonly chosen?: readonly string[] | undefined };
}

/** Whether all that was waited for is there, and has stayed so. */
export class Steady {
  readonly #lasted: Lasted;
  readonly #only: readonly string[];
  readonly #maxFailed: number;
  readonly #isWatched: boolean;
  readonly #heldFor: HeldFor | undefined;
  readonly #lapses = new Lapses();
  /** By UID, at the first look: agents that were let go restart while Typha rolls, which says nothing of this time. */
  #before: ReadonlyMap<string, number> | undefined;
  /** The last look at which all were there, or the first. */
  #doneAt: number | undefined;
  #goneAt: number | undefined;
  /** UIDs, by node of the canary. */
  readonly #had = new Map<string, Set<string>>();
  readonly #driver: SteadyOptions['driver'];

  constructor({ holdMs, maxFailed, isWatched, only = [], heldFor, driver }: SteadyOptions) {
    this.#driver = driver;
    this.#lasted = new Lasted(holdMs);
    this.#only = only;
    this.#maxFailed = maxFailed;
    this.#isWatched = isWatched;
    this.#heldFor = heldFor;
  }

  /** `now` is of a clock that only goes forward, `at` a moment. Throws Fault('stopped') for a new pod that was restarted, or is no longer ready. */
  isOver(progress: readonly RolloutProgress[], board: Pick<Board, 'nodes' | 'pods' | 'workloads'>, now: number, at: number): boolean {
    this.#before ??= restartsOf(board, this.#heldFor && at - LONG_READY_MS);
    const isDone = progress.every(({ done }) => done);
    this.#doneAt = isDone ? now : (this.#doneAt ?? now);
    if (!this.#isWatched) return this.#lasted.isEnough(isDone ? '' : undefined, now);
    this.#refuseRestarts(progress, board);
    this.#refuseGone(board, now);
    this.#refuseReplaced(progress, board);
    if (this.#hasLapsed(progress, now) || !isDone) return false;
    // A pod that somebody has deleted since has a successor, which was not watched yet.
    return this.#lasted.isEnough(this.#podsOf(progress, board), now);
  }

  #podsOf(progress: readonly RolloutProgress[], board: Pick<Board, 'pods'>): string {
    return this.#mine(progress, board)
      .map(({ uid }) => uid)
      .toSorted()
      .join(' ');
  }

  /** Of the nodes of the canary. */
  #mine(progress: readonly RolloutProgress[], { pods: facts }: Pick<Board, 'pods'>): readonly (PodIn & { readonly uid: string })[] {
    return progress.flatMap(({ target, pods }) =>
      pods
        .filter(({ node }) => this.#only.includes(node))
        .map((pod) => ({ target, pod, uid: facts.get(target)?.get(pod.pod)?.uid ?? pod.pod })),
    );
  }

  /** Each of them is watched for the whole time, which would never end. */
  #refuseReplaced(progress: readonly RolloutProgress[], board: Pick<Board, 'pods'>): void {
    const bad = this.#mine(progress, board).filter(({ pod: { node }, uid }) => {
      const had = this.#had.get(node) ?? new Set();
      this.#had.set(node, had.add(uid));
      return had.size > REPLACED;
    });
    const [first] = bad;
    if (!first) return;
    const events = command`kubectl -n ${first.target.namespace} get events --sort-by=.lastTimestamp`;
    throw this.#failed(bad, `replaced ${REPLACED} times while watched`, [look(text`see what deletes or evicts it: ${events}`)]);
  }

  /** When it began to count, of the same clock. */
  get since(): number | undefined {
    return this.#lasted.since;
  }

  /** For how long something has been missing, by the same clock. */
  openFor(now: number): number {
    return now - (this.#doneAt ?? now);
  }

  /** The time of watching does not begin again: one that is away for seconds is no failure. */
  #hasLapsed(progress: readonly RolloutProgress[], now: number): boolean {
    const { away, lapsed } = this.#lapses.at(progress, now);
    if (this.#areTooMany(lapsed)) throw this.#failed(lapsed, `not ready any more for ${timeText(LAPSE_MS)}`, []);
    return this.#areTooMany(away);
  }

  /** Of the nodes that are watched none may be missing, of others as many as may fail. */
  #areTooMany(bad: readonly PodIn[]): boolean {
    const watched = this.#driver?.nodes ?? this.#only;
    return bad.length > this.#maxFailed || bad.some(({ pod: { node } }) => watched.includes(node));
  }

  /** Nothing is proved without its nodes, and they do not come back by waiting. */
  #refuseGone({ nodes: known }: Pick<Board, 'nodes'>, now: number): void {
    const nodes = this.#driver?.chosen ?? this.#driver?.nodes ?? this.#only;
    const isGone = this.#heldFor === 'canary' && nodes.length > 0 && known.size > 0 && !nodes.some((node) => known.has(node));
    this.#goneAt = isGone ? (this.#goneAt ?? now) : undefined;
    if (this.#goneAt === undefined || now - this.#goneAt < GONE_MS) return;
    const [is, no] = nodes.length === 1 ? ['is', 'no node'] : ['are', 'no nodes'];
    throw new Fault('stopped', `the canary is gone: ${listed(nodes)} ${is} ${no} of this cluster any more`, [HELD_ON, CHOOSE]);
  }

  /** Since it was made, or since the first look. */
  hasRestarted({ uid, restarts = 0 }: PodFacts): boolean {
    return restarts > (this.#before?.get(uid) ?? 0);
  }

  #refuseRestarts(progress: readonly RolloutProgress[], board: Pick<Board, 'pods'>): void {
    const bad = progress.flatMap((one) => {
      const facts = board.pods.get(one.target);
      return badIn([one], ({ pod: name, phase }) => {
        const of = phase === 'new' ? facts?.get(name) : undefined;
        return of !== undefined && this.hasRestarted(of);
      });
    });
    if (bad.length <= this.#maxFailed) return;
    throw this.#failed(bad, 'restarted since it was started', withNewPod(bad), ({ target: { container }, pod }) => pod.ended ?? container);
  }

  /** `endedIn`: the container whose log has the reason. */
  #failed(bad: readonly PodIn[], what: string, steps: readonly Suggestion[], endedIn?: (one: PodIn) => string): Fault {
    const pods = bad.map((one): PodName => {
      const name = { namespace: one.target.namespace, name: one.pod.pod };
      return endedIn ? { ...name, log: { container: endedIn(one), of: 'former' } } : name;
    });
    const list = bad.map(({ target: { namespace }, pod }) => `${pod.node}: ${namespace}/${pod.pod}${pod.why === '' ? '' : `: ${pod.why}`}`);
    const looks = pods.slice(0, SHOWN).map(seePod);
    const fact = `${counted(bad.length, 'agent')} ${what}: ${list.join('; ')}`;
    const rest = this.#heldFor ? HELD : [FIX];
    return new PodFault('stopped', ofCanary(fact, this.#heldFor), [...looks, ...steps, ...rest], pods);
  }
}

/** Where the workload is held, of agents alone that were made before and have been ready since: they may be as old as the cluster. */
function restartsOf({ pods, workloads }: Pick<Board, 'pods' | 'workloads'>, readyBefore: number | undefined): ReadonlyMap<string, number> {
  const counts = [...pods].flatMap(([{ kind, namespace, name }, all]) => {
    const workload = workloads.get(workloadKey(kind, namespace, name));
    const isOld = (pod: PodFacts) =>
      workload !== undefined && isMadeBefore(workload, pod) && !pod.trouble && (pod.readyAt ?? pod.createdAt) <= (readyBefore ?? 0);
    return [...all.values()].filter((pod) => readyBefore === undefined || isOld(pod));
  });
  return new Map(counts.map(({ uid, restarts = 0 }) => [uid, restarts]));
}

/** What is left of agents that were restarted: without it the resumed run fails at once. */
export function withNewPod(bad: readonly PodIn[]): readonly Suggestion[] {
  const again = bad.slice(0, SHOWN).map(({ target: { namespace }, pod }) => repairCommand`kubectl -n ${namespace} delete pod ${pod.pod}`);
  return again.map((one) => text`once the cause is fixed, give its node a new agent, which counts from zero: ${one}`);
}

/** More pods than these help nobody. */
const SHOWN = 3;

function badIn(progress: readonly RolloutProgress[], isBad: (pod: PodProgress) => boolean): readonly PodIn[] {
  return progress.flatMap(({ target, pods }) => pods.filter(isBad).map((pod) => ({ target, pod })));
}

/** While a workload replaces none of its pods by itself: for a canary, or until it may replace the rest. */
export type HeldFor = 'canary' | 'rest';

export const ofCanary = (fact: string, heldFor: HeldFor | undefined): string =>
  heldFor === 'canary' ? `the canary failed: ${fact}` : fact;

/** What is left after a verdict that stopped the run. */
export const FIX: Suggestion = text`fix the cause, then ${againAs('it resumes')}`;

/** What it means that the agents stay held. */
export const HELD_ON = means(
  'no further agent is replaced: the update strategy stays OnDelete. New nodes, and agents that somebody deletes, get the release that the run installs',
);

const CHOOSE: Suggestion = text`choose other nodes: ${command`kubectl netsvc-upgrade run`.with('--canary', '1')}`;

/** What a canary that failed means. */
export const HELD: readonly Suggestion[] = [HELD_ON, FIX];

/** What the DaemonSet was held for when this action was begun, and the nodes whose agents were new then. */
export function heldIn(last: Action | undefined): { readonly for: HeldFor; readonly nodes: readonly string[] } | undefined {
  const { effect } = last ?? {};
  if (effect?.type === 'replace-agents') return { for: effect.heldFor, nodes: effect.nodes ?? [] };
  if (effect?.type === 'stop-canary') return { for: 'canary', nodes: effect.nodes };
  if (effect?.type === 'wait' && effect.until.type === 'new-pods') return { for: 'canary', nodes: effect.until.nodes };
  if (effect?.type === 'see-connections') return { for: 'canary', nodes: [] };
  if (effect?.type === 'probe-network') return effect.heldFor && { for: effect.heldFor, nodes: [] };
  const { only = [], heldFor } = effect?.type === 'wait' && effect.until.type === 'rollout' ? effect.until : {};
  return heldFor && { for: heldFor, nodes: only };
}
