import type { PodPhase, PodProgress, RolloutProgress } from '../kernel/rollout.ts';
import { elapsedText } from '../kernel/time-text.ts';
import { oneLine } from '../kernel/visible.ts';
import { clip } from './columns.ts';
import { leftText, newPods, type RolloutPace } from './rollout-pace.ts';
import { openPods } from './rollout-table.ts';

/** Lines and columns that a rollout may take. */
export interface Room {
  readonly rows: number;
  readonly columns: number;
}

/** Rows of the table of one workload at most: more than can be taken in at a glance. */
const TABLE_ROWS = 14;

/** `netsvc-node 7/12 new · 1 updating · 0 failed`, for logs. */
export function rolloutSummary(progress: RolloutProgress): string {
  const { target, desired, pending } = progress;
  const counts = `${target.name} ${newPods(progress)}/${desired} new · ${countsText(progress)}`;
  return pending ? `${counts} · ${pending}` : counts;
}

function countsText({ pods }: RolloutProgress): string {
  const count = (phase: PodPhase) => pods.filter((pod) => pod.phase === phase).length;
  return `${count('updating')} updating · ${count('failed')} failed`;
}

/**
 * The tables of a rollout: what hangs first, what is done left out. A line per workload, however little room there is; what is
 * left of the room goes to the first that is not done, then to the next.
 */
export function rolloutLines(progress: readonly RolloutProgress[], elapsedMs: number, room: Room, pace?: RolloutPace): readonly string[] {
  let left = Math.max(0, room.rows - progress.length);
  const lines = progress.flatMap((one, index) => {
    const table = openPods(one.pods, Math.min(left, TABLE_ROWS));
    left -= table.length;
    const head = liveSummary(one, pace?.leftMs(one, elapsedMs));
    return [headLine(head, index === 0 ? elapsedText(elapsedMs) : '', room.columns), ...table];
  });
  return lines.map((line) => clip(oneLine(line), room.columns));
}

/** `netsvc-node [#####-----] 12/30 · 1 updating · 0 failed · about 40 s left`; why it lags where no count says it. */
function liveSummary(progress: RolloutProgress, leftMs: number | undefined): string {
  const { target, desired, pods, pending } = progress;
  const isMoving = pods.some(({ phase }) => phase === 'updating' || phase === 'failed');
  return [
    `${target.name} ${bar(newPods(progress), desired)} ${newPods(progress)}/${desired}`,
    pending && !isMoving ? pending : countsText(progress),
    ...(leftMs === undefined ? [] : [leftText(leftMs)]),
  ].join(' · ');
}

const BAR = 10;

/** Full only when all is done. */
function bar(done: number, of: number): string {
  const full = of === 0 ? 0 : Math.min(BAR, Math.floor((done / of) * BAR));
  return `[${'#'.repeat(full)}${'-'.repeat(BAR - full)}]`;
}

/** The time is the last to be cut. */
function headLine(summary: string, elapsed: string, width: number): string {
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
