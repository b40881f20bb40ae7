import type { Observer } from '../core/event.ts';
import type { Palette } from './colour.ts';
import { lineProgress } from './progress-lines.ts';

/** Follows the engine on stderr. `close` must be called once, whatever happened; it leaves the screen clean. */
export interface Progress {
  readonly observe: Observer;
  close(): Promise<void>;
}

export interface ProgressOptions {
  /** `tree` repaints and needs a terminal; `lines` is for logs; `silent` for machine-readable output. */
  readonly mode: 'tree' | 'lines' | 'silent';
  /** Planning reads and judges every stage; running acts, stage after stage. */
  readonly phase: 'plan' | 'run';
  readonly stages: readonly { readonly id: string; readonly title: string }[];
  readonly palette: Palette;
  write(text: string): void;
  /** Calls back again and again until the returned function is called. */
  every(ms: number, call: () => void): () => void;
}

/** The renderer that fits; the tree's library is loaded only when it is needed. */
export async function startProgress(options: ProgressOptions): Promise<Progress> {
  if (options.mode === 'silent') return { observe: () => undefined, close: async () => undefined };
  if (options.mode === 'lines') return lineProgress(options);
  const { treeProgress } = await import('./progress-tree.ts');
  return treeProgress(options);
}
