import type { PodPhase, PodProgress } from '../kernel/rollout.ts';
import { columns } from './columns.ts';

const URGENCY: Readonly<Record<PodPhase, number>> = { failed: 0, updating: 1, old: 2, new: 3 };
/** Made once: a comparison that makes its own costs a second for five thousand nodes. */
const byNumber = new Intl.Collator('en', { numeric: true });

/** Pods that are not new yet, what hangs first: in at most this many lines, column heads and the counts of the others among them. */
export function openPods(pods: readonly PodProgress[], rows: number): readonly string[] {
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
function isWaiting({ phase, why }: PodProgress): boolean {
  return phase === 'old' && (why === '' || why === 'next');
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
