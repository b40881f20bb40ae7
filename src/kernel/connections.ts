import { counted, timeText } from './counted.ts';
import type { Sentinel } from './user-command.ts';

/** One connection that was kept open while agents were replaced. Times are ISO 8601. */
export interface ConnectionTrace {
  /** Node of the pod that opened it. */
  readonly from: string;
  /** Node of the pod that answers. */
  readonly to: string;
  /** Opened from the network of the node, not of pods. */
  readonly outside?: true;
  /** When it ended or fell silent, the first of them. */
  readonly breaks: readonly string[];
  readonly broken: number;
  /** Of these, those where a node was not ready: absent for none. */
  readonly ofNodes?: number;
  /** Answers that came. */
  readonly beats: number;
  /** Longest time without an answer, in milliseconds. */
  readonly longestMs: number;
  /** When that was over, or, if it is not, until when it was seen. */
  readonly at?: string;
  /** Why it is not watched any more, if not for the end of the run. */
  readonly ended?: string;
}

/** What the connections of `--probe-network` have been through. */
export interface NetworkTrace {
  readonly since: string;
  readonly until: string;
  /** Milliseconds between two answers: what is shorter is not seen. */
  readonly beatMs: number;
  readonly connections: readonly ConnectionTrace[];
  /** What was not tried, each a sentence. */
  readonly untried: readonly string[];
}

/** What an action leaves to watch the rest of the run. It is ended with the chain, however that ends. */
export interface Watcher extends Sentinel {
  readonly name: string;
  /** Looks a last time and removes what it has created. Never rejects. */
  end(): Promise<void>;
}

/** `0.4 s`. */
export function gapText(ms: number): string {
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : timeText(ms);
}

/** A node with the longest gap of the connections that begin or end there. */
export interface NodeGap {
  readonly node: string;
  readonly longestMs: number;
  readonly broken: number;
}

/** Of each node, by name. */
export function gapsOf({ connections }: NetworkTrace): readonly NodeGap[] {
  const ends = connections.flatMap((one) => [...new Set([one.from, one.to])].map((node) => ({ node, one })));
  return [...Map.groupBy(ends, ({ node }) => node)]
    .map(([node, all]) => ({
      node,
      longestMs: Math.max(...all.map(({ one }) => one.longestMs)),
      broken: all.reduce((sum, { one }) => sum + one.broken, 0),
    }))
    .toSorted((a, b) => (a.node < b.node ? -1 : 1));
}

/** How often connections broke, all together. */
export const brokenIn = ({ connections }: Pick<NetworkTrace, 'connections'>): number =>
  connections.reduce((sum, { broken }) => sum + broken, 0);

/** `6 connections of pods on 3 nodes: 0 broke, longest gap 0.4 s (node-02)`. */
export function networkText(trace: NetworkTrace): string {
  const { connections } = trace;
  if (connections.length === 0) return 'no connection was kept';
  const nodes = gapsOf(trace);
  const worst = nodes.reduce((one, other) => (other.longestMs > one.longestMs ? other : one));
  const broken = connections.filter((one) => one.broken > 0).length;
  const ofNodes = connections.reduce((sum, one) => sum + (one.ofNodes ?? 0), 0);
  const apart = ofNodes === 0 ? '' : ` (${ofNodes} of them with a node that was not ready)`;
  const broke = broken === 0 ? '0 broke' : `${broken} broke, ${counted(brokenIn(trace), 'time')}${apart}`;
  return `${counted(connections.length, 'connection')} of pods on ${counted(nodes.length, 'node')}: ${broke}, longest gap ${gapText(worst.longestMs)} (${worst.node})`;
}
