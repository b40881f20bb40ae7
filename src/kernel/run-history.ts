import type { PodPhase } from './rollout.ts';

/** What happened when, as the engine told it: the part of a report that the cluster cannot tell afterwards. Times are ISO 8601. */
export interface RunHistory {
  readonly startedAt: string;
  readonly endedAt: string;
  readonly actions: readonly ActionTrace[];
  readonly rollouts: readonly RolloutTrace[];
  readonly notes: readonly NoteTrace[];
}

/** One action that was begun. */
export interface ActionTrace {
  readonly stage: string;
  readonly id: string;
  readonly title: string;
  readonly ref: string;
  /** What it does as one line, as the plan shows it; Secrets’ values hidden. */
  readonly command?: string;
  readonly startedAt: string;
  /** Milliseconds; absent if it did not end, or is not this program's to end. */
  readonly durationMs?: number;
  /** `left-to-person`: it was said, and whether it has been done since is not known here. */
  readonly outcome: 'running' | 'done' | 'failed' | 'left-to-person';
  /** What the action said about its result, or why it failed. */
  readonly detail?: string;
}

export interface NoteTrace {
  readonly at: string;
  readonly stage: string;
  readonly level: 'info' | 'warning';
  readonly text: string;
}

/** A rolling update: per node (or pod, where it is no DaemonSet) when it was in which phase. */
export interface RolloutTrace {
  readonly stage: string;
  /** `DaemonSet/kube-system/netsvc-node`. */
  readonly workload: string;
  /** The image that it rolls to. */
  readonly image: string;
  readonly startedAt: string;
  /** Seconds that it was watched. */
  readonly seconds: number;
  readonly desired: number;
  readonly done: boolean;
  readonly rows: readonly RolloutRow[];
  /** Rows that were left out to keep the report small. */
  readonly omitted?: number;
}

export interface RolloutRow {
  readonly node: string;
  /** Absent for a DaemonSet: there the node is the row, whatever its pod is called. */
  readonly pod?: string;
  readonly marks: readonly RolloutMark[];
}

/** From `at` on (seconds since the rollout was first seen) the row was in this phase. */
export interface RolloutMark {
  readonly at: number;
  /** `gone`: the pod is not there any more. */
  readonly phase: PodPhase | 'gone';
  readonly why?: string;
}
