import { withoutCredentials } from '../../kernel/hidden.ts';
import { oneLine } from '../../kernel/visible.ts';

/** When the new agent of a node was made, and since when it is ready, by the kubelet's clock. */
export interface Agent {
  readonly createdAt: number;
  readonly readyAt: number;
}

/** What is read of an event of the kubelet. */
export interface EventFields {
  readonly message?: string;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly source?: { readonly host?: string };
  readonly involvedObject?: { readonly namespace?: string; readonly name?: string; readonly uid?: string };
}

/** Pods that were refused while the agent was replaced are tried again within this time. */
const SETTLED_MS = 20_000;
/** Of a longer text its beginning and, as the cause stands last, more of its end. */
const HEAD = 70;
const TAIL = 129;

/** Events of nodes whose agent had been ready for a while, newest first, one for each pod. */
export function refusalsOn(agents: ReadonlyMap<string, Agent>, events: readonly EventFields[]): readonly EventFields[] {
  const late = events.filter(
    (one) => timeOf(one) - (agents.get(one.source?.host ?? '')?.readyAt ?? Number.POSITIVE_INFINITY) >= SETTLED_MS,
  );
  const newest = late.toSorted((a, b) => timeOf(b) - timeOf(a));
  const byPod = new Map<string, EventFields>();
  for (const event of newest) {
    const key = `${event.involvedObject?.namespace}/${event.involvedObject?.name}`;
    if (!byPod.has(key)) byPod.set(key, event);
  }
  return [...byPod.values()];
}

function timeOf({ lastTimestamp, eventTime }: EventFields): number {
  return Date.parse(lastTimestamp ?? eventTime ?? '') || 0;
}

/** The items of a list; none where the answer is no list. */
export function itemsIn(text: string): readonly object[] {
  try {
    const { items } = JSON.parse(text) as { readonly items?: unknown };
    return Array.isArray(items) ? items.filter((one): one is object => typeof one === 'object' && one !== null) : [];
  } catch {
    return [];
  }
}

/** A text of the cluster as one short line, without credentials. */
export function shortText(text: unknown): string {
  const line = oneLine(withoutCredentials(String(text ?? ''))).trim();
  return line.length > HEAD + TAIL + 1 ? `${line.slice(0, HEAD)}…${line.slice(-TAIL)}` : line;
}
