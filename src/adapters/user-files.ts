import { access, constants, readFile, realpath, stat } from 'node:fs/promises';
import { Fault } from '../kernel/fault.ts';
import type { UserFiles } from '../kernel/ports.ts';

/** Files that the user named by a flag. Throws Fault('usage') naming the file. */
export function localFiles(): UserFiles {
  return {
    readText: (path) => reading(path, () => readFile(path, 'utf8')),
    readBytes: (path) => reading(path, () => readFile(path)),
    exists: (path) => holds(access(path)),
    isFolder: (path) =>
      stat(path).then(
        (found) => found.isDirectory(),
        () => false,
      ),
    realPath: (path) => realpath(path).catch(() => path),
    writable: (path) => holds(access(path, constants.W_OK)),
  };
}

const WORDS: Readonly<Record<string, string>> = { ENOENT: 'there is no such file', EACCES: 'it may not be read', EISDIR: 'it is a folder' };

async function reading<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const { code = '', message } = thrown as NodeJS.ErrnoException;
    throw new Fault('usage', `${path}: ${WORDS[code] ?? message}`, ['check the name that was given by the flag']);
  }
}

function holds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
