import type { Observer } from '../kernel/event.ts';
import { indented } from '../kernel/visible.ts';
import type { Palette } from './colour.ts';
import { lineProgress } from './progress-lines.ts';

/** Follows the engine on stderr. `close` must be called once, whatever happened; it leaves the screen clean. */
export interface Progress {
  readonly observe: Observer;
  close(): Promise<void>;
}

export interface ProgressOptions {
  /** `tree` repaints and needs a terminal; `lines` is for logs; `silent` has warnings and nothing else. */
  readonly mode: 'tree' | 'lines' | 'silent';
  /** Planning reads and judges every stage; running acts, stage after stage. */
  readonly phase: 'plan' | 'run';
  readonly stages: readonly { readonly id: string; readonly title: string }[];
  readonly palette: Palette;
  write(text: string): void;
  /** Where the tree is drawn, and how large that is at every moment; stderr unless said. */
  readonly screen?: NodeJS.WriteStream;
  /** Calls back again and again until the returned function is called. */
  every(ms: number, call: () => void): () => void;
}

/** The renderer that fits; the tree's library is loaded only when it is needed. */
export async function startProgress(options: ProgressOptions): Promise<Progress> {
  if (options.mode === 'silent') return warningsOnly(options);
  if (options.mode === 'lines') return lineProgress(options);
  const { treeProgress } = await import('./progress-tree.ts');
  return treeProgress(options);
}

/** What a person must know is said whatever else is left out: the engine tells it here and nowhere else. */
function warningsOnly({ write, palette }: Pick<ProgressOptions, 'write' | 'palette'>): Progress {
  return {
    observe: (event) => {
      if (event.type === 'note' && event.level === 'warning') write(`${palette.warn(indented(`Warning: ${event.text}`))}\n`);
    },
    close: async () => undefined,
  };
}
