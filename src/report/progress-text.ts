import { networkText } from '../kernel/connections.ts';
import { counted } from '../kernel/counted.ts';
import type { EngineEvent, Observer } from '../kernel/event.ts';
import { plainText } from '../kernel/step.ts';
import type { Palette } from './colour.ts';

/** Follows the engine on stderr. `close` must be called once, whatever happened; it leaves the screen clean. */
export interface Progress {
  readonly observe: Observer;
  close(): Promise<void>;
}

export interface ProgressOptions {
  /** `tree` repaints and needs a terminal; `lines` is for logs; `silent` has warnings and nothing else. */
  readonly mode: 'tree' | 'lines' | 'silent';
  /** Planning reads and evaluates every stage; running acts, stage after stage. */
  readonly phase: 'plan' | 'run';
  readonly stages: readonly { readonly id: string; readonly title: string }[];
  readonly palette: Palette;
  write(text: string): void;
  /** The time of day of a line in a log. */
  now(): Date;
  /** A log names each object that kubectl writes, and why a stage is not needed. */
  readonly each?: boolean;
  /** Where the tree is drawn, and how large that is at every moment; stderr unless said. */
  readonly screen?: NodeJS.WriteStream;
  /** Calls back again and again until the returned function is called. */
  every(ms: number, call: () => void): () => void;
}

/** The result of a step that only the user can do: it was said, no more. */
export const LEFT_TO_PERSON = 'manual step';

/** `step 21 of 25: wait for the agents`, by the number of the plan. */
export function stepText({ place, action: { title, effect } }: Extract<EngineEvent, { readonly type: 'action-started' }>): string {
  const text = effect.type === 'ask' ? `${LEFT_TO_PERSON}: ${title}` : title;
  return place ? `step ${place.step} of ${place.of}: ${text}` : text;
}

/** `probe passes · 34 runs, median 110 ms, longest 480 ms, 1 failed`. */
export function probeText({ probe, because }: Extract<EngineEvent, { readonly type: 'probe' }>): string {
  const { runs, medianMs, longestMs, failed } = probe;
  const times = runs === 0 ? '' : ` · ${counted(runs, 'run')}, median ${medianMs} ms, longest ${longestMs} ms, ${failed} failed`;
  return `probe ${because === undefined ? 'passes' : `failed: ${because}`}${times}`;
}

/** What is watched beside the stage at work: the user's probe, or the connections; undefined for what belongs to a stage. */
export function besideText(event: EngineEvent): string | undefined {
  if (event.type === 'probe') return probeText(event);
  return event.type === 'network' ? networkText(event.network) : undefined;
}

/** `labels 120/5000`, with what lags. */
export function progressText({ what, done, of, why }: Extract<EngineEvent, { readonly type: 'progress' }>): string {
  return `${what} ${done}/${of}${why ? ` (${plainText(why)})` : ''}`;
}
