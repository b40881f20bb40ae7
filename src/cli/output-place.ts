import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Fault } from '../kernel/fault.ts';

/** Throws Fault('usage') for a file that is a folder or lacks one, before the run and not when its report would be lost. */
export async function assertPlace(flag: string, file: string | undefined): Promise<void> {
  if (file === undefined) return;
  if (await isFolder(file)) throw new Fault('usage', `${flag} ${file} is a folder`, [`name a file in it: ${flag} FILE`]);
  const folder = dirname(file);
  if (!(await isFolder(folder)))
    throw new Fault('usage', `${flag} ${file}: there is no folder ${folder}`, ['make the folder, or name a file in another one']);
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
