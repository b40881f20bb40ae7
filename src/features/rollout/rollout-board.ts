import { Fault, messageOf } from '../../kernel/fault.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Clock } from '../../kernel/ports.ts';
import type { RolloutProgress, RolloutTarget } from '../../kernel/rollout.ts';
import { againAs } from '../../kernel/step.ts';
import { judgeRollout, type Known } from '../../kube/judge-rollout.ts';
import type { NodeFacts, PodFacts } from '../../kube/pod-facts.ts';
import { isObserved } from '../../kube/workload.ts';

export const CONTINUE = [againAs('it resumes where this one stopped')];

/** Between two evaluations at least, milliseconds: changes come in bursts. */
const APART_MS = 10;
/** Milliseconds at most: with many pods each evaluation costs more, so they are rarer. */
const FARTHEST_MS = 100;
/** A millisecond between two evaluations for this many pods. */
const PODS_PER_MS = 10;
/** Elapsed times and the time limit are looked at this often when nothing changes. */
const TICK_MS = 1000;

/** The state that the watches keep up to date. */
export class Board {
  readonly workloads = new Map<string, KubeObject>();
  /** By name. */
  readonly pods = new Map<RolloutTarget, Map<string, PodFacts>>();
  readonly nodes = new Map<string, NodeFacts>();
  readonly #targets: readonly RolloutTarget[];
  readonly #known: Known = new WeakMap();
  readonly #waitingFor = new Set<string>();
  #failure: unknown;
  #wake: (() => void) | undefined;
  #dirty = false;
  /** Of the last evaluation, until something changes. */
  #last: readonly RolloutProgress[] | undefined;

  constructor(targets: readonly RolloutTarget[]) {
    this.#targets = targets;
    for (const target of targets) this.pods.set(target, new Map());
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
    const failure = this.#failure;
    if (failure instanceof Fault) throw failure;
    if (failure !== undefined) throw new Fault('failed', `watching the rollout failed: ${messageOf(failure)}`, CONTINUE, failure);
    if (this.#waitingFor.size > 0) return undefined;
    // Nothing came in, and no text tells how long a pod has been at it: it is as it was, and whoever is told sees that by the object.
    if (this.#last?.every(({ pods }) => pods.every(({ phase }) => phase === 'new' || phase === 'old'))) return this.#last;
    this.#last = this.#targets.map((target) =>
      judgeRollout({
        target,
        workload: this.workloads.get(workloadKey(target.kind, target.namespace, target.name)),
        pods: [...(this.pods.get(target)?.values() ?? [])],
        nodes: this.nodes,
        now,
        known: this.#known,
      }),
    );
    return this.#last;
  }

  /** The controllers have seen every workload as it is. */
  get isObserved(): boolean {
    const all = this.#targets.map(({ kind, namespace, name }) => this.workloads.get(workloadKey(kind, namespace, name)));
    return all.every((one) => one === undefined || isObserved(one));
  }

  get #apartMs(): number {
    const pods = [...this.pods.values()].reduce((sum, { size }) => sum + size, 0);
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

export function workloadKey(kind: string, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`;
}
