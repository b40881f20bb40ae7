import { Fault, messageOf } from '../../kernel/fault.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Clock } from '../../kernel/ports.ts';
import type { RolloutProgress, RolloutTarget } from '../../kernel/rollout.ts';
import { judgeRollout, type Known } from '../../kube/judge-rollout.ts';
import { byNode, type NodeFacts, type PodFacts } from '../../kube/pod-facts.ts';

export const CONTINUE = ['run the same command again: it resumes where this one stopped'];

/** Between two evaluations at least, milliseconds: changes come in bursts. */
const APART_MS = 10;
/** Milliseconds at most: with many pods each evaluation costs more, so they are rarer. */
const FARTHEST_MS = 100;
/** A millisecond between two evaluations for this many pods. */
const PODS_PER_MS = 10;
/** Elapsed times and the time limit are looked at this often when nothing changes. */
const TICK_MS = 1000;

/** The pods of one workload by their nodes: sorted once, then each put in its place. */
export class OrderedPods {
  readonly #byName = new Map<string, PodFacts>();
  #inOrder: PodFacts[] = [];

  get inOrder(): readonly PodFacts[] {
    return this.#inOrder;
  }

  get(name: string): PodFacts | undefined {
    return this.#byName.get(name);
  }

  replaceAll(pods: readonly PodFacts[]): void {
    this.#byName.clear();
    for (const pod of pods) this.#byName.set(pod.name, pod);
    this.#inOrder = pods.toSorted(byNode);
  }

  set(name: string, pod: PodFacts): void {
    this.delete(name);
    this.#byName.set(name, pod);
    this.#inOrder.splice(this.#placeOf(pod), 0, pod);
  }

  delete(name: string): void {
    const pod = this.#byName.get(name);
    if (!pod) return;
    this.#byName.delete(name);
    this.#inOrder.splice(this.#placeOf(pod), 1);
  }

  /** Of the first that does not come before it. */
  #placeOf(pod: PodFacts): number {
    let [from, to] = [0, this.#inOrder.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      const other = this.#inOrder[middle];
      if (other && byNode(other, pod) < 0) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

/** The state that the watches keep up to date. */
export class Board {
  readonly workloads = new Map<string, KubeObject>();
  readonly pods = new Map<RolloutTarget, OrderedPods>();
  readonly nodes = new Map<string, NodeFacts>();
  readonly #targets: readonly RolloutTarget[];
  readonly #known = new Map<RolloutTarget, Known>();
  readonly #waitingFor = new Set<string>();
  #failure: unknown;
  #wake: (() => void) | undefined;
  #dirty = false;
  /** Of the last evaluation, until something changes. */
  #last: readonly RolloutProgress[] | undefined;

  constructor(targets: readonly RolloutTarget[]) {
    this.#targets = targets;
    for (const target of targets) {
      this.pods.set(target, new OrderedPods());
      this.#known.set(target, new WeakMap());
    }
  }

  expect(feed: string): void {
    this.#waitingFor.add(feed);
  }

  arrived(feed: string): void {
    this.#waitingFor.delete(feed);
    this.touch();
  }

  touch(): void {
    this.#dirty = true;
    this.#last = undefined;
    this.#wake?.();
  }

  fail(thrown: unknown): void {
    this.#failure = thrown;
    this.touch();
  }

  /** Undefined until every watch has delivered its first snapshot: half a view is no verdict. */
  progress(now: number): readonly RolloutProgress[] | undefined {
    if (this.#failure !== undefined) throw asFault(this.#failure);
    if (this.#waitingFor.size > 0) return undefined;
    // Nothing came in, and no text tells how long a pod has been at it: it is as it was, and whoever is told sees that by the object.
    if (this.#last?.every(({ pods }) => pods.every(({ phase }) => phase === 'new' || phase === 'old'))) return this.#last;
    this.#last = this.#targets.map((target) => {
      const known = this.#known.get(target);
      return judgeRollout({
        target,
        workload: this.workloads.get(workloadKey(target.kind, target.namespace, target.name)),
        pods: this.pods.get(target)?.inOrder ?? [],
        nodes: this.nodes,
        now,
        ...(known ? { known } : {}),
      });
    });
    return this.#last;
  }

  get #apartMs(): number {
    const pods = [...this.pods.values()].reduce((sum, { inOrder }) => sum + inOrder.length, 0);
    return Math.min(FARTHEST_MS, Math.max(APART_MS, pods / PODS_PER_MS));
  }

  /** Call it after an evaluation; resolves when the next is useful: at once, if nothing had changed for a while. */
  async change(clock: Clock, signal: AbortSignal): Promise<void> {
    const judgedAt = clock.now().getTime();
    if (!this.#dirty) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const cut = new AbortController();
      await Promise.race([woken, clock.sleep(TICK_MS, AbortSignal.any([signal, cut.signal])).catch(() => undefined)]);
      cut.abort();
      this.#wake = undefined;
    }
    const since = clock.now().getTime() - judgedAt;
    const apart = this.#apartMs;
    if (this.#dirty && since < apart) await clock.sleep(apart - Math.max(since, 0), signal).catch(() => undefined);
    this.#dirty = false;
  }
}

function asFault(thrown: unknown): Error {
  return thrown instanceof Fault ? thrown : new Fault('failed', `watching the rollout failed: ${messageOf(thrown)}`, CONTINUE, thrown);
}

export function workloadKey(kind: string, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`;
}
