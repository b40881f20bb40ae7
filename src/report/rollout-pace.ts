import type { RolloutProgress } from '../kernel/rollout.ts';

/** Pods that must have become new before their pace says anything. */
const ENOUGH = 2;
/** A rollout that has been quiet for this many pods' time has no pace any more. */
const QUIET = 3;

interface Seen {
  /** New pods when the rollout was first seen, and when that was. */
  readonly first: number;
  readonly since: number;
  /** New pods now, and since when. */
  readonly now: number;
  readonly at: number;
}

/** How long a rollout still takes, by its own pace; undefined where that would be a guess. */
export class RolloutPace {
  readonly #seen = new Map<string, Seen>();

  see(progress: readonly RolloutProgress[], elapsedMs: number): void {
    for (const one of progress) {
      const key = keyOf(one);
      const count = newPods(one);
      const known = this.#seen.get(key) ?? { first: count, since: elapsedMs, now: count, at: elapsedMs };
      this.#seen.set(key, known.now === count ? known : { ...known, now: count, at: elapsedMs });
    }
  }

  leftMs(progress: RolloutProgress, elapsedMs: number): number | undefined {
    const seen = this.#seen.get(keyOf(progress));
    const left = progress.desired - newPods(progress);
    if (!seen || left <= 0 || seen.now - seen.first < ENOUGH || progress.pods.some(({ phase }) => phase === 'failed')) return undefined;
    const each = (seen.at - seen.since) / (seen.now - seen.first);
    const quiet = elapsedMs - seen.at;
    return quiet > QUIET * each ? undefined : Math.max(each, left * each - quiet);
  }
}

/** `about 40 s left`. */
export const leftText = (ms: number): string => `${aboutText(ms)} left`;

/** `about 40 s`, `about 4 min`, `about 2.5 h`: no more exact than it is known. */
export function aboutText(ms: number): string {
  const seconds = Math.max(10, Math.ceil(ms / 10_000) * 10);
  if (seconds < 120) return `about ${seconds} s`;
  const minutes = Math.ceil(ms / 60_000);
  return minutes < 120 ? `about ${minutes} min` : `about ${Math.ceil(minutes / 30) / 2} h`;
}

export function newPods({ pods }: RolloutProgress): number {
  return pods.reduce((sum, { phase }) => sum + (phase === 'new' ? 1 : 0), 0);
}

function keyOf({ target: { kind, namespace, name } }: RolloutProgress): string {
  return `${kind}/${namespace}/${name}`;
}
