import { lstat, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { GitFile } from '../../features/git-files/index.ts';
import { Fault, messageOf } from '../../kernel/fault.ts';

const ANOTHER = ['name a new folder: --for-git DIR'];

/** Before the cluster is asked anything. Throws Fault('usage') naming the flag. */
export async function assertGitFolder(folder: string | undefined): Promise<void> {
  if (folder === undefined) return;
  const found = await stat(folder).catch(() => undefined);
  if (found && !found.isDirectory()) throw new Fault('usage', `--for-git ${folder} is not a folder`, ANOTHER);
  if (found || (await stat(dirname(folder)).catch(() => undefined))?.isDirectory()) return;
  throw new Fault('usage', `--for-git ${folder}: there is no folder ${dirname(folder)}`, ['make the folder, or name one in another']);
}

/**
 * Writes into a folder that is new, empty, or has nothing but these very files: what else is there would be committed with them, and nobody's
 * file is written over. Each file is whole or not there, so that the same command ends what was interrupted.
 */
export async function writeGitFiles(folder: string, files: readonly GitFile[]): Promise<void> {
  const wanted = new Map(files.map(({ path, text }) => [path, text]));
  const other = await firstOther(folder, wanted);
  if (other !== undefined)
    throw new Fault('usage', `--for-git ${folder} has ${other}, which is not what would be written there: nothing was written`, ANOTHER);
  try {
    await mkdir(folder, { recursive: true });
    for (const { path, text } of files) await writeMissing(join(folder, ...path.split('/')), text);
  } catch (thrown) {
    throw new Fault('failed', `the files for Git could not be written: ${messageOf(thrown)}`, ['then run the same command again'], thrown);
  }
}

async function writeMissing(path: string, text: string): Promise<void> {
  if (await lstat(path).catch(() => undefined)) return;
  await mkdir(dirname(path), { recursive: true });
  const { writeDurablyNew } = await import('../../adapters/durable-write.ts');
  await writeDurablyNew(path, Buffer.from(text), 0o644);
}

/** The first thing in the folder that is none of these files with the same content; links are none. Undefined if there is nothing else. */
async function firstOther(folder: string, wanted: ReadonlyMap<string, string>, below = ''): Promise<string | undefined> {
  const entries = await readdir(join(folder, below), { withFileTypes: true }).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT') return [];
    throw new Fault('usage', `--for-git ${folder}: ${messageOf(thrown)}`, ANOTHER, thrown);
  });
  for (const entry of entries) {
    const path = `${below}${entry.name}`;
    if (entry.isDirectory()) {
      const other = await firstOther(folder, wanted, `${path}/`);
      if (other !== undefined) return other;
    } else if (!entry.isFile() || !wanted.has(path) || (await readFile(join(folder, path), 'utf8')) !== wanted.get(path)) return path;
  }
  return undefined;
}
