import { command } from '../../kernel/argv.ts';
import { Fault } from '../../kernel/fault.ts';
import type { PodProgress, RolloutProgress } from '../../kernel/rollout.ts';
import { endedContainer } from './pod-reasons.ts';

/** A failed pod must stay failed this long before it counts: crash loops come back, pulls are retried. */
const FAILURE_GRACE_MS = 30_000;

interface Failed {
  /** `shop/web-1-a` */
  readonly key: string;
  readonly pod: PodProgress;
  readonly target: RolloutProgress['target'];
}

/** The pods that have failed and stay so, against the number that the user tolerates. */
export class FailedPods {
  readonly #since = new Map<string, number>();
  readonly #maxFailed: number;
  /** Those that earlier waits of the run continued without: they count as well, and at once. */
  readonly #leftBehind: Set<string> | undefined;

  constructor(maxFailed: number, leftBehind: Set<string> | undefined) {
    this.#maxFailed = maxFailed;
    this.#leftBehind = leftBehind;
  }

  /** `now` is of a clock that only goes forward. Throws Fault('stopped') if more stay failed than are tolerated; else true if nothing but such pods keeps the rollout from its end. */
  judge(progress: readonly RolloutProgress[], now: number): boolean {
    const settled = this.#settled(progress, now);
    const all = new Set([...(this.#leftBehind ?? []), ...settled.map(({ key }) => key)]);
    if (settled.length > 0 && all.size > this.#maxFailed) throw tooMany(settled, all.size, this.#maxFailed);
    if (!this.#leftBehind || settled.length === 0) return false;
    const keys = new Set(settled.map(({ key }) => key));
    if (!progress.every((one) => one.done || restsOnFailed(one, keys))) return false;
    for (const key of keys) this.#leftBehind.add(key);
    return true;
  }

  #settled(progress: readonly RolloutProgress[], now: number): readonly Failed[] {
    const failed = progress.flatMap((one) =>
      one.pods.filter(({ phase }) => phase === 'failed').map((pod) => ({ key: keyOf(one, pod), pod, target: one.target })),
    );
    const keys = new Set(failed.map(({ key }) => key));
    for (const key of this.#since.keys()) if (!keys.has(key)) this.#since.delete(key);
    for (const key of keys) if (!this.#since.has(key)) this.#since.set(key, now);
    return failed.filter(({ key }) => this.#leftBehind?.has(key) || now - (this.#since.get(key) ?? now) >= FAILURE_GRACE_MS);
  }
}

function keyOf({ target }: RolloutProgress, { pod }: PodProgress): string {
  return `${target.namespace}/${pod}`;
}

/** No pod is progressing any more, and at least one has failed for good. */
function restsOnFailed(one: RolloutProgress, settled: ReadonlySet<string>): boolean {
  const moving = one.pods.some((pod) => pod.phase === 'updating' || (pod.phase === 'failed' && !settled.has(keyOf(one, pod))));
  return !moving && one.pods.some((pod) => settled.has(keyOf(one, pod)));
}

function tooMany(settled: readonly Failed[], count: number, maxFailed: number): Fault {
  const list = settled.map(({ key, pod }) => `${pod.node || 'no node'}: ${key}: ${pod.why}`).join('; ');
  const looks = [...new Set(settled.map(lookAt))].slice(0, SHOWN);
  return new Fault('stopped', `${count} ${count === 1 ? 'pod' : 'pods'} failed, more than --max-failed=${maxFailed}: ${list}`, [
    ...looks.map((one) => `see why: ${one}`),
    impactOn(settled.map(({ pod }) => pod.node)),
    'fix the cause, then run the same command again: it resumes',
    `or let the rollout continue on other nodes meanwhile: --max-failed=${count}`,
  ]);
}

/** What it means for traffic that a rollout does not get on. */
export const IMPACT = 'running pods keep their network; new pods on a node whose agent is not ready get none';

function impactOn(nodes: readonly string[]): string {
  const named = [...new Set(nodes)].filter((node) => node !== '');
  if (named.length === 0 || named.length > SHOWN) return IMPACT;
  return `running pods keep their network; new pods on ${named.join(', ')} get none until its agent is ready`;
}

/** Commands for more pods than these help nobody. */
const SHOWN = 3;

/** The log of a crash-looping container has the reason; for any other the events do. */
function lookAt({ pod, target: { namespace } }: Failed): string {
  const ended = endedContainer(pod.why);
  return ended === undefined
    ? command`kubectl -n ${namespace} describe pod ${pod.pod}`
    : command`kubectl -n ${namespace} logs ${pod.pod} -c ${ended} --previous`;
}
