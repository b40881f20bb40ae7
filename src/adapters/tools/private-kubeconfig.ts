import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkFolder } from '../../core/ports.ts';
import { kubeconfigName } from './orphans.ts';

/** The private kubeconfig of this process. It holds credentials, so it is on disk only from the first program that needs it to the end. */
export interface PrivateKubeconfig {
  readonly path: string;
  /** Writes it, once. */
  write(): Promise<unknown>;
  /** Removes it, and with it a work folder that only stood in for the real one. */
  remove(): Promise<void>;
}

/** Its name has the process in it: two commands at once must not remove each other's. */
export function privateKubeconfigFile(work: WorkFolder, text: string): PrivateKubeconfig {
  const name = kubeconfigName(process.pid);
  const path = join(work.path, name);
  let written: Promise<unknown> | undefined;
  let removed = false;
  return {
    path,
    async write() {
      // A reader that was still under way at the end must not leave credentials behind.
      if (removed) throw new Error('this command has ended');
      written ??= work.write(name, text);
      return written;
    },
    async remove() {
      removed = true;
      await written?.catch(() => undefined);
      if (work.standsInFor !== undefined) await rm(work.path, { force: true, recursive: true });
      else if (written) await rm(path, { force: true });
    },
  };
}
