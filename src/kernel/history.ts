import { type Action, removedBy } from './action.ts';
import type { NetworkTrace } from './connections.ts';
import type { EngineEvent } from './event.ts';
import { type ObjectRef, refText } from './object.ts';
import type { PodPhase, PodProgress, RolloutProgress } from './rollout.ts';
import { plainText } from './step.ts';
import type { ProbeTrace } from './user-command.ts';

/** What happened when, as the engine told it: the part of a report that the cluster cannot tell afterwards. Times are ISO 8601. */
export interface RunHistory {
  readonly startedAt: string;
  readonly endedAt: string;
  /** At work, where it is of several commands: not what was between them. */
  readonly durationMs?: number;
  readonly actions: readonly ActionTrace[];
  readonly rollouts: readonly RolloutTrace[];
  readonly notes: readonly NoteTrace[];
  /** Of `--probe`; absent where none was given. */
  readonly probe?: ProbeTrace;
  /** Of `--probe-network`; absent where no connection was kept. */
  readonly network?: NetworkTrace;
}

/** Milliseconds; 0 without an end, or where somebody else wrote what is no time. */
export function msOf({ startedAt, endedAt = startedAt }: { readonly startedAt: string; readonly endedAt?: string }): number {
  return Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)) || 0;
}

/** One action that was begun. */
export interface ActionTrace {
  readonly stage: string;
  readonly id: string;
  readonly title: string;
  readonly ref: string;
  /** What it does as one line, as the plan shows it; Secrets’ values hidden. */
  readonly command?: string;
  /** Objects that it deletes; absent for none. */
  readonly removed?: readonly ObjectRef[];
  readonly startedAt: string;
  /** Milliseconds; absent if it did not end, or is not this program's to end. */
  readonly durationMs?: number;
  /** `left-to-person`: it was said, and whether it has been done since is not known here. */
  readonly outcome: 'running' | 'done' | 'failed' | 'left-to-person';
  /** What the action said about its result, or why it failed. */
  readonly detail?: string;
}

interface NoteTrace {
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
  /** All pods of the workload, where only some of them were looked at. */
  readonly all?: number;
  readonly done: boolean;
  readonly rows: readonly RolloutRow[];
  /** Rows that were left out to keep the report small. */
  readonly omitted?: number;
}

/** It is of the agents, or of whatever else has a pod for each node. */
export const isPerNode = ({ workload }: Pick<RolloutTrace, 'workload'>): boolean => workload.startsWith('DaemonSet/');

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

/** A row that flaps keeps this many marks: the first ones, and the last one always. */
const MARKS_PER_ROW = 24;

interface Row {
  name: Pick<RolloutRow, 'node' | 'pod'>;
  readonly marks: RolloutMark[];
  /** As it was seen last, and at which look. */
  pod: PodProgress;
  look: number;
}

/** Turns looks at one rollout into its changes: what stays the same from one look to the next takes no room. */
class RolloutHistory {
  readonly #stage: string;
  readonly #startedAt: Date;
  readonly #rows = new Map<string, Row>();
  #last: RolloutProgress | undefined;
  #looks = 0;
  #seconds = 0;

  constructor(stage: string, startedAt: Date) {
    this.#stage = stage;
    this.#startedAt = startedAt;
  }

