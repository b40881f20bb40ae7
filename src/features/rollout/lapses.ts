import type { PodProgress, RolloutProgress } from '../../kernel/rollout.ts';

/** A pod that stops being ready is given this long. Milliseconds. */
export const LAPSE_MS = 30_000;

/** A pod, and the workload that it is of. */
export interface PodIn {
  readonly target: RolloutProgress['target'];
  readonly pod: PodProgress;
}

/** Pods that were ready once and are not any more, each with its own time. */
export class Lapses {
  readonly #seen = new Set<string>();
  #since: ReadonlyMap<string, number> = new Map();

  /** Those that are away now, and those of them that have been for too long. */
  at(progress: readonly RolloutProgress[], now: number): { readonly away: readonly PodIn[]; readonly lapsed: readonly PodIn[] } {
    const all = progress.flatMap(({ target, pods }) => pods.map((pod) => ({ target, pod, key: `${target.namespace}/${pod.pod}` })));
    for (const { key, pod } of all) if (pod.phase === 'new') this.#seen.add(key);
    const away = all.filter(({ key, pod }) => pod.phase !== 'new' && this.#seen.has(key));
    const since = new Map(away.map(({ key }) => [key, this.#since.get(key) ?? now]));
    this.#since = since;
    return { away, lapsed: away.filter(({ key }) => now - (since.get(key) ?? now) >= LAPSE_MS) };
  }
}
