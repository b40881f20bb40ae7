import type { Step } from './step.ts';

/** How a pod's READY column is evaluated once it runs the target's image (§3, profile). */
export type ReadyRule = { readonly type: 'all-containers' } | { readonly type: 'literal'; readonly ready: string };

/** A workload whose pods must all become new. */
export interface RolloutTarget extends Omit<WorkloadName, 'kind'> {
  readonly kind: WorkloadName['kind'] | 'StatefulSet';
  /** The image that the target release gives the container, which tells old from new. */
  readonly image: string;
  /** The container is put into pods when they are made: the workload's own template does not have it. */
  readonly injected?: boolean;
  /** Its pods are being replaced already: done when that has ended, whatever image they have then. */
  readonly anyImage?: boolean;
  /** A pod of it must run: wanting none is no end. Agents for Windows alone, or what the user scaled to nothing, may want none. */
  readonly neverEmpty?: boolean;
}

export type PodPhase = 'old' | 'updating' | 'new' | 'failed';

/** One pod (for a DaemonSet: one node) on its way to the target. */
export interface PodProgress {
  readonly node: string;
  readonly pod: string;
  readonly phase: PodPhase;
  /** The release tag (or the image) the pod runs now. */
  readonly release: string;
  /** The READY column: `1/2`. */
  readonly ready: string;
  /** Why it is not there yet: `pulling image, 41 s`; empty if there is nothing to say. */
  readonly why: string;
  /** The same without how long it has taken so far; only where that is said. */
  readonly reason?: string;
  /** It is old, and its turn cannot come: its node is not ready. */
  readonly isOff?: true;
  /** Its container that ends again and again: the log of the one before has the reason. */
  readonly ended?: string;
  /** Its own state says no more than that it is late: events may, and the log of a container that runs. */
  readonly late?: 'starting' | 'unready';
}

export interface RolloutProgress {
  readonly target: RolloutTarget;
  readonly desired: number;
  /** All pods of the workload, where only some of them are looked at. */
  readonly all?: number;
  readonly pods: readonly PodProgress[];
  readonly done: boolean;
  /** Why it is not done although every pod looks new (generation not observed, old pods still there). */
  readonly pending: string;
  /** What the user can do about that. */
  readonly step?: Step;
  /** How much is over of a time in which nothing may go wrong, once all pods are there. Milliseconds. */
  readonly watched?: { readonly ms: number; readonly of: number };
  /** The workload itself still has another image: nothing rolls out before it is applied. */
  readonly unapplied?: true;
}

/** A workload that carries the service, by the names of one variant. */
export interface WorkloadName {
  readonly kind: 'DaemonSet' | 'Deployment';
  readonly namespace: string;
  readonly name: string;
  /** The container whose image carries the release. */
  readonly container: string;
  readonly ready: ReadyRule;
}
