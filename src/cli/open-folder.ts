import { defaultWorkFolder, type LocalWorkFolder, openTemporaryFolder, openWorkFolder } from '../adapters/work-folder.ts';
import { Fault } from '../kernel/fault.ts';
import type { ComposeRequest } from './seams.ts';

/**
 * The work folder of this cluster; a read-only command may use a temporary one, and says so. Any other ends: backup, kept files and the
 * search for orphans need the lasting one.
 */
export async function openFolder(
  { env, looksOnly = false, warn }: Pick<ComposeRequest, 'env' | 'looksOnly' | 'warn'>,
  clusterUid: string,
): Promise<LocalWorkFolder> {
  const path = defaultWorkFolder(env, clusterUid);
  try {
    return await openWorkFolder(path);
  } catch (thrown) {
    if (!looksOnly || !(thrown instanceof Fault)) throw thrown;
    warn(`${thrown.message}; this command only reads and does without it, but an upgrade needs it: ${thrown.suggestions.join('; ')}`);
    return openTemporaryFolder(path);
  }
}
