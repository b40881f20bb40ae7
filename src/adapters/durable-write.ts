import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';

/** Writes beside, syncs, renames: after a crash the file is the old one or the new one, never half of it. */
export async function writeDurably(path: string, content: Uint8Array, mode: number): Promise<void> {
  const temporary = `${path}.tmp-${randomUUID().slice(0, 8)}`;
  const file = await open(temporary, 'wx', mode);
  try {
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (thrown) {
    await rm(temporary, { force: true });
    throw thrown;
  }
}
