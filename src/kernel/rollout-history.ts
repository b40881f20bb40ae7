import { refText } from './object.ts';
import type { PodProgress, RolloutProgress } from './rollout.ts';
import type { RolloutMark, RolloutRow, RolloutTrace } from './run-history.ts';

/** A row that flaps keeps this many marks: the first ones, and the last one always. */
const MARKS_PER_ROW = 24;

interface Row {
  readonly node: string;
  readonly pod?: string;
  readonly marks: RolloutMark[];
}

/** Turns looks at one rollout into its changes: what stays the same from one look to the next takes no room. */
export class RolloutHistory {
  readonly #stage: string;
  readonly #startedAt: Date;
  readonly #rows = new Map<string, Row>();
  #last: RolloutProgress | undefined;
  #seconds = 0;

  constructor(stage: string, startedAt: Date) {
    this.#stage = stage;
    this.#startedAt = startedAt;
  }

  look(progress: RolloutProgress, at: Date): void {
    this.#seconds = Math.max(0, Math.round((at.getTime() - this.#startedAt.getTime()) / 1000));
    this.#last = progress;
    const byNode = progress.target.kind === 'DaemonSet';
    const seen = new Set<string>();
    for (const pod of progress.pods) {
      const key = byNode && pod.node !== '' ? pod.node : pod.pod;
      seen.add(key);
      const row = this.#rows.get(key) ?? { node: pod.node, ...(byNode ? {} : { pod: pod.pod }), marks: [] };
      this.#rows.set(key, row);
      put(row.marks, markOf(pod, this.#seconds));
    }
    for (const [key, row] of this.#rows) if (!seen.has(key)) put(row.marks, { at: this.#seconds, phase: 'gone' });
  }

  trace(): RolloutTrace | undefined {
    if (this.#last === undefined) return undefined;
    const { target, desired, done } = this.#last;
    return {
      stage: this.#stage,
      workload: refText(target),
      image: target.image,
      startedAt: this.#startedAt.toISOString(),
      seconds: this.#seconds,
      desired,
      done,
      rows: [...this.#rows.values()].sort(byName),
    };
  }
}

function markOf({ phase, why }: PodProgress, at: number): RolloutMark {
  const reason = phase === 'new' ? '' : withoutTimes(why);
  return reason === '' ? { at, phase } : { at, phase, why: reason };
}

/** `pulling image, 41 s` is a new text every second and the same reason all the time. */
export function withoutTimes(why: string): string {
  return why.replace(/,? (?:for )?\d+ ?(?:ms|s|m|min|h)\b/g, '').trim();
}

function put(marks: RolloutMark[], mark: RolloutMark): void {
  const before = marks.at(-1);
  if (before && before.phase === mark.phase && before.why === mark.why) return;
  if (before?.at === mark.at || marks.length >= MARKS_PER_ROW) marks.pop();
  marks.push(mark);
}

function byName(one: RolloutRow, other: RolloutRow): number {
  const order = (row: RolloutRow) => `${row.node}\u0000${row.pod ?? ''}`;
  return order(one) < order(other) ? -1 : 1;
}
