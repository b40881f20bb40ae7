import { elapsedText, timeText } from '../kernel/counted.ts';
import type { PodPhase, PodProgress, RolloutProgress } from '../kernel/rollout.ts';
import { oneLine } from '../kernel/visible.ts';
import { clip, columns, displayWidth } from './columns.ts';

/** Lines and columns that a rollout may take. */
export interface Room {
  readonly rows: number;
  readonly columns: number;
}

/** Rows of the table of one workload at most: more than can be taken in at a glance. */
const TABLE_ROWS = 14;

/** `netsvc-node 7/12 new · 1 updating · 0 failed`, for logs. */
export function rolloutSummary(progress: RolloutProgress): string {
  const { target, desired, pending, watched } = progress;
  const done = watched ? watchedText(progress, watched) : `${newPods(progress)}/${desired} new`;
  return [`${target.name} ${done}`, countsText(progress, watched ? 1 : 0), pending].filter(Boolean).join(' · ');
}

/** `watching node-01: 12s of 30m`. */
function watchedText({ pods }: RolloutProgress, { ms, of }: NonNullable<RolloutProgress['watched']>): string {
  const what = pods.length > NAMED ? `${pods.length} agents` : pods.map(({ node }) => node).join(', ');
  return `watching ${what}: ${timeText(ms)} of ${timeText(of)}`;
}

/** More names than these take the room of the time. */
const NAMED = 2;

/** `1 updating · 0 failed`; at least that many of each. */
function countsText({ pods }: RolloutProgress, least = 0): string {
  const counts = (['updating', 'failed'] as const).map((phase) => ({ phase, count: pods.filter((pod) => pod.phase === phase).length }));
  return counts.flatMap(({ phase, count }) => (count >= least ? [`${count} ${phase}`] : [])).join(' · ');
}

/**
 * The tables of a rollout: stuck pods first, finished ones left out. A line per workload in any case; the rest of the room goes to the
 * first unfinished one, then the next.
 */
export function rolloutLines(progress: readonly RolloutProgress[], elapsedMs: number, room: Room, pace?: RolloutPace): readonly string[] {
  let left = Math.max(0, room.rows - progress.length);
  const lines = progress.flatMap((one, index) => {
    const table = openPods(one.pods, Math.min(left, TABLE_ROWS));
    left -= table.length;
    const elapsed = index === 0 ? `  ${elapsedText(elapsedMs)}` : '';
    const width = Math.max(1, room.columns - elapsed.length);
    return [clip(liveSummary(one, width, pace?.leftMs(one, elapsedMs)), width) + elapsed, ...table];
  });
  return lines.map((line) => clip(oneLine(line), room.columns));
}

/**
 * `netsvc-node [#####-----] 12/30 · 1 updating · 0 failed · about 40 s left`; why it lags where no count says it. Where that has no room,
 * the bar goes, then what is 0, then the time that is left, then the counts: half of a number would be another number.
 */
function liveSummary(progress: RolloutProgress, width: number, leftMs: number | undefined): string {
  const { target, desired, pods, pending, watched } = progress;
  const isMoving = pods.some(({ phase }) => phase === 'updating' || phase === 'failed');
  const [done, full] = watched
    ? [watchedText(progress, watched), bar(watched.ms, watched.of)]
    : [`${newPods(progress)}/${desired}`, bar(newPods(progress), desired)];
  const [counts, most] = [watched ? 1 : 0, 1].map((least) => (pending && !isMoving ? pending : countsText(progress, least)));
  const left = leftMs === undefined ? [] : [leftText(leftMs)];
  const forms = [
    [`${target.name} ${full} ${done}`, counts, ...left],
    [`${target.name} ${done}`, counts, ...left],
    [`${target.name} ${done}`, most, ...left],
    [`${target.name} ${done}`, most],
    [`${target.name} ${done}`],
  ].map((parts) => parts.filter(Boolean).join(' · '));
  return forms.find((form) => displayWidth(form) <= width) ?? forms.at(-1) ?? '';
}

const BAR = 10;

/** Full only when all is done. */
function bar(done: number, of: number): string {
  const full = of === 0 ? 0 : Math.min(BAR, Math.floor((done / of) * BAR));
  return `[${'#'.repeat(full)}${'-'.repeat(BAR - full)}]`;
}

/**
 * One line per pod that changed since the last look, for logs; at the first look, which may be that of a continued run, what has failed.
 * The last new pod of a workload has how many there are: `3 of 12`, and what `left` says.
 */