  look(progress: RolloutProgress, at: Date): void {
    this.#seconds = Math.max(0, Math.round((at.getTime() - this.#startedAt.getTime()) / 1000));
    if (progress === this.#last) return;
    this.#last = progress;
    this.#looks += 1;
    const byNode = progress.target.kind === 'DaemonSet';
    for (const pod of progress.pods) this.#see(pod, byNode && pod.node !== '' ? pod.node : pod.pod, byNode);
    for (const [key, row] of this.#rows)
      if (row.look !== this.#looks) {
        // It never ran anywhere, or is in the row of its node now.
        if (row.name.node === '') this.#rows.delete(key);
        else put(row.marks, { at: this.#seconds, phase: 'gone' });
      }
  }

  /** Of thousands of pods few change from one look to the next: those that did not are the same objects. */
  #see(pod: PodProgress, key: string, byNode: boolean): void {
    const row = this.#rows.get(key);
    if (row?.pod === pod && row.look === this.#looks - 1) {
      row.look = this.#looks;
      return;
    }
    const name = { node: pod.node, ...(byNode ? {} : { pod: pod.pod }) };
    const seen = row ?? { name, marks: [], pod, look: 0 };
    if (!row) this.#rows.set(key, seen);
    Object.assign(seen, { name, pod, look: this.#looks });
    put(seen.marks, markOf(pod, this.#seconds));
  }

  trace(): RolloutTrace | undefined {
    if (this.#last === undefined) return undefined;
    const { target, desired, all, done } = this.#last;
    return {
      stage: this.#stage,
      workload: refText(target),
      image: target.image,
      startedAt: this.#startedAt.toISOString(),
      seconds: this.#seconds,
      desired,
      ...(all === undefined ? {} : { all }),
      done,
      rows: [...this.#rows.values()].map(({ name, marks }) => ({ ...name, marks })).sort(byName),
    };
  }
}

/** `pulling image, 41 s` is a new text every second and the same reason all the time. */
function markOf({ phase, why, reason = why }: PodProgress, at: number): RolloutMark {
  return phase === 'new' || reason === '' ? { at, phase } : { at, phase, why: reason };
}

function put(marks: RolloutMark[], mark: RolloutMark): void {
  const before = marks.at(-1);
  if (before && before.phase === mark.phase && before.why === mark.why) return;
  // The first one tells what the run found.
  if ((before?.at === mark.at && marks.length > 1) || marks.length >= MARKS_PER_ROW) marks.pop();
  marks.push(mark);
}

function byName(one: RolloutRow, other: RolloutRow): number {
  const order = (row: RolloutRow) => `${row.node}\u0000${row.pod ?? ''}`;
  return order(one) < order(other) ? -1 : 1;
}

/** Texts of programs are cut to this many characters. */
const DETAIL_CHARACTERS = 2000;
const NOTES = 200;
/** A step that only the user can do has been said, which is not done. */
const LEFT = { outcome: 'left-to-person' } as const;

/** Listens to the engine and keeps what a report needs. Holds no action's content, only what was done, when and with what result. */
export class History {
  readonly #startedAt: Date;
  readonly #commandOf: (action: Action) => string;
  readonly #actions: ActionTrace[] = [];
  readonly #rollouts = new Map<string, RolloutHistory>();
  readonly #notes: NoteTrace[] = [];
  #probe: ProbeTrace | undefined;
  #network: NetworkTrace | undefined;

  /** `commandOf` gives an action as one line that anybody may read. */
  constructor(startedAt: Date, commandOf: (action: Action) => string) {
    this.#startedAt = startedAt;
    this.#commandOf = commandOf;
  }

  observe(event: EngineEvent, at: Date): void {
    switch (event.type) {
      case 'action-started': {
        const { id, title, ref } = event.action;
        const removed = removedBy(event.action);
        this.#actions.push({
          stage: event.stage,
          id,
          title,
          ref,
          command: cut(this.#commandOf(event.action)),
          ...(removed.length > 0 ? { removed } : {}),
          startedAt: at.toISOString(),
          outcome: 'running',
        });
        return;
      }
      case 'action-done': {
        const { action, durationMs, detail } = event;
        const ending = action.effect.type === 'ask' ? LEFT : ({ outcome: 'done', durationMs } as const);
        this.#close({ ...ending, ...(detail === undefined ? {} : { detail: cut(detail) }) });
        return;
      }
      case 'action-failed':
        this.#close({ outcome: event.held ? 'done' : 'failed', durationMs: this.#since(at), detail: cut(event.message) });
        return;
      case 'rollout':
        for (const progress of event.progress) this.#rollout(event.stage, refText(progress.target), at).look(progress, at);
        return;
      case 'note':
        if (this.#notes.length < NOTES)
          this.#notes.push({ at: at.toISOString(), stage: event.stage, level: event.level, text: cut(plainText(event.text)) });
        return;
      case 'probe':
        this.#probe = event.probe;
        return;
      case 'network':
        this.#network = event.network;
        return;
      default:
        return;
    }
  }

  /** Everything so far. */
  told(endedAt: Date): RunHistory {
    return {
      startedAt: this.#startedAt.toISOString(),
      endedAt: endedAt.toISOString(),
      actions: [...this.#actions],
      rollouts: [...this.#rollouts.values()].map((one) => one.trace()).filter((one) => one !== undefined),
      notes: [...this.#notes],
      ...(this.#probe ? { probe: this.#probe } : {}),
      ...(this.#network ? { network: this.#network } : {}),
    };
  }

  #rollout(stage: string, workload: string, at: Date): RolloutHistory {
    const key = `${stage} ${workload}`;
    const known = this.#rollouts.get(key) ?? new RolloutHistory(stage, at);
    this.#rollouts.set(key, known);
    return known;
  }

  /** One action is at work at a time: the last one begun. */
  #close(ending: Partial<ActionTrace>): void {
    const last = this.#actions.pop();
    if (last) this.#actions.push({ ...last, ...ending });
  }

  #since(at: Date): number {
    return at.getTime() - Date.parse(this.#actions.at(-1)?.startedAt ?? at.toISOString());
  }
}

function cut(text: string): string {
  return text.length > DETAIL_CHARACTERS ? `${text.slice(0, DETAIL_CHARACTERS)}…` : text;
}
