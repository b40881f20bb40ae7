import type { PodPhase, PodProgress } from '../kernel/rollout.ts';
import { columns } from './columns.ts';

const URGENCY: Readonly<Record<PodPhase, number>> = { failed: 0, updating: 1, old: 2, new: 3 };
/** Made once: a comparison that makes its own costs a second for five thousand nodes. */
const byNumber = new Intl.Collator('en', { numeric: true });

/** Pods that are not new yet, what hangs first: in at most so many lines, column heads and the count of the rest among them. */
export function openPods(pods: readonly PodProgress[], rows: number): readonly string[] {
  const open = pods.filter((pod) => pod.phase !== 'new');
  if (open.length === 0 || rows <= 0) return [];
  const head = rows >= 3 ? 1 : 0;
  const shown = first(open, open.length + head <= rows ? open.length : rows - head - 1);
  const rest = open.length - shown.length;
  return [
    ...(shown.length === 0 ? [] : columns([['NODE', 'AGENT', 'READY', 'WHY'], ...shown.map(podRow)]).slice(1 - head)),
    ...(rest > 0 ? [shown.length === 0 ? `${rest} more` : `… and ${rest} more`] : []),
  ];
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
