import { indented } from '../kernel/visible.ts';
import { lineProgress } from './progress-lines.ts';
import type { Progress, ProgressOptions } from './progress-text.ts';

/** The renderer that fits; the tree's library is loaded only when it is needed. */
export async function startProgress(options: ProgressOptions): Promise<Progress> {
  if (options.mode === 'silent') return warningsOnly(options);
  if (options.mode === 'lines') return lineProgress(options);
  const { treeProgress } = await import('./progress-tree.ts');
  return treeProgress(options);
}

/** What the user must know is said whatever else is left out: the engine tells it here and nowhere else. */
function warningsOnly({ write, palette }: Pick<ProgressOptions, 'write' | 'palette'>): Progress {
  return {
    observe: (event) => {
      if (event.type === 'note' && event.level === 'warning') write(`${palette.warn(indented(`Warning: ${palette.said(event.text)}`))}\n`);
    },
    close: async () => undefined,
  };
}
