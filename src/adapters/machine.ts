import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, copyFile, mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, normalize } from 'node:path';
import { succeeds } from '../kernel/each-of.ts';
import { Fault, messageOf } from '../kernel/fault.ts';
import type { PackedText, TextFile } from '../kernel/packed-text.ts';
import type { Machine, UserFiles } from '../kernel/ports.ts';
import { sha256Of } from '../kube/sha256.ts';
import { writeDurably, writeDurablyNew } from './durable-write.ts';
import { giveMemoryBack } from './memory.ts';

/** Changes on this machine, each by a temporary name, fsync and rename: a crash leaves the old state or the new one. */
export function localMachine(): Machine {
  return { installExecutable, moveAside, writeNew, writeFolder };
}

async function installExecutable(
  from: string,
  sha256: string,
  to: string,
  trial: (file: string) => Promise<void>,
  keepAs?: string,
): Promise<void> {
  const content = await readFile(from);
  const actual = sha256Of(content);
  if (actual !== sha256)
    throw new Fault('failed', `${from} has sha256 ${actual}, expected ${sha256}: nothing was installed`, ['download it again']);
  await guarded(dirname(to), async () => {
    await mkdir(dirname(to), { recursive: true });
    const beside = join(dirname(to), `.new-${process.pid}-${basename(to)}`);
    try {
      await writeDurably(beside, content, 0o755);
      await trial(beside);
      if (keepAs !== undefined) await copyDurably(to, keepAs);
      await rename(beside, to);
    } finally {
      await rm(beside, { force: true });
    }
  });
}

async function moveAside(file: string, keepAs: string): Promise<void> {
  await guarded(dirname(file), async () => {
    await copyDurably(file, keepAs);
    await rm(file);
  });
}

async function writeNew(file: string, content: string): Promise<void> {
  await guarded(dirname(file), async () => {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const isThere = async () => (await readFile(file, 'utf8').catch(() => undefined)) === content;
    if (await isThere()) return;
    try {
      await writeDurablyNew(file, Buffer.from(content), 0o600);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
      if (await isThere()) return;
      throw new Fault('failed', `${file} exists already, with other content: it was not changed`, ['move it away, or name another file']);
    }
  });
}

/** An earlier backup is never written over. */
async function copyDurably(file: string, keepAs: string): Promise<void> {
  if (await succeeds(access(keepAs))) {
    throw new Fault('failed', `${keepAs} exists already: ${file} was left in place`, ['move the older backup away']);
  }
  await mkdir(dirname(keepAs), { recursive: true, mode: 0o700 });
  await copyFile(file, keepAs, constants.COPYFILE_EXCL);
  // The copy has the file's own mode. One that nobody may write could not be opened to be made durable.
  await chmod(keepAs, ((await stat(file)).mode & 0o777) | 0o200);
  const copy = await open(keepAs, 'r+');
  await copy.sync().finally(() => copy.close());
}

async function writeFolder(folder: string, files: readonly TextFile[]): Promise<void> {
  if (await succeeds(access(folder)))
    throw new Fault('failed', `${folder} exists already: a backup is never written over`, ['name another folder with --backup-dir']);
  const temporary = `${folder}.partial-${randomUUID().slice(0, 8)}`;
  // The list that `sha256sum -c SHA256SUMS` reads.
  const sums: string[] = [];
  for (const file of files) sums.push(`${await sumOf(file)}  ${file.name}\n`);
  await guarded(dirname(folder), async () => {
    try {
      await mkdir(temporary, { recursive: true, mode: 0o700 });
      for (const { name, content, packed } of [...files, { name: 'SHA256SUMS', content: sums.join('') } as const]) {
        const path = join(temporary, normalize(name));
        if (!path.startsWith(temporary))
          throw new Fault('failed', `file name leaves the backup folder: ${name}`, [
            'nothing was written; report it as a defect, with this name',
          ]);
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        await writeDurably(path, packed ? piecesOf(packed) : Buffer.from(content), 0o600);
      }
      await rename(temporary, folder);
    } catch (thrown) {
      // On a full disk each attempt would leave another part of a backup behind, perhaps with Secrets.
      await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
      throw thrown;
    }
  });
}

async function sumOf({ content, packed }: TextFile): Promise<string> {
  if (!packed) return sha256Of(content);
  const hash = createHash('sha256');
  for await (const piece of piecesOf(packed)) hash.update(piece);
  return hash.digest('hex');
}

async function* piecesOf(packed: PackedText): AsyncGenerator<Uint8Array> {
  for await (const piece of packed.pieces()) {
    yield piece;
    giveMemoryBack(piece.length);
  }
}

async function guarded(folder: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    throw new Fault(
      'failed',
      `cannot write in ${folder}: ${messageOf(thrown)}`,
      ['check the folder exists, is writable and has space'],
      thrown,
    );
  }
}

/** Files that the user named by a flag. Throws Fault('usage') naming the file. */
export function localFiles(): UserFiles {
  return {
    readText: (path) => reading(path, () => readFile(path, 'utf8')),
    readBytes: (path) => reading(path, () => readFile(path)),
    exists: (path) => succeeds(access(path)),
    isFolder: async (path) => (await stat(path).catch(() => undefined))?.isDirectory() === true,
    realPath: (path) => realpath(path).catch(() => path),
    writable: (path) => succeeds(access(path, constants.W_OK)),
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