export function rolloutChanges(
  before: readonly RolloutProgress[],
  now: readonly RolloutProgress[],
  left: (one: RolloutProgress) => string = () => '',
): readonly string[] {
  const isFirst = before.length === 0;
  return now.flatMap((one) => {
    // Of thousands of pods few change from one look to the next: the others are the same objects, and no name is made of them.
    const same = new Set(before.find(({ target }) => target.name === one.target.name)?.pods);
    const others = one.pods.filter((pod) => !same.delete(pod));
    const known = new Map([...same].map((pod) => [`${pod.node}/${pod.pod}`, pod]));
    const changed = others.filter((pod) => (isFirst ? pod.phase === 'failed' : hasChanged(known.get(`${pod.node}/${pod.pod}`), pod)));
    const last = changed.findLast(({ phase }) => phase === 'new');
    const reached = (pod: PodProgress) => (pod === last ? ` · ${newPods(one)} of ${one.desired}${left(one)}` : '');
    return changed.map(
      (pod) => `${one.target.name} ${pod.node || pod.pod} ${pod.phase} ${pod.release} ${pod.ready}${reason(pod)}${reached(pod)}`,
    );
  });
}

function hasChanged(before: PodProgress | undefined, now: PodProgress): boolean {
  return before === undefined || stateOf(before) !== stateOf(now);
}

/** Seconds that run in what is said of it (`pulling image, 41 s`) are no change. */
function stateOf({ phase, release, ready, why, reason = why }: PodProgress): string {
  return `${phase} ${release} ${ready} ${reason}`;
}

function reason(pod: PodProgress): string {
  return pod.why ? ` ${pod.why}` : '';
}

const URGENCY: Readonly<Record<PodPhase, number>> = { failed: 0, updating: 1, old: 2, new: 3 };
/** Made once: a comparison that makes its own costs a second for five thousand nodes. */
const byNumber = new Intl.Collator('en', { numeric: true });

/** Unfinished pods, stuck ones first, in at most this many lines with column heads and the others' counts. */
function openPods(pods: readonly PodProgress[], rows: number): readonly string[] {
  const open = pods.filter((pod) => pod.phase !== 'new' && !isWaiting(pod));
  const waiting = pods.filter(isWaiting).length;
  if (open.length + waiting === 0 || rows <= 0) return [];
  const last = waiting > 0 ? 1 : 0;
  const head = rows >= 3 + last ? 1 : 0;
  const fits = open.length + head + last <= rows;
  const shown = first(open, fits ? open.length : Math.max(0, rows - head - 1));
  const rest = [counted(open.length - shown.length, 'more'), counted(waiting, 'waiting')].filter((text) => text !== '').join(', ');
  return [
    ...(shown.length === 0 ? [] : columns([['NODE', 'AGENT', 'READY', 'WHY'], ...shown.map(podRow)]).slice(1 - head)),
    ...(rest === '' ? [] : [shown.length === 0 || fits ? rest : `… and ${rest}`]),
  ];
}

/** Its turn has not come: nothing is to be said of it but how many there are. */
function isWaiting({ phase, isOff }: PodProgress): boolean {
  return phase === 'old' && !isOff;
}

function counted(count: number, what: string): string {
  return count === 0 ? '' : `${count} ${what}`;
}

/** The most urgent ones in their order: one pass, whatever the size of the cluster. */
function first(pods: readonly PodProgress[], count: number): readonly PodProgress[] {
  const kept: PodProgress[] = [];
  for (const pod of pods) {
    const last = kept[count - 1];
    if (count === 0 || (last && byUrgency(pod, last) >= 0)) continue;
    const place = kept.findIndex((other) => byUrgency(pod, other) < 0);
    kept.splice(place < 0 ? kept.length : place, 0, pod);
    kept.length = Math.min(kept.length, count);
  }
  return kept;
}

function byUrgency(a: PodProgress, b: PodProgress): number {
  return URGENCY[a.phase] - URGENCY[b.phase] || byNumber.compare(a.node, b.node);
}

function podRow({ node, pod, release, ready, why }: PodProgress): readonly string[] {
  return [node || pod, release, ready, why];
}

/** Pods that must have become new before their pace says anything. */
const ENOUGH = 2;
/** A rollout quiet for the time of this many pods has no pace any more. */
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

function newPods({ pods }: RolloutProgress): number {
  return pods.reduce((sum, { phase }) => sum + (phase === 'new' ? 1 : 0), 0);
}

function keyOf({ target: { kind, namespace, name } }: RolloutProgress): string {
  return `${kind}/${namespace}/${name}`;
}
