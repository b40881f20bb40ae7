import type { PodPhase, PodProgress, RolloutProgress } from '../core/rollout.ts';
import { elapsedText } from './action-text.ts';
import { columns } from './columns.ts';

/** Rows that are shown of one workload; a cluster of a thousand nodes must still fit a screen. */
const SHOWN_PODS = 12;

const URGENCY: Readonly<Record<PodPhase, number>> = { failed: 0, updating: 1, old: 2, new: 3 };

/** `netsvc-node 7/12 new · 1 updating · 0 failed`. */
export function rolloutSummary({ target, desired, pods, pending }: RolloutProgress): string {
  const count = (phase: PodPhase) => pods.filter((pod) => pod.phase === phase).length;
  const counts = `${target.name} ${count('new')}/${desired} new · ${count('updating')} updating · ${count('failed')} failed`;
  return pending ? `${counts} · ${pending}` : counts;
}

/** The table of one rollout: what hangs first, what is done left out. */
export function rolloutLines(progress: readonly RolloutProgress[], elapsedMs: number): readonly string[] {
  return progress.flatMap((one, index) => {
    const head = rolloutSummary(one);
    const open = [...one.pods].filter((pod) => pod.phase !== 'new').sort(byUrgency);
    const shown = open.slice(0, SHOWN_PODS);
    const rest = open.length - shown.length;
    return [
      index === 0 ? `${head}  ${elapsedText(elapsedMs)}` : head,
      ...(shown.length === 0 ? [] : columns([['NODE', 'AGENT', 'READY', 'WHY'], ...shown.map(podRow)])),
      ...(rest > 0 ? [`… and ${rest} more`] : []),
    ];
  });
}

function byUrgency(a: PodProgress, b: PodProgress): number {
  return URGENCY[a.phase] - URGENCY[b.phase] || a.node.localeCompare(b.node, 'en', { numeric: true });
}

function podRow({ node, pod, release, ready, why }: PodProgress): readonly string[] {
  return [node || pod, release, ready, why];
}

/** One line per pod that changed since the last look, for logs. */
export function rolloutChanges(before: readonly RolloutProgress[], now: readonly RolloutProgress[]): readonly string[] {
  if (before.length === 0) return [];
  return now.flatMap((one) => {
    const known = new Map(before.find(({ target }) => target.name === one.target.name)?.pods.map((pod) => [`${pod.node}/${pod.pod}`, pod]));
    return one.pods
      .filter((pod) => hasChanged(known.get(`${pod.node}/${pod.pod}`), pod))
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
