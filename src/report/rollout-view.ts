import type { PodPhase, PodProgress, RolloutProgress } from '../kernel/rollout.ts';
import { elapsedText } from '../kernel/time-text.ts';
import { oneLine } from '../kernel/visible.ts';
import { clip } from './columns.ts';
import { openPods } from './rollout-table.ts';

/** Lines and columns that a rollout may take. */
export interface Room {
  readonly rows: number;
  readonly columns: number;
}

/** Rows of the table of one workload at most: more than can be taken in at a glance. */
const TABLE_ROWS = 14;

/** `netsvc-node 7/12 new · 1 updating · 0 failed`. */
export function rolloutSummary({ target, desired, pods, pending }: RolloutProgress): string {
  const count = (phase: PodPhase) => pods.filter((pod) => pod.phase === phase).length;
  const counts = `${target.name} ${count('new')}/${desired} new · ${count('updating')} updating · ${count('failed')} failed`;
  return pending ? `${counts} · ${pending}` : counts;
}

/**
 * The tables of a rollout: what hangs first, what is done left out. A line per workload, however little room there is; what is
 * left of the room goes to the first that is not done, then to the next.
 */
export function rolloutLines(progress: readonly RolloutProgress[], elapsedMs: number, room: Room): readonly string[] {
  let left = Math.max(0, room.rows - progress.length);
  const lines = progress.flatMap((one, index) => {
    const table = openPods(one.pods, Math.min(left, TABLE_ROWS));
    left -= table.length;
    return [headLine(one, index === 0 ? elapsedText(elapsedMs) : '', room.columns), ...table];
  });
  return lines.map((line) => clip(oneLine(line), room.columns));
}

/** The time is the last to be cut. */
function headLine(progress: RolloutProgress, elapsed: string, width: number): string {
  const summary = rolloutSummary(progress);
  return elapsed === '' ? summary : `${clip(summary, Math.max(1, width - elapsed.length - 2))}  ${elapsed}`;
}

/** One line per pod that changed since the last look, for logs; at the first look, which may be that of a continued run, what has failed. */
export function rolloutChanges(before: readonly RolloutProgress[], now: readonly RolloutProgress[]): readonly string[] {
  const isFirst = before.length === 0;
  return now.flatMap((one) => {
    const known = new Map(before.find(({ target }) => target.name === one.target.name)?.pods.map((pod) => [`${pod.node}/${pod.pod}`, pod]));
    return one.pods
      .filter((pod) => (isFirst ? pod.phase === 'failed' : hasChanged(known.get(`${pod.node}/${pod.pod}`), pod)))
      .map((pod) => `${one.target.name} ${pod.node || pod.pod} ${pod.phase} ${pod.release} ${pod.ready}${reason(pod)}`);
  });
}

function hasChanged(before: PodProgress | undefined, now: PodProgress): boolean {
  return before !== now && (before === undefined || stateOf(before) !== stateOf(now));
}

/** Seconds that run in a reason (`pulling image, 41 s`) are no change. */
function stateOf(pod: PodProgress): string {
  return `${pod.phase} ${pod.release} ${pod.ready} ${pod.why.replace(/\d+/g, '#')}`;
}

function reason(pod: PodProgress): string {
  return pod.why ? ` ${pod.why}` : '';
}
