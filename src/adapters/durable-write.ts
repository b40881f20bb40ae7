import { randomUUID } from 'node:crypto';
import { chmod, link, lstat, open, rename, rm } from 'node:fs/promises';
import { succeeds } from '../kernel/each-of.ts';

type Content = Uint8Array | AsyncIterable<Uint8Array>;

/** Writes beside, syncs, renames: after a crash the file is the old one or the new one, never half of it. */
export async function writeDurably(path: string, content: Content, mode: number): Promise<void> {
  await writeBeside(path, content, mode, (temporary) => rename(temporary, path));
}

/** The same for a file that others read: it has this mode whatever the umask is. */
export async function writeForOthers(path: string, content: Uint8Array, mode: number): Promise<void> {
  await writeBeside(path, content, mode, async (temporary) => {
    await chmod(temporary, mode);
    await rename(temporary, path);
  });
}

/** The same where nothing is yet, not even a link that leads nowhere; throws EEXIST where something is. */
export async function writeDurablyNew(path: string, content: Uint8Array, mode: number): Promise<void> {
  await writeBeside(path, content, mode, async (temporary) => {
    try {
      await link(temporary, path);
    } catch (thrown) {
      const isThere = (thrown as NodeJS.ErrnoException).code === 'EEXIST' || (await succeeds(lstat(path)));
      if (isThere) throw Object.assign(new Error(`${path} exists already`, { cause: thrown }), { code: 'EEXIST' });
      // A file system without hard links.
      return rename(temporary, path);
    }
    await rm(temporary);
  });
}

async function writeBeside(path: string, content: Content, mode: number, place: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = `${path}.tmp-${randomUUID().slice(0, 8)}`;
  const file = await open(temporary, 'wx', mode);
  try {
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await place(temporary);
  } catch (thrown) {
    await rm(temporary, { force: true });
    throw thrown;
  }
}

/** Undefined where there is no such file or folder. */
export async function ifThere<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== 'ENOENT') throw thrown;
    return undefined;
  });
}
