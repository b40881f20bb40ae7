import type { Observer } from '../kernel/event.ts';
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
  /** Where the tree is drawn, and how large that is at every moment; stderr unless said. */
  readonly screen?: NodeJS.WriteStream;
  /** Calls back again and again until the returned function is called. */
  every(ms: number, call: () => void): () => void;
}
