import type { ClusterReader } from '../../kernel/ports.ts';
import type { PodProgress, RolloutProgress } from '../../kernel/rollout.ts';
import { eventOf, type Lagging, latePods } from './pod-reasons.ts';

/** What the last events of pods say that have not been ready for a while. */
export class LateReasons {
  readonly #says = new Map<string, string>();
  /** Late at the look before this one. */
  #before: readonly string[] = [];
  /** In the order in which they were asked about. */
  readonly #asked: string[] = [];
  #isTurn = true;

  /** The pod to ask about at this look: late for two looks, and the one that was not asked about for longest. With `others` it is its turn every second time. */
  next(progress: readonly RolloutProgress[], others: boolean): Lagging | undefined {
    const late = latePods(progress).filter(isOpen);
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

  told(progress: readonly RolloutProgress[]): readonly RolloutProgress[] {
    if (this.#says.size === 0) return progress;
    return progress.map((one) => ({ ...one, pods: one.pods.map((pod) => this.#told(one.target.namespace, pod)) }));
  }

  #told(namespace: string, pod: PodProgress): PodProgress {
    const says = pod.phase === 'updating' && isOpen(pod) ? this.#says.get(keyOf({ namespace, ...pod })) : undefined;
    return says === undefined ? pod : { ...pod, why: `${pod.why}: ${says}` };
  }
}

/** Its own state says no more than that it is late. */
function isOpen({ why }: Pick<PodProgress, 'why'>): boolean {
  return /^(?:not ready|pulling image or starting)/.test(why);
}

function keyOf({ namespace, pod }: Pick<Lagging, 'namespace' | 'pod'>): string {
  return `${namespace}/${pod}`;
}
