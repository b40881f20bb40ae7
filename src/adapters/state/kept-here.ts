import { createHash } from 'node:crypto';
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkFolder } from '../../kernel/ports.ts';

/** What this machine kept in the cluster, known again by digest. */
export interface KeptHere {
  note(contents: readonly unknown[]): Promise<void>;
  has(content: unknown): Promise<boolean>;
}

const FILE = 'kept-here';

/** One sha256 per line in the work folder (0600). A folder that only stands in for it remembers nothing. */
export function keptHere({ path, standsInFor }: Pick<WorkFolder, 'path' | 'standsInFor'>): KeptHere {
  const file = join(path, FILE);
  return {
    async note(contents) {
      if (contents.length === 0 || standsInFor !== undefined) return;
      await appendFile(file, contents.map((content) => `${digestOf(content)}\n`).join(''), { mode: 0o600 });
    },
    async has(content) {
      const text = await readFile(file, 'utf8').catch((thrown: NodeJS.ErrnoException) => {
        if (thrown.code === 'ENOENT') return '';
        throw thrown;
      });
      return text.split('\n').includes(digestOf(content));
    },
  };
}

/** Of the content as it comes back from the cluster: once through JSON. */
function digestOf(content: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(content ?? null))
    .digest('hex');
}
